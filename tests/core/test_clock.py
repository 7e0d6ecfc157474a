"""A clock stands until it is moved."""

from __future__ import annotations

from decimal import Decimal

import pytest

from replayproxy.core.clock import Clock, iso
from replayproxy.core.errors import UsageError

MOMENT = "2030-01-02T03:04:05Z"


@pytest.mark.parametrize(
    ("spec", "now"),
    [
        ("recorded", "1970-01-01T00:00:07Z"),
        (MOMENT, MOMENT),
        ("2030-01-02T05:04:05+02:00", MOMENT),
        ("2030-01-02T03:04:05", MOMENT),
        ("2030-01-02", "2030-01-02T00:00:00Z"),
        ("2030-01-02T03:04:05.5Z", "2030-01-02T03:04:05.500000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_a_spec_names_a_moment(spec: str, now: str) -> None:
    """`recorded` stands at the recording, a moment at itself, in UTC."""
    assert Clock.parse(spec, 7_000_000).now == now


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("seed", "not supported"),
        (f"{MOMENT}@2", "not supported"),
        ("http://127.0.0.1:1/clock", "not supported"),
        ("noon", "not a clock"),
        ("", "not a clock"),
        ("9999-12-31T23:59:59-01:00", "outside the years"),
        ("0001-01-01T00:00:00+01:00", "outside the years"),
    ],
)
def test_another_spec_is_the_users_to_mend(spec: str, why: str) -> None:
    """What this version cannot do is said, never guessed at."""
    with pytest.raises(UsageError, match=why) as caught:
        Clock.parse(spec, 0)
    assert "recorded" in caught.value.hint


@pytest.mark.parametrize(
    ("seconds", "now"),
    [
        (0, "2030-01-02T03:04:05Z"),
        (90, "2030-01-02T03:05:35Z"),
        (0.1, "2030-01-02T03:04:05.100000Z"),
        (Decimal("0.000001"), "2030-01-02T03:04:05.000001Z"),
    ],
)
def test_a_clock_moves_by_what_is_asked(seconds: float, now: str) -> None:
    """Moving gives another clock with the same spec."""
    clock = Clock.parse(MOMENT, 0)
    assert clock.advance(seconds) == Clock(MOMENT, clock.advance(seconds).now_us)
    assert clock.advance(seconds).now == now
    assert clock.now == MOMENT


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 10**30])
def test_a_clock_moves_neither_back_nor_out_of_the_calendar(seconds: float) -> None:
    """Time that a client has seen is never taken back."""
    with pytest.raises(UsageError):
        Clock.parse(MOMENT, 0).advance(seconds)


def test_iso_is_utc() -> None:
    """A moment before the epoch has a form too."""
    assert iso(-1_000_000) == "1969-12-31T23:59:59Z"
