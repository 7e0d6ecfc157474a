"""The table of settings as Markdown, for docs/configuration.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replayproxy.core.shape import Items, Key, Named, Record
from replayproxy.settings.table import TABLE


def manual() -> str:
    """A table with a row for each key: path, type, default, meaning, since."""
    head = ["| Setting | Type | Default | Meaning | Since |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *(_row(path, key) for path, key in _keys(TABLE, ""))]) + "\n"


def _keys(record: Record[Any], prefix: str) -> Iterator[tuple[str, Key[Any]]]:
    for key in record.keys:
        path = f"{prefix}{key.name}"
        yield path, key
        shape = key.shape
        if isinstance(shape, Record):
            yield from _keys(shape, f"{path}.")
        elif isinstance(shape, Named) and isinstance(shape.item, Record):
            yield from _keys(shape.item, f"{path}.NAME.")
        elif isinstance(shape, Items) and isinstance(shape.item, Record):
            yield from _keys(shape.item, f"{path}[].")


def _row(path: str, key: Key[Any]) -> str:
    default = "required" if key.required else f"`{key.default}`" if key.default else ""
    cells = [f"`{path}`", str(key.shape), default, key.help, key.since]
    return f"| {' | '.join(cells)} |"
