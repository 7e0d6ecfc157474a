"""Shapes of lists and mappings, and of values that are made from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from replayproxy.core.shape.base import EXTENSION, Path, Shape, ShapeError, misplaced, nearest
from replayproxy.core.shape.scalars import Text


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
class Items[T]:
    """A list whose every item has one shape; at least `least` of them."""

    item: Shape[T]
    least: int = 0

    def read(self, value: object, path: Path) -> tuple[T, ...]:
        """The items that VALUE holds, in order."""
        if not isinstance(value, list | tuple):
            raise misplaced(value, path, str(self))
        if len(value) < self.least:
            raise ShapeError(path, f"found a list of {len(value)} where at least {self.least} belong")
        return tuple(self.item.read(item, (*path, at)) for at, item in enumerate(value))

    def schema(self) -> dict[str, object]:
        """An array."""
        return {"type": "array", "items": self.item.schema()} | ({"minItems": self.least} if self.least else {})

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
            raise misplaced(value, path, str(self))
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
class Anything:
    """Any value, as it is."""

    def read(self, value: object, path: Path) -> object:  # noqa: ARG002 - the path of an error that cannot be
        """VALUE."""
        return value

    def schema(self) -> dict[str, object]:
        """The schema that allows all."""
        return {}

    def __str__(self) -> str:
        return "anything"


ANYTHING = Anything()


@dataclass(frozen=True, slots=True)
class Key[T]:
    """One key of a record: its shape, its meaning, what holds without it, and the version that brought it.

    `default` and `example` are YAML; `example` is what a template shows where there is no default.
    """

    name: str
    shape: Shape[T]
    help: str
    default: str = ""
    example: str = ""
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
            raise misplaced(value, path, str(self))
        known = {key.name: key for key in self.keys}
        for name in value:
            if name not in known and not self._extends(name):
                raise self._unknown(name, path)
        for key in self.keys:
            if key.required and key.name not in value:
                raise ShapeError(
                    path, f"{key.name} is missing", hint=f"{key.name}: {key.default or key.example or key.help}"
                )
        given = {
            name.replace("-", "_"): key.shape.read(value[name], (*path, name))
            for name, key in known.items()
            if name in value
        }
        if self.extensible and (extra := tuple((str(name), value[name]) for name in value if self._extends(name))):
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
