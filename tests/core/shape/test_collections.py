"""Tests for replayproxy.core.shape.collections: lists, mappings, records."""

from __future__ import annotations

from typing import Any

import pytest

from replayproxy.core.shape import (
    ANYTHING,
    FILLED,
    Either,
    Items,
    Key,
    Made,
    Named,
    Record,
    ShapeError,
    Text,
    Whole,
)


def pair(one: int, two_words: str = "", extensions: tuple[tuple[str, object], ...] = ()) -> tuple[object, ...]:
    """What the records here build."""
    if one == 13:
        raise ValueError("thirteen does not go with anything")
    return (one, two_words, extensions)


KEYS = (Key("one", Whole(), "a number", required=True), Key("two-words", FILLED, "some text"))
CLOSED: Record[tuple[object, ...]] = Record("pair", pair, KEYS)
OPEN: Record[tuple[object, ...]] = Record("open pair", pair, KEYS, extensible=True)
LOOSE: Record[dict[str, object]] = Record("loose", dict, (Key("a", ANYTHING, "anything"),))
NAMED: Named[int] = Named(Text("name", str.lower, "^[a-z]+$"), Whole())
EITHER: Either[object] = Either(FILLED, CLOSED)

READ: list[tuple[Any, object, object]] = [
    (Items(Whole()), [1, 2], (1, 2)),
    (Items(Whole(), least=1), [0], (0,)),
    (NAMED, {"b": 1, "a": 2}, (("b", 1), ("a", 2))),
    (EITHER, "a", "a"),
    (EITHER, {"one": 1}, (1, "", ())),
    (Made(Whole(), str), 7, "7"),
    (ANYTHING, {"a": [None]}, {"a": [None]}),
    (CLOSED, {"one": 1, "two-words": "a"}, (1, "a", ())),
    (OPEN, {"one": 1, "x-a": [1]}, (1, "", (("x-a", [1]),))),
    (OPEN, {"one": 1}, (1, "", ())),
    (LOOSE, {"a": None}, {"a": None}),
]
REFUSED: list[tuple[Any, object, str, str, str]] = [
    (Items(Whole()), {}, "", "found a mapping where list of a whole number from 0 on belongs", ""),
    (Items(Whole()), [0, "1"], "[1]", "found '1' where", ""),
    (Items(Whole(), least=2), [0], "", "found a list of 1 where at least 2 belong", ""),
    (NAMED, [], "", "where mapping of names to a whole number from 0 on belongs", ""),
    (NAMED, {"a": "1"}, "a", "found '1' where", ""),
    (NAMED, {1: 1}, "1", "found the number 1 where name belongs", ""),
    (EITHER, True, "", "found the boolean true where text belongs", "YAML reads yes"),
    (EITHER, 3, "", "found the number 3 where pair belongs", ""),
    (CLOSED, {"one": 1, "onee": 2}, "onee", "there is no such key", "did you mean one?"),
    (CLOSED, {"one": 1, "x-a": 2}, "x-a", "there is no such key", "allowed: one, two-words"),
    (OPEN, {"one": 1, 5: 2}, "5", "there is no such key", ""),
    (CLOSED, {"two-words": "a"}, "", "one is missing", "one: a number"),
    (CLOSED, {"one": 13}, "", "thirteen does not go with anything", ""),
]


@pytest.mark.parametrize(("shape", "value", "result"), READ)
def test_what_fits_is_read(shape: Any, value: object, result: object) -> None:
    """Order is kept; keys become arguments of what is built."""
    assert shape.read(value, ()) == result


@pytest.mark.parametrize(("shape", "value", "path", "problem", "hint"), REFUSED)
def test_what_does_not_fit_is_refused(shape: Any, value: object, path: str, problem: str, hint: str) -> None:
    """The path leads to the innermost value that is wrong."""
    with pytest.raises(ShapeError) as refused:
        shape.read(value, ("top",))
    start = f"top{'' if path.startswith('[') or not path else '.'}{path}: "
    assert refused.value.what.startswith(start)
    assert problem in refused.value.problem
    assert hint in refused.value.hint


@pytest.mark.parametrize(("shape", "value", "result"), READ)
def test_the_schema_accepts_what_is_read(shape: Any, value: object, result: object) -> None:
    """Each shape says what it is in words and as a JSON schema."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(shape.schema())
    assert jsonschema.Draft202012Validator(shape.schema()).is_valid(value)
    assert str(shape)


@pytest.mark.parametrize(
    ("shape", "value"),
    [(shape, value) for shape, value, *_ in REFUSED if value not in ({1: 1}, {"one": 1, 5: 2}, {"one": 13})],
)
def test_the_schema_refuses_what_is_refused(shape: Any, value: object) -> None:
    """An editor marks the same faults, as far as JSON schema can say them."""
    jsonschema = pytest.importorskip("jsonschema")
    assert not jsonschema.Draft202012Validator(shape.schema()).is_valid(value)
