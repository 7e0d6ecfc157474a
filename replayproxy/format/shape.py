"""A small language of shapes: one table says what a file holds, checks it, and prints the JSON schema.

A shape's `check` raises `MisfitError` with the path below the value; its `schema` is the same rule as JSON
schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from replayproxy.core.shape import EXTENSION, nearest
from replayproxy.format.document import MisfitError


class Shape(Protocol):
    """What a value must be."""

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE fits."""

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the values that fit."""


def kind(value: Any) -> str:
    """What VALUE is, as people say it."""
    names = {
        dict: "a mapping",
        list: "a list",
        str: "text",
        bytes: "binary",
        bool: "a boolean",
        int: "a number",
    }
    if isinstance(value, float):
        return "a number"
    return "empty" if value is None else names[type(value)]


def _must_be(what: str, value: Any) -> MisfitError:
    quote = isinstance(value, bool | int | float) and "text" in what
    shown = f" ({value})" if isinstance(value, bool | int | float) else ""
    hint = "put it in quotes" if quote else ""
    return MisfitError(f"must be {what}, not {kind(value)}{shown}", hint=hint)


@dataclass(frozen=True)
class Text:
    """Text; `pattern` must match all of it, `what` says so in words; `latin` text stands for octets."""

    pattern: str = ""
    what: str = "text"
    latin: bool = False

    @cached_property
    def _match(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is such text."""
        if type(value) is not str:
            raise _must_be(self.what, value)
        if self.pattern and not self._match.fullmatch(value):
            raise MisfitError(f"must be {self.what}")
        if self.latin and not value.isascii() and max(value) > "\xff":
            raise MisfitError("holds a character that no octet stands for (above U+00FF)")

    def schema(self) -> dict[str, Any]:
        """`type: string` and the pattern."""
        latin = {"pattern": "^[\\u0000-\\u00ff]*$"} if self.latin else {}
        return {"type": "string", **({"pattern": f"^(?:{self.pattern})$"} if self.pattern else latin)}


@dataclass(frozen=True)
class Integer:
    """A whole number from `least` to `most`."""

    least: int = 0
    most: int | None = None

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is such a number."""
        if type(value) is not int:
            raise _must_be("a whole number", value)
        if value < self.least or (self.most is not None and value > self.most):
            upto = f" to {self.most}" if self.most is not None else " up"
            raise MisfitError(f"must be a number from {self.least}{upto}, not {value}")

    def schema(self) -> dict[str, Any]:
        """`type: integer` and the bounds."""
        most = {"maximum": self.most} if self.most is not None else {}
        return {"type": "integer", "minimum": self.least, **most}


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is a boolean."""
        if type(value) is not bool:
            raise _must_be("true or false", value)

    def schema(self) -> dict[str, Any]:
        """`type: boolean`."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class OneOf:
    """One of a few words or numbers."""

    values: tuple[str | int, ...]

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is among them, with the same type."""
        if not any(type(value) is type(known) and value == known for known in self.values):
            raise MisfitError(f"must be {' or '.join(map(str, self.values))}, not {value!r:.60}")

    def schema(self) -> dict[str, Any]:
        """`enum`."""
        return {"enum": list(self.values)}


@dataclass(frozen=True)
class Octets:
    """Octets: text that stands for its UTF-8, or `!!binary`; `null` for none where `optional`."""

    optional: bool = False

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE can be a body."""
        if type(value) not in (str, bytes) and not (self.optional and value is None):
            raise _must_be("text or !!binary", value)

    def schema(self) -> dict[str, Any]:
        """A string; JSON has no binary, so a schema sees its base64."""
        return {"type": ["string", "null"] if self.optional else "string"}


@dataclass(frozen=True)
class Items:
    """A list whose items all have one shape."""

    of: Shape
    least: int = 0

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is a list of such items."""
        if not isinstance(value, list):
            raise _must_be("a list", value)
        if len(value) < self.least:
            raise MisfitError(f"must hold at least {self.least}")
        check = self.of.check
        done = 0
        try:
            for item in value:
                check(item)
                done += 1
        except MisfitError as misfit:
            raise misfit.under(done) from None

    def schema(self) -> dict[str, Any]:
        """`type: array`."""
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": self.of.schema(), **least}


@dataclass(frozen=True)
class Row:
    """A list of a fixed length, from `least` items on, each with a shape of its own."""

    shapes: tuple[Shape, ...]
    least: int

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is such a row."""
        if not isinstance(value, list):
            raise _must_be("a list", value)
        if not self.least <= len(value) <= len(self.shapes):
            raise MisfitError(
                f"must hold {self.least} items" + (f" to {len(self.shapes)}" * (self.least < len(self.shapes)))
            )
        for at, (shape, item) in enumerate(zip(self.shapes, value, strict=False)):
            try:
                shape.check(item)
            except MisfitError as misfit:
                raise misfit.under(at) from None

    def schema(self) -> dict[str, Any]:
        """`prefixItems`."""
        items = [shape.schema() for shape in self.shapes]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": self.least}


@dataclass(frozen=True)
class Either:
    """One shape for lists or mappings (`structure`), another for everything else."""

    structure: Shape
    leaf: Shape

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE fits the one of the two that it can be meant for."""
        (self.structure if isinstance(value, list | dict) else self.leaf).check(value)

    def schema(self) -> dict[str, Any]:
        """`anyOf`."""
        return {"anyOf": [self.leaf.schema(), self.structure.schema()]}


@dataclass(frozen=True)
class Entries:
    """A mapping from any text to one shape."""

    of: Shape

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE is such a mapping."""
        if type(value) is not dict:
            raise _must_be("a mapping", value)
        check = self.of.check
        for key, item in value.items():
            try:
                check(item)
            except MisfitError as misfit:
                raise misfit.under(key) from None

    def schema(self) -> dict[str, Any]:
        """`additionalProperties`."""
        return {"type": "object", "additionalProperties": self.of.schema()}


@dataclass(frozen=True)
class Key:
    """One key of a Record: the shape of its value, what it means, and whether it must be there."""

    shape: Shape
    says: str = ""
    required: bool = False


@dataclass(frozen=True)
class Record:
    """A mapping with known keys; `x-` keys hold anything where `open`."""

    keys: Mapping[str, Key]
    open: bool = False
    required: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        required = tuple(name for name, key in self.keys.items() if key.required)
        object.__setattr__(self, "required", required)

    def check(self, value: Any) -> None:
        """Raise MisfitError unless VALUE has the required keys, no unknown one, and fitting values."""
        if type(value) is not dict:
            raise _must_be("a mapping", value)
        keys = self.keys
        name = ""
        try:
            for name, item in value.items():
                if name in keys:
                    keys[name].shape.check(item)
                elif not (self.open and name.startswith(EXTENSION)):
                    raise self._unknown(name)
        except MisfitError as misfit:
            raise misfit.under(name) from None
        for name in self.required:
            if name not in value:
                raise MisfitError(f"the key {name!r} is missing", hint="the file is cut off or was edited; restore it")

    def _unknown(self, name: str) -> MisfitError:
        own = f"; keys of your own start with {EXTENSION}" if self.open else ""
        return MisfitError("unknown key", hint=nearest(name, self.keys) + own)

    def schema(self) -> dict[str, Any]:
        """`properties`, closed but for `x-` keys."""
        properties = {
            name: {**key.shape.schema(), **({"description": key.says} if key.says else {})}
            for name, key in self.keys.items()
        }
        own: dict[str, Any] = {"patternProperties": {"^x-": {}}} if self.open else {}
        required = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": properties, **own, **required, "additionalProperties": False}
