"""The commented `replayproxy.yaml` that `init` writes: every setting, its meaning, and its default or an example."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from replayproxy.core.shape import Items, Key, Named, Record
from replayproxy.settings.schema import SCHEMA_FILE
from replayproxy.settings.table import TABLE

WIDTH = 100
INTRODUCTION = """\
The configuration of replayproxy. Lines with one # are settings at their defaults, or examples where there is none:
take the # and the space after it away to change one. Lines with two are explanations."""


def template(schema: str = "") -> str:
    """The text of a configuration in which only the version is set; SCHEMA is where editors find the JSON schema.

    Without SCHEMA that is the file which ships with this installation.
    """
    lines = [f"# yaml-language-server: $schema={schema or SCHEMA_FILE.as_uri()}"]
    lines += _explained(INTRODUCTION, "")
    for key in TABLE.keys:
        lines.append("")
        lines += _explained(key.help, "")
        setting = list(_setting(key, ""))
        lines += setting if key.required else [f"# {line}" if line[:2] != "##" else line for line in setting]
    return "\n".join(lines) + "\n"


def _explained(text: str, indent: str) -> Iterator[str]:
    words = " ".join(text.split())
    words = words[0].upper() + words[1:] + ("" if words.endswith(".") else ".")
    return (f"## {indent}{line}" for line in textwrap.wrap(words, WIDTH - len(indent)))


def _setting(key: Key[Any], indent: str) -> Iterator[str]:
    """KEY as lines of YAML, without the sign of a comment; explanations of inner keys with theirs."""
    shape = key.shape
    if isinstance(shape, Record):
        yield f"{indent}{key.name}:"
        yield from _settings(shape, indent + "  ")
    elif isinstance(shape, Named) and isinstance(shape.item, Record):
        yield f"{indent}{key.name}:"
        yield f"{indent}  {key.example}:"
        yield from _settings(shape.item, indent + "    ")
    elif isinstance(shape, Items) and isinstance(shape.item, Record):
        yield f"{indent}{key.name}:"
        yield from _items(shape.item, indent)
    else:
        yield f"{indent}{key.name}: {key.default or key.example}".rstrip()


def _settings(record: Record[Any], indent: str) -> Iterator[str]:
    for key in record.keys:
        yield from _explained(key.help, indent)
        yield from _setting(key, indent)


def _items(record: Record[Any], indent: str) -> Iterator[str]:
    """One item with every required key, or one item for each key where none is required."""
    together = any(key.required for key in record.keys)
    for at, key in enumerate(record.keys):
        yield from _explained(key.help, indent + "  ")
        mark = "- " if not (together and at) else "  "
        yield f"{indent}  {mark}{key.name}: {key.default or key.example}"
