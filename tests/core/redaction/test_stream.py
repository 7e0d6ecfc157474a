"""Masking in windows: the same as masking a body that is held whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.redaction import BodyStream, Redactor
from replayproxy.core.redaction.stream import OVERLAP, WINDOW

SECRET = b"sk_live_51Hxy9f8e7d6c5b4a392817"


def stream() -> BodyStream:
    """A stream of a redactor with a fixed salt."""
    return Redactor("5a" * 16).stream("api.test", "text/plain")


def masked(body: bytes, cuts: list[int]) -> tuple[bytes, BodyStream]:
    """BODY fed in pieces that end at CUTS."""
    made = stream()
    ends = [*sorted(cuts), len(body)]
    out = b"".join(made.feed(body[start:end]) for start, end in zip([0, *ends], ends, strict=False))
    return out + made.finish(), made


@pytest.mark.parametrize("at", [0, 1000, WINDOW - 10, WINDOW, WINDOW + OVERLAP - 10, 2 * WINDOW + 5])
def test_a_secret_is_masked_wherever_it_stands(at: int) -> None:
    """At the border of two windows too, in as many octets as it had."""
    body = b"." * at + b" " + SECRET + b" " + b"." * (3 * WINDOW - at)
    found, made = masked(body, [WINDOW + OVERLAP, 2 * (WINDOW + OVERLAP)])
    assert SECRET not in found
    assert len(found) == len(body)
    assert {mask.rule for _, mask in made.notes}
    assert found.replace(found[at + 1 : at + 1 + len(SECRET)], SECRET, 1) == body


def test_what_holds_no_secret_is_passed_on_as_it_is() -> None:
    """Octet for octet, and nothing is noted."""
    body = bytes(range(256)) * (WINDOW // 64)
    found, made = masked(body, [7, WINDOW, WINDOW + 1])
    assert found == body
    assert made.notes == []


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 2 * WINDOW), max_size=4))
def test_how_the_octets_arrive_does_not_count(cuts: list[int]) -> None:
    """The result depends on the body alone."""
    body = (b"." * 99_000 + b" " + SECRET + b"\n") * 6
    assert masked(body, cuts)[0] == masked(body, [])[0]


def test_little_is_held_back() -> None:
    """Memory does not grow with the body."""
    made = stream()
    out = sum(len(made.feed(b"." * 100_000)) for _ in range(50))
    assert 5_000_000 - out <= WINDOW + OVERLAP
