"""Shapes of single values: text, words, numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from replayproxy.core.shape.base import BOOLEAN_HINT, Path, ShapeError, found, misplaced, nearest


def _same(text: str) -> str:
    return text


LARGEST = 2**53 - 1
"""The largest whole number that every reader of JSON agrees on."""


@dataclass(frozen=True, slots=True)
class Text[T]:
    """Text that `parse` turns into a value; `parse` raises ValueError that says what is wrong.

    `pattern` is for the JSON schema (and editors); what `parse` refuses is what counts.
    """

    words: str
    parse: Callable[[str], T]
    pattern: str = ""
    hint: str = ""

    def read(self, value: object, path: Path) -> T:
        """What `parse` makes of VALUE."""
        if not isinstance(value, str):
            raise misplaced(value, path, str(self))
        try:
            return self.parse(value)
        except ValueError as error:
            raise ShapeError(path, str(error), hint=self.hint) from error

    def schema(self) -> dict[str, object]:
        """A string, with the pattern where there is one."""
        result: dict[str, object] = {"type": "string"}
        return result | {"pattern": self.pattern} if self.pattern else result

    def __str__(self) -> str:
        return self.words


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("found empty text")
    return text


PLAIN: Text[str] = Text("text", _same)
FILLED: Text[str] = Text("text", _filled, pattern=r"\S")


def matching(pattern: str, words: str) -> Text[str]:
    """Text that PATTERN matches as a whole, called WORDS."""
    form = re.compile(pattern)

    def parse(text: str) -> str:
        if not form.fullmatch(text):
            raise ValueError(f"found {found(text)} where {words} belongs")
        return text

    return Text(words, parse, pattern=f"^(?:{pattern})$")


@dataclass(frozen=True, slots=True)
class Choice[T: str]:
    """One word of a closed vocabulary."""

    words: tuple[T, ...]

    def read(self, value: object, path: Path) -> T:
        """The word that VALUE is."""
        for word in self.words:
            if value == word:
                return word
        problem = f"found {found(value)}; allowed: {', '.join(self.words)}"
        hint = nearest(value, self.words) if isinstance(value, str) else ""
        raise ShapeError(path, problem, hint=BOOLEAN_HINT if isinstance(value, bool) else hint)

    def schema(self) -> dict[str, object]:
        """An enumeration."""
        return {"enum": list(self.words)}

    def __str__(self) -> str:
        return " \\| ".join(self.words)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` on, up to LARGEST."""

    least: int = 0

    def read(self, value: object, path: Path) -> int:
        """The number that VALUE is."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise misplaced(value, path, str(self))
        if not self.least <= value <= LARGEST:
            raise ShapeError(path, f"found {found(value)} where {self} belongs")
        return value

    def schema(self) -> dict[str, object]:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": LARGEST}

    def __str__(self) -> str:
        return f"a whole number from {self.least} on"


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean, the one place where YAML's `true` and `false` are meant."""

    def read(self, value: object, path: Path) -> bool:
        """The boolean that VALUE is."""
        if not isinstance(value, bool):
            raise ShapeError(path, f"found {found(value)} where {self} belongs")
        return value

    def schema(self) -> dict[str, object]:
        """A boolean."""
        return {"type": "boolean"}

    def __str__(self) -> str:
        return "true or false"


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Day:
    """A date, `YYYY-MM-DD`, held as text."""

    def read(self, value: object, path: Path) -> str:
        """The date that VALUE is, as text."""
        if not isinstance(value, str) or not _DAY.fullmatch(value):
            raise misplaced(value, path, str(self))
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError as error:
            raise ShapeError(path, f"found {found(value)}, which is not a date ({error})") from error

    def schema(self) -> dict[str, object]:
        """A string with the format of a date."""
        return {"type": "string", "format": "date", "pattern": f"^{_DAY.pattern}$"}

    def __str__(self) -> str:
        return "a date (YYYY-MM-DD)"


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time, held as text in UTC (`2026-11-20T09:12:33Z`); a time without offset is in UTC."""

    def read(self, value: object, path: Path) -> str:
        """The instant that VALUE is, as text in UTC."""
        if not isinstance(value, str) or "T" not in value:
            raise misplaced(value, path, str(self))
        try:
            moment = datetime.fromisoformat(value)
            aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
            return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")
        except (ValueError, OverflowError) as error:
            raise ShapeError(path, f"found {found(value)}, which is not a time ({error})") from error

    def schema(self) -> dict[str, object]:
        """A string with the format of a date and time."""
        return {"type": "string", "format": "date-time"}

    def __str__(self) -> str:
        return "a time (YYYY-MM-DDTHH:MM:SSZ)"
