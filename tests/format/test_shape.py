"""Shapes refuse what does not fit, say why and where, and print the same rule as JSON schema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from replayproxy.format.document import MisfitError
from replayproxy.format.shape import (
    Either,
    Entries,
    Flag,
    Integer,
    Items,
    Key,
    Octets,
    OneOf,
    Record,
    Row,
    Shape,
    Text,
)

RECORD = Record({"name": Key(Text(), "its name", required=True), "count": Key(Integer())})
OPEN = Record({"name": Key(Text())}, open=True)
FITS: list[tuple[Shape, Any]] = [
    (Text(), "a"),
    (Text("[a-z]+", "text in lower case"), "abc"),
    (Text(latin=True), "é"),
    (Integer(1, 5), 5),
    (Flag(), False),
    (OneOf((1, "a")), "a"),
    (Octets(), "a"),
    (Octets(optional=True), None),
    (Items(Integer()), [1, 2]),
    (Row((Text(), Integer()), 1), ["a"]),
    (Either(Items(Text()), Text()), ["a"]),
    (Either(Items(Text()), Text()), "a"),
    (Entries(Integer()), {"a": 1}),
    (RECORD, {"name": "a", "count": 1}),
    (OPEN, {"x-own": [1]}),
]
MISFITS: list[tuple[Shape, Any, tuple[str | int, ...], str]] = [
    (Text(), 5, (), "must be text, not a number (5)"),
    (Text(), True, (), "must be text, not a boolean (True)"),
    (Text(), 1.5, (), "must be text, not a number (1.5)"),
    (Text(), None, (), "must be text, not empty"),
    (Text(), ["a"], (), "must be text, not a list"),
    (Text("[a-z]+", "text in lower case"), "A", (), "must be text in lower case"),
    (Text(latin=True), "€", (), "no octet"),
    (Integer(), "5", (), "must be a whole number, not text"),
    (Integer(), True, (), "must be a whole number, not a boolean"),
    (Integer(1, 5), 6, (), "from 1 to 5, not 6"),
    (Integer(1), 0, (), "from 1 up, not 0"),
    (Flag(), 1, (), "must be true or false, not a number"),
    (OneOf((1,)), True, (), "must be 1, not True"),
    (OneOf(("a", "b")), "c", (), "must be a or b, not 'c'"),
    (Octets(), None, (), "must be text or !!binary, not empty"),
    (Items(Integer()), {}, (), "must be a list, not a mapping"),
    (Items(Integer(), least=1), [], (), "at least 1"),
    (Items(Integer()), [1, "a"], (1,), "whole number"),
    (Row((Text(), Integer()), 2), ["a"], (), "must hold 2 items"),
    (Row((Text(), Integer()), 1), [], (), "must hold 1 items to 2"),
    (Row((Text(), Integer()), 2), ["a", "b"], (1,), "whole number"),
    (Row((Text(),), 1), "a", (), "must be a list"),
    (Entries(Items(Integer())), {"a": [1, b"x"]}, ("a", 1), "not binary"),
    (Entries(Integer()), [], (), "must be a mapping"),
    (RECORD, [], (), "must be a mapping"),
    (RECORD, {"count": 1}, (), "the key 'name' is missing"),
    (RECORD, {"name": "a", "count": "b"}, ("count",), "whole number"),
    (RECORD, {"name": "a", "x-own": 1}, ("x-own",), "unknown key"),
]


@pytest.mark.parametrize(("shape", "value"), FITS)
def test_what_fits_fits_the_schema_too(shape: Shape, value: Any) -> None:
    """No complaint from either."""
    shape.check(value)
    jsonschema.validate(value, shape.schema())


@pytest.mark.parametrize(("shape", "value", "path", "why"), MISFITS)
def test_what_does_not_fit(shape: Shape, value: Any, path: tuple[str | int, ...], why: str) -> None:
    """The fault is named with its path."""
    with pytest.raises(MisfitError) as caught:
        shape.check(value)
    assert caught.value.path == path
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("shape", "value"), [(s, v) for s, v, _, _ in MISFITS if not isinstance(v, bytes) and s != OneOf((1,))][:-1]
)
def test_what_does_not_fit_the_schema_refuses_too(shape: Shape, value: Any) -> None:
    """Save for binary, which JSON has not, and true, which is 1 to JSON schema in Python."""
    value = {"a": [1, None]} if shape == Entries(Items(Integer())) else value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, shape.schema())


def test_the_nearest_key_is_named() -> None:
    """A misspelt key is met with the right one, and with x- where that is allowed."""
    with pytest.raises(MisfitError) as caught:
        OPEN.check({"nmae": 1})
    assert caught.value.hint == "did you mean name?; keys of your own start with x-"


def test_a_number_in_place_of_text_is_met_with_quotes() -> None:
    """The hint says what to do."""
    with pytest.raises(MisfitError) as caught:
        Text().check(5)
    assert caught.value.hint == "put it in quotes"
