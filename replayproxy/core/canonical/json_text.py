"""Where each leaf of a JSON text stands, so that one can be replaced and every other octet stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from replayproxy.core.canonical import json_value
from replayproxy.core.canonical.jsonpath import Path

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<leaf>"(?:[^"\\]|\\.)*"|-?\d[0-9.eE+-]*|true|false|null)|(?P<mark>[{}\[\],:]))""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A string, number or literal of a JSON text: its path, its token and the token's place."""

    path: Path
    token: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """`string`, `number` or `literal`."""
        if self.token[0] == '"':
            return "string"
        return "literal" if self.token[0] in "tfn" else "number"

    @property
    def text(self) -> str:
        """The string that the token spells, or the token."""
        return str(json.loads(self.token)) if self.token[0] == '"' else self.token


def leaves(text: str, start: int = 0, end: int | None = None) -> list[Leaf] | None:
    """The leaves of the JSON document TEXT[START:END], places counted in TEXT; None if it is none."""
    document = text[start:end]
    try:
        json_value.parse(document.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return list(_leaves(document, start))


def _leaves(document: str, offset: int) -> Iterator[Leaf]:
    """The leaves of a DOCUMENT that is known to be JSON."""
    steps: list[str | int] = []
    awaits_name = False
    for found in _TOKEN.finditer(document):
        mark = found["mark"]
        if mark == "{":
            steps.append("")
            awaits_name = True
        elif mark == "[":
            steps.append(0)
        elif mark == ",":
            last = steps[-1]
            awaits_name = isinstance(last, str)
            steps[-1] = last if isinstance(last, str) else last + 1
        elif mark in ("}", "]"):
            steps.pop()
            awaits_name = False
        elif mark is None and awaits_name:
            steps[-1] = json.loads(found["leaf"])
            awaits_name = False
        elif mark is None:
            start, end = found.span("leaf")
            yield Leaf(tuple(steps), found["leaf"], start + offset, end + offset)
