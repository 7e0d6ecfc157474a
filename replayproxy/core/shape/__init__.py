"""Shapes of documents: what a key may hold, in one value that reads it, names it and gives its JSON schema.

A shape reads plain data (what YAML or JSON gives) into a value of the model, or raises ShapeError that names
the path, what was found there and what is allowed. Nothing is coerced: `yes` that YAML has turned into a
boolean is refused, never guessed at. Rights tags and `replayproxy.yaml` are both described by shapes, so that
reader, schema and manual cannot differ.
"""

from __future__ import annotations

from replayproxy.core.shape.base import (
    BOOLEAN_HINT,
    EXTENSION,
    Path,
    Shape,
    ShapeError,
    found,
    misplaced,
    nearest,
    spell,
)
from replayproxy.core.shape.collections import (
    ANYTHING,
    Anything,
    Either,
    Items,
    Key,
    Made,
    Named,
    Record,
)
from replayproxy.core.shape.scalars import (
    FILLED,
    PLAIN,
    Choice,
    Day,
    Flag,
    Instant,
    Text,
    Whole,
    matching,
)

__all__ = [
    "ANYTHING",
    "BOOLEAN_HINT",
    "EXTENSION",
    "FILLED",
    "PLAIN",
    "Anything",
    "Choice",
    "Day",
    "Either",
    "Flag",
    "Instant",
    "Items",
    "Key",
    "Made",
    "Named",
    "Path",
    "Record",
    "Shape",
    "ShapeError",
    "Text",
    "Whole",
    "found",
    "matching",
    "misplaced",
    "nearest",
    "spell",
]
