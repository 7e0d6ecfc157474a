"""Tests for replayproxy.core.shape.scalars: text, words, numbers, dates."""

from __future__ import annotations

from typing import Any

import pytest

from replayproxy.core.shape import FILLED, PLAIN, Choice, Day, Flag, Instant, ShapeError, Text, Whole, matching

HEX = matching("[0-9a-f]+", "hex digits")

READ: list[tuple[Any, object, object]] = [
    (PLAIN, "", ""),
    (FILLED, " a ", " a "),
    (HEX, "af", "af"),
    (Text("number", int), "7", 7),
    (Choice(("a", "b")), "b", "b"),
    (Whole(1), 1, 1),
    (Flag(), False, False),
    (Day(), "2026-02-28", "2026-02-28"),
    (Instant(), "2026-02-28T00:00:00+02:00", "2026-02-27T22:00:00Z"),
    (Instant(), "2026-02-28T00:00:00.250", "2026-02-28T00:00:00.250000Z"),
]
REFUSED: list[tuple[Any, object, str]] = [
    (PLAIN, 1, "found the number 1 where text belongs"),
    (FILLED, "\t", "found empty text"),
    (HEX, "ag", "found 'ag' where hex digits belongs"),
    (HEX, "af\n", "where hex digits belongs"),
    (Choice(("a", "b")), "c", "found 'c'; allowed: a, b"),
    (Choice(("a", "b")), 3, "found the number 3; allowed: a, b"),
    (Choice(("a", "b")), True, "found the boolean true; allowed: a, b"),
    (Whole(1), 0, "found the number 0 where a whole number from 1 on belongs"),
    (Whole(1), 2**53, "where a whole number from 1 on belongs"),
    (Whole(), True, "found the boolean true where"),
    (Whole(), 1.0, "found the number 1.0 where"),
    (Flag(), "true", "found 'true' where true or false belongs"),
    (Day(), "2026-02-30", "which is not a date"),
    (Day(), "2026-W01-1", "where a date (YYYY-MM-DD) belongs"),
    (Day(), 2026, "where a date (YYYY-MM-DD) belongs"),
    (Instant(), "2026-02-28T25:00:00", "which is not a time"),
    (Instant(), "9999-12-31T23:59:59-01:00", "which is not a time"),
    (Instant(), 5, "where a time"),
]


@pytest.mark.parametrize(("shape", "value", "result"), READ)
def test_what_fits_is_read(shape: Any, value: object, result: object) -> None:
    """A shape gives the value of the model."""
    assert shape.read(value, ()) == result


@pytest.mark.parametrize(("shape", "value", "problem"), REFUSED)
def test_what_does_not_fit_is_refused(shape: Any, value: object, problem: str) -> None:
    """The error says what was found and what belongs there, and where."""
    with pytest.raises(ShapeError) as refused:
        shape.read(value, ("a", 0))
    assert problem in refused.value.problem
    assert refused.value.what.startswith("a[0]: ")


@pytest.mark.parametrize("shape", [shape for shape, _, _ in READ])
def test_each_says_what_it_is(shape: Any) -> None:
    """In words, and as a JSON schema that can be checked and accepts what is read."""
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(shape.schema())
    assert str(shape)
    for known, value, _ in READ:
        if known is shape:
            assert jsonschema.Draft202012Validator(shape.schema()).is_valid(value)
