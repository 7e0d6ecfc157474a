"""Shapes of documents: what a key may hold, in one value that reads it, explains it and gives its JSON
schema.

A shape reads plain data (what YAML or JSON gives) into a value of the model, or raises ShapeError that names
the path, what was found there and what is allowed. Nothing is coerced: `yes` that YAML has turned into a
boolean is refused, never guessed at. Rights tags and `replayproxy.yaml` are both described by shapes, so that
reader, schema and manual cannot differ.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Protocol

from replayproxy.core.errors import ReplayproxyError

type Path = tuple[str | int, ...]
"""Keys and list positions that lead from the top of a document to a value."""

EXTENSION = "x-"
"""What the keys begin with that a document may hold for purposes of its own."""

BOOLEAN_HINT = (
    "YAML reads yes, no, on and off as booleans; write the word itself, in quotes where YAML needs them"
)


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
    return (
        "a list"
        if isinstance(value, list | tuple)
        else "a mapping"
        if isinstance(value, Mapping)
        else f"{value}"
    )


def nearest(word: str, words: Iterable[str]) -> str:
    """A hint that helps someone who wrote WORD where one of WORDS is allowed."""
    known = list(words)
    close = difflib.get_close_matches(word.lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"allowed: {', '.join(known)}"


def _wrong(value: object, path: Path, wanted: str) -> ShapeError:
    hint = BOOLEAN_HINT if isinstance(value, bool) else ""
    return ShapeError(path, f"found {found(value)} where {wanted} belongs", hint=hint)


def _same(text: str) -> str:
    return text


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
            raise _wrong(value, path, str(self))
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
class Made[S, T]:
    """What `make` builds from a value of another shape."""

    shape: Shape[S]
    make: Callable[[S], T]

    def read(self, value: object, path: Path) -> T:
        """What `make` builds from what VALUE is."""
        return self.make(self.shape.read(value, path))

    def schema(self) -> dict[str, object]:
        """The schema of the other shape."""
        return self.shape.schema()

    def __str__(self) -> str:
        return str(self.shape)


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
    """A whole number from `least` to `most`, both included."""

    least: int
    most: int

    def read(self, value: object, path: Path) -> int:
        """The number that VALUE is."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(value, path, str(self))
        if not self.least <= value <= self.most:
            raise ShapeError(path, f"found {found(value)} where {self} belongs")
        return value

    def schema(self) -> dict[str, object]:
        """An integer with its bounds."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def __str__(self) -> str:
        return f"a whole number from {self.least} to {self.most}"


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


@dataclass(frozen=True, slots=True)
class Day:
    """A date, `YYYY-MM-DD`, held as text."""

    def read(self, value: object, path: Path) -> str:
        """The date that VALUE is, as text."""
        try:
            if isinstance(value, str) and len(value) == len("2026-11-30"):
                return date.fromisoformat(value).isoformat()
        except ValueError as error:
            raise ShapeError(path, f"found {found(value)}, which is not a date ({error})") from error
        raise _wrong(value, path, str(self))

    def schema(self) -> dict[str, object]:
        """A string with the format of a date."""
        return {"type": "string", "format": "date", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}

    def __str__(self) -> str:
        return "a date (YYYY-MM-DD)"


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time with its offset, held as text in UTC (`2026-11-20T09:12:33Z`); a time without one is
    UTC.
    """

    def read(self, value: object, path: Path) -> str:
        """The instant that VALUE is, as text in UTC."""
        if not isinstance(value, str) or "T" not in value:
            raise _wrong(value, path, str(self))
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


@dataclass(frozen=True, slots=True)
class Items[T]:
    """A list whose every item has one shape; at least `least` of them."""

    item: Shape[T]
    least: int = 0

    def read(self, value: object, path: Path) -> tuple[T, ...]:
        """The items that VALUE holds, in order."""
        if not isinstance(value, list | tuple):
            raise _wrong(value, path, str(self))
        if len(value) < self.least:
            raise ShapeError(path, f"found a list of {len(value)} where at least {self.least} belong")
        return tuple(self.item.read(item, (*path, at)) for at, item in enumerate(value))

    def schema(self) -> dict[str, object]:
        """An array."""
        return {"type": "array", "items": self.item.schema()} | (
            {"minItems": self.least} if self.least else {}
        )

    def __str__(self) -> str:
        return f"list of {self.item}"


