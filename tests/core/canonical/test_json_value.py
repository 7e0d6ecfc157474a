"""JSON by value."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.json_value import Members, Number, number, parse

EQUAL = [
    ("1", "1.0"),
    ("1", "1e0"),
    ("1", "10e-1"),
    ("100", "1E+2"),
    ("0", "-0"),
    ("0", "0.000e99"),
    ("-1.5", "-15e-1"),
    ("0.001", "1e-3"),
    ("1" + "0" * 50, "1e50"),
    ("12345678901234567890", "1234567890123456789e1"),
]
DIFFERENT = [
    ("1", "-1"),
    ("9007199254740993", "9007199254740992"),
    ("1e400", "2e400"),
    ("0.1", "0.10000000000000000000000001"),
    ("1e-30", "1e-31"),
    ("10", "1"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_numbers(one: str, other: str) -> None:
    """Numbers of one value have one spelling."""
    assert number(one) == number(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_numbers(one: str, other: str) -> None:
    """No number is rounded to another."""
    assert number(one) != number(other)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 3))
def test_spelling_keeps_the_value(value: Decimal, zeros: int) -> None:
    """The canonical spelling is a number of the same value, and its own canonical spelling."""
    text = format(value, "f") if abs(value.adjusted()) < 30 else str(value)
    padded = text + "0" * zeros if "." in text and "E" not in text else text
    canonical = number(padded)
    assert Decimal(canonical) == value
    assert number(canonical) == canonical


def test_its_size_does_not_grow_with_the_exponent() -> None:
    """A short text cannot make a huge key."""
    assert number("1e999999999") == "1e999999999"


@pytest.mark.parametrize("text", ["", "1x", "0x1", "1e", "--1"])
def test_what_is_no_number(text: str) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="not a JSON number"):
        number(text)


def test_members_keep_repeats() -> None:
    """All members are there in their order; `get` gives the last, as most parsers do."""
    found = parse(b'{"dup": 1, "a": "1", "dup": 2.0}')
    assert found == Members((("dup", "1"), ("a", "1"), ("dup", "2")))
    assert isinstance(found, Members)
    assert found.get("dup") == "2"
    assert found.get("none") is None
    assert [type(value) for _, value in found] == [Number, str, Number]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"{'a': 1}", b"NaN", b"[Infinity]", b'"\xff"', b"\xef\xbb\xbf1", b"[" * 100_000, b"1 2"],
    ids=["empty", "open", "quotes", "nan", "infinity", "not-utf-8", "bom", "deep", "two"],
)
def test_what_is_no_json(data: bytes) -> None:
    """Invalid JSON is an error, never a guess, and never exhausts the stack."""
    with pytest.raises(ValueError):  # noqa: PT011 - json's own messages differ
        parse(data)


@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=8))
def test_values_without_numbers_are_pythons(value: object) -> None:
    """All else reads as Python's own decoder reads it."""
    assert parse(json.dumps(value).encode()) == value
