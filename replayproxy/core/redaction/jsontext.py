"""JSON as text: where its scalars stand, so that one can be changed and every other octet kept.

Takes what is nearly JSON too (several documents, a document cut off): a reader of traffic cannot be choosy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from replayproxy.core.canonical.jsonpath import JsonPath, Path
from replayproxy.core.redaction.views import JSON, view

_STRING = r'"(?P<string>[^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)'
_TOKEN = re.compile(_STRING + r"|(?P<mark>[{}\[\],:])|(?P<word>[^\s\"{}\[\],:]+)", re.DOTALL)
_NAME = re.compile(r'"([^"\\\x00-\x1f]{1,128})"[ \t\r\n]*:')
_LETTER = r"\\u00(?:[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|2[Dd]|3[0-9])"
_SPELLED_NAME = re.compile(_LETTER + r'(?:[^"\\]|\\.){0,128}"[ \t\r\n]*:', re.DOTALL)
_NESTED = re.compile(r'"(?:\s|\\[nrt]){0,64}[\[{][^"\\]*+(?:\\[^"][^"\\]*+)*+\\"', re.DOTALL)
_OPENING = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*(?:["{\[\]0-9tfn-]))')


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string (the text between its quotes) or another scalar: where it stands, and its path."""

    start: int
    end: int
    path: Path
    quoted: bool


@dataclass(slots=True)
class _Walk:
    """Where in the document a reader is: the steps so far, and whether a name is due."""

    steps: list[str | int] = field(default_factory=list)
    due: bool = False

    def mark(self, mark: str) -> None:
        """MARK was read; one that fits nowhere is passed over."""
        if mark in "{[":
            self.steps.append("" if mark == "{" else 0)
            self.due = mark == "{"
        elif mark in "}]":
            if self.steps:
                self.steps.pop()
            self.due = False
        elif mark == "," and self.steps:
            last = self.steps[-1]
            self.steps[-1] = last + 1 if isinstance(last, int) else last
            self.due = isinstance(last, str)

    def named(self, name: str) -> None:
        """NAME was read where one was due."""
        self.steps[-1] = name
        self.due = False


def is_json(text: str, at: int = 0) -> bool:
    """Whether a JSON object or array begins AT, as far as its first characters tell."""
    return _OPENING.match(text, at) is not None


def names(text: str) -> set[str]:
    """Every text of TEXT that could be the name of a member and is spelled without an escape."""
    return set(_NAME.findall(text))


def is_veiled(text: str) -> bool:
    """Whether TEXT has names that `names` does not see: letters under an escape, or JSON inside a string."""
    return "\\" in text and bool(_NESTED.search(text) or _SPELLED_NAME.search(text))


def scalars(text: str, start: int, end: int) -> Iterator[Scalar]:
    """The scalars of the JSON at TEXT[START:END] in order; members without a name have the name ""."""
    walk = _Walk()
    for found in _TOKEN.finditer(text, start, end):
        if mark := found["mark"]:
            walk.mark(mark)
            continue
        quoted = found["string"] is not None
        if walk.due and quoted:
            walk.named(_said(found["string"]))
        else:
            yield Scalar(*found.span("string" if quoted else "word"), tuple(walk.steps), quoted)


def _said(source: str) -> str:
    """What a string's text spells; octets of UTF-8 as the characters they are."""
    seen = view(source, JSON) if "\\" in source else None
    said = seen.text if seen else source
    if said.isascii():
        return said
    try:
        return said.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return said


def selects(path: JsonPath, place: Path) -> bool:
    """Whether PATH names PLACE, or an object or array that PLACE lies in."""
    return any(path.matches(place[:size]) for size in range(len(place) + 1))
