"""What all shapes share: the path of a value, the error that names it, and the words for what was found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Protocol

from replayproxy.core.errors import ReplayproxyError

type Path = tuple[str | int, ...]
"""Keys and list positions that lead from the top of a document to a value."""

EXTENSION = "x-"
"""What the keys begin with that a document may hold for purposes of its own."""

BOOLEAN_HINT = "YAML reads yes, no, on and off as booleans; write the word itself, in quotes where YAML needs them"


class ShapeError(ReplayproxyError):
    """A value is not of its shape; `path` leads to it and `problem` says what is wrong with it."""

    exit_code = 2

    def __init__(self, path: Path, problem: str, *, hint: str = "") -> None:
        super().__init__(f"{spell(path)}: {problem}" if path else problem, hint=hint)
        self.path = path
        self.problem = problem


class Shape[T](Protocol):
    """What a value may be. `str(shape)` says it in words, for manuals and messages."""

    def read(self, value: object, path: Path) -> T:
        """VALUE as a value of the model; raises ShapeError."""

    def schema(self) -> dict[str, object]:
        """The JSON schema (2020-12) that accepts what `read` accepts, as far as JSON schema can say it."""


def spell(path: Path, start: str = "") -> str:
    """PATH as a person writes it, after START: `providers.api.redact[2].at`."""
    text = start
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def found(value: object) -> str:
    """VALUE in words for a message, short enough for one line."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"{value[:60]!r}"
    if isinstance(value, bytes):
        return "binary data"
    return "a list" if isinstance(value, list | tuple) else "a mapping"


def nearest(word: str, words: Iterable[str]) -> str:
    """A hint that helps someone who wrote WORD where one of WORDS is allowed."""
    known = list(words)
    close = difflib.get_close_matches(word.lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"allowed: {', '.join(known)}"


def misplaced(value: object, path: Path, wanted: str) -> ShapeError:
    """The error for VALUE at PATH, where WANTED belongs."""
    hint = BOOLEAN_HINT if isinstance(value, bool) else ""
    return ShapeError(path, f"found {found(value)} where {wanted} belongs", hint=hint)
