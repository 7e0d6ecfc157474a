"""`replayproxy verify`: is a cassette what was recorded? Recovers first what a killed recorder has left."""

from __future__ import annotations

from pathlib import Path

import click

from replayproxy.settings import load
from replayproxy.store import check, read, recover

from . import render
from .loading import cassette_paths
from .options import common, output_format, say

HEADINGS = ("CASSETTE", "INTERACTIONS", "VERDICT")


@click.command("verify")
@click.argument("paths", nargs=-1, metavar="[PATH …]")
@output_format
@common
def command(paths: tuple[str, ...], output: str, config: Path | None, state_dir: Path) -> int:
    """Check that cassettes and their body files have the digests that were recorded with them.

    What a recorder that was killed has left beside a cassette is recovered into it first. Ends with 1 if anything has
    been changed.

    \b
    Examples:
      replayproxy verify cassettes/
      replayproxy verify --format json cassettes/checkout.yaml
    """
    del state_dir
    rows: list[tuple[render.Cell, ...]] = []
    damaged = False
    for path in cassette_paths(paths, load(config)):
        if note := recover(path):
            say(f"note: {note}")
        loaded = read(path)
        for warning in loaded.warnings:
            say(f"warning: {warning}")
        damages = check(loaded)
        damaged = damaged or bool(damages)
        verdict = "; ".join(damage.what for damage in damages) or ("ok" if loaded.cassette.digest else "no digest")
        rows.append((str(path), len(loaded.cassette.interactions), verdict))
    if output == "json":
        render.as_json("replayproxy/verify/1", cassettes=render.records(HEADINGS, rows))
    else:
        render.table(HEADINGS, rows)
    return 1 if damaged else 0
