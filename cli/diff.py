"""`replayproxy diff`: what two cassettes answer differently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click

from replayproxy.core.canonical import canonical
from replayproxy.core.exchange import Interaction, Response
from replayproxy.core.provider import Providers
from replayproxy.settings import load
from replayproxy.store import Loaded

from . import render
from .loading import load_all
from .options import common, output_format

HEADINGS = ("CHANGE", "REQUEST", "WHAT")
PER_CONNECTION = frozenset({"date", "content-length", "transfer-encoding", "connection", "keep-alive"})


def by_question(loaded: Loaded, providers: Providers) -> dict[tuple[bytes, int], Interaction]:
    """The interactions by what they ask and the how manieth time they ask it."""
    counts: dict[bytes, int] = defaultdict(int)
    found = {}
    for one in loaded.cassette.interactions:
        key = canonical(one.request, providers.of(one.request.origin.host).match).key
        found[key, counts[key]] = one
        counts[key] += 1
    return found


def changes(old: Response, new: Response) -> Iterator[str]:
    """What differs between two answers to one question, a phrase each."""
    if old.status != new.status:
        yield f"status {old.status} → {new.status}"
    if (old.fault is None) != (new.fault is None) or (old.fault and new.fault and old.fault.kind != new.fault.kind):
        yield f"fault {old.fault.kind if old.fault else 'none'} → {new.fault.kind if new.fault else 'none'}"
    names = ({name.lower() for name, _ in side.headers} - PER_CONNECTION for side in (old, new))
    before, after = names
    yield from (f"header {name} is gone" for name in sorted(before - after))
    yield from (f"header {name} is new" for name in sorted(after - before))
    for name in sorted(before & after):
        values = [[value for field, value in side.headers if field.lower() == name] for side in (old, new)]
        if values[0] != values[1]:
            yield f"header {name} differs"
    if old.body != new.body:
        yield "body differs"
    if old.trailers != new.trailers:
        yield "trailers differ"


def rows_of(old: Loaded, new: Loaded, providers: Providers) -> list[tuple[render.Cell, ...]]:
    """The lines of the comparison, in the order of the recordings."""
    before, after = by_question(old, providers), by_question(new, providers)
    rows: list[tuple[render.Cell, ...]] = []
    for question, one in before.items():
        request = f"{one.request.method} {one.request.url}"
        if question not in after:
            rows.append(("only in the first", request, "-"))
        elif what := list(changes(one.response, after[question].response)):
            rows.append(("answered differently", request, "; ".join(what)))
    rows += [
        ("only in the second", f"{one.request.method} {one.request.url}", "-")
        for question, one in after.items()
        if question not in before
    ]
    return rows


@click.command("diff")
@click.argument("first", metavar="CASSETTE")
@click.argument("second", metavar="CASSETTE")
@output_format
@common
def command(first: str, second: str, output: str, config: Path | None, state_dir: Path) -> int:
    """Compare two cassettes, request by request, as the match sees them.

    Ends with 1 if they differ.

    \b
    Example:
      replayproxy diff cassettes/checkout.yaml /tmp/checkout-again.yaml
    """
    del state_dir
    old, new = load_all([Path(first), Path(second)])
    rows = rows_of(old, new, load(config).providers)
    if output == "json":
        render.as_json("replayproxy/diff/1", differences=render.records(HEADINGS, rows))
    else:
        render.table(HEADINGS, rows)
    return 1 if rows else 0
