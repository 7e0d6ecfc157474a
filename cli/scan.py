"""`replayproxy scan`: secrets in cassettes that exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from replayproxy.core.exchange import Blob, Interaction, header
from replayproxy.core.redaction import Redactor
from replayproxy.settings import Settings, load
from replayproxy.store import Loaded

from . import render
from .loading import cassette_paths, load_all
from .options import common, output_format, say

HEADINGS = ("CASSETTE", "INTERACTION", "PLACE", "RULE")
NO_SALT = "00" * 16
"""For cassettes of other tools, which have none; what a scan would put in a secret's place is never seen."""


def rows_of(one: Loaded, settings: Settings) -> list[tuple[render.Cell, ...]]:
    """A line for each place in which a credential stands; never the credential."""
    cassette = one.cassette
    known = [mask.placeholder for interaction in cassette.interactions for mask in interaction.redactions]
    redactor = Redactor(cassette.salt or NO_SALT, lambda host: settings.providers.of(host).redact, known)
    rows: list[tuple[render.Cell, ...]] = []
    for interaction in cassette.interactions:
        found = [(finding.at, finding.rule) for finding in redactor.scan(interaction)]
        found += _in_files(one, interaction, redactor)
        name = f"{interaction.order} {interaction.id}".strip()
        rows += [(str(one.path), name, at, rule) for at, rule in dict.fromkeys(found)]
    return rows


def _in_files(one: Loaded, interaction: Interaction, redactor: Redactor) -> Iterator[tuple[str, str]]:
    """Place and rule of each credential in a body that lies in a file, read piece by piece."""
    bodies = (("request.body", interaction.request), ("response.body", interaction.response))
    for place, message in bodies:
        if not isinstance(message.body, Blob):
            continue
        stream = redactor.stream(interaction.request.origin.host, header(message.headers, "content-type") or "")
        for piece in one.blobs.pieces(message.body):
            stream.feed(piece)
        stream.finish()
        yield from ((at.replace("response.body", place), mask.rule) for at, mask in stream.notes)


@click.command("scan")
@click.argument("paths", nargs=-1, metavar="[PATH …]")
@output_format
@common
def command(paths: tuple[str, ...], output: str, config: Path | None, state_dir: Path) -> int:
    """Find credentials in cassettes: by the names of fields, by known shapes, and by your own rules.

    Prints where they stand and never what they are. Ends with 1 if there are any.

    \b
    Examples:
      replayproxy scan cassettes/
      replayproxy scan --format json tests/cassettes/login.yaml
    """
    del state_dir
    settings = load(config)
    loaded = load_all(cassette_paths(paths, settings))
    rows = [row for one in loaded for row in rows_of(one, settings)]
    if output == "json":
        render.as_json("replayproxy/scan/1", findings=render.records(HEADINGS, rows))
    elif rows:
        render.table(HEADINGS, rows)
    say(f"{len(rows)} findings in {len(loaded)} cassettes")
    return 1 if rows else 0