@dataclass(frozen=True, slots=True)
class Named[T]:
    """A mapping from names of the user's own to values of one shape."""

    name: Text[str]
    item: Shape[T]

    def read(self, value: object, path: Path) -> tuple[tuple[str, T], ...]:
        """Names and values that VALUE holds, in order."""
        if not isinstance(value, Mapping):
            raise _wrong(value, path, str(self))
        names = [self.name.read(name, (*path, str(name))) for name in value]
        return tuple((name, self.item.read(value[name], (*path, name))) for name in names)

    def schema(self) -> dict[str, object]:
        """An object with any names that the pattern allows."""
        names: dict[str, object] = {"propertyNames": self.name.schema()}
        return {"type": "object", "additionalProperties": self.item.schema()} | names

    def __str__(self) -> str:
        return f"mapping of names to {self.item}"


@dataclass(frozen=True, slots=True)
class Either[T]:
    """Text or something longer: `short` reads text, `long` all else."""

    short: Shape[T]
    long: Shape[T]

    def read(self, value: object, path: Path) -> T:
        """What the shape that fits VALUE reads; a boolean counts as text that YAML has spoilt."""
        return (self.short if isinstance(value, str | bool) else self.long).read(value, path)

    def schema(self) -> dict[str, object]:
        """Any of the two."""
        return {"anyOf": [self.short.schema(), self.long.schema()]}

    def __str__(self) -> str:
        return f"{self.short}, or {self.long}"


@dataclass(frozen=True, slots=True)
class Key[T]:
    """One key of a record: its shape, what it means, what holds without it, and the version that brought it."""

    name: str
    shape: Shape[T]
    help: str
    default: str = ""
    since: str = "0.1"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Record[T]:
    """A mapping with a closed set of keys.

    `build` is called with the keys that are there, by name (`-` becomes `_`), and may raise ValueError where
    values that are right alone do not go together. Where `extensible`, keys under `x-` are handed over as
    `extensions`: pairs of key and value. Any other unknown key is an error.
    """

    words: str
    build: Callable[..., T]
    keys: tuple[Key[Any], ...] = ()
    extensible: bool = False

    def read(self, value: object, path: Path) -> T:
        """What `build` makes of VALUE."""
        if not isinstance(value, Mapping):
            raise _wrong(value, path, str(self))
        known = {key.name: key for key in self.keys}
        for name in value:
            if name not in known and not self._extends(name):
                raise self._unknown(name, path)
        for key in self.keys:
            if key.required and key.name not in value:
                raise ShapeError(path, f"{key.name} is missing", hint=f"{key.name}: {key.help}")
        given = {
            name.replace("-", "_"): key.shape.read(value[name], (*path, name))
            for name, key in known.items()
            if name in value
        }
        if self.extensible and (
            extra := tuple((str(name), value[name]) for name in value if self._extends(name))
        ):
            given["extensions"] = extra
        try:
            return self.build(**given)
        except ValueError as error:
            raise ShapeError(path, str(error)) from error

    def _extends(self, name: object) -> bool:
        return self.extensible and isinstance(name, str) and name.startswith(EXTENSION)

    def _unknown(self, name: object, path: Path) -> ShapeError:
        hint = nearest(str(name), (key.name for key in self.keys))
        return ShapeError((*path, str(name)), "there is no such key", hint=hint)

    def schema(self) -> dict[str, object]:
        """A closed object, each key with its meaning."""
        properties = {key.name: key.shape.schema() | {"description": key.help} for key in self.keys}
        result: dict[str, object] = {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
        if needed := [key.name for key in self.keys if key.required]:
            result["required"] = needed
        if self.extensible:
            result["patternProperties"] = {f"^{EXTENSION}": True}
        return result

    def __str__(self) -> str:
        return self.words
