"""`replayproxy ls`: what cassettes hold, a line each."""

from __future__ import annotations

from pathlib import Path

import click

from replayproxy.settings import load
from replayproxy.store import Loaded

from . import render
from .loading import cassette_paths, load_all
from .options import common, output_format
from .text import counted, moment

HEADINGS = ("CASSETTE", "INTERACTIONS", "HOSTS", "MASKED", "RIGHTS", "RECORDED")


def row(one: Loaded) -> tuple[render.Cell, ...]:
    """The line of one cassette."""
    interactions = one.cassette.interactions
    hosts = sorted({interaction.request.origin.netloc for interaction in interactions})
    tags = {(interaction.rights or one.cassette.rights).license or "untagged" for interaction in interactions}
    return (
        str(one.path),
        len(interactions),
        counted(hosts),
        sum(len(interaction.redactions) for interaction in interactions),
        counted(sorted(tags or {one.cassette.rights.license or "untagged"})),
        moment(one.cassette.recorded_us),
    )


@click.command("ls")
@click.argument("paths", nargs=-1, metavar="[PATH …]")
@output_format
@common
def command(paths: tuple[str, ...], output: str, config: Path | None, state_dir: Path) -> None:
    """List cassettes: how much they hold, of whom, under which rights.

    PATH is a file or folder; without one those of the configuration are listed.

    \b
    Examples:
      replayproxy ls cassettes/
      replayproxy ls --format json cassettes/checkout.yaml
    """
    del state_dir
    rows = [row(one) for one in load_all(cassette_paths(paths, load(config)), with_pending=True)]
    if output == "json":
        render.as_json("replayproxy/ls/1", cassettes=render.records(HEADINGS, rows))
    else:
        render.table(HEADINGS, rows)
