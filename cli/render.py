"""Tables for people and JSON for programs, from the same rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import click
from tabulate import tabulate

from .text import printable

type Cell = str | int


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print ROWS under HEADINGS to stdout; nothing but the headings where there are none."""
    shown = [[printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    click.echo(tabulate(shown, headers=list(headings), tablefmt="plain", disable_numparse=True))


def as_json(schema: str, **value: object) -> None:
    """Print VALUE to stdout as one JSON document that names its SCHEMA (`replayproxy/NAME/VERSION`)."""
    click.echo(json.dumps({"schema": schema, **value}, indent=2, ensure_ascii=False))


def records(headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[Mapping[str, Cell]]:
    """ROWS as objects whose names are HEADINGS in lower case."""
    names = [heading.lower().replace(" ", "_") for heading in headings]
    return [dict(zip(names, row, strict=True)) for row in rows]
