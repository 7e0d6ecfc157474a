"""An episode's clock: which moment it is in the episode, whatever moment it is outside.

A clock stands until it is moved. Moments are microseconds since 1970-01-01T00:00:00Z; the core never asks
the machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from replayproxy.core.errors import UsageError

RECORDED = "recorded"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_FIRST_US = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_SPELLINGS = "recorded, or a moment such as 2030-01-02T03:04:05Z"


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment, and the SPEC that the clock was set by."""

    spec: str
    now_us: int

    @classmethod
    def parse(cls, spec: str, recorded_us: int) -> Clock:
        """The clock that SPEC asks for: `recorded` stands at RECORDED_US, an ISO-8601 moment at itself.

        A moment without an offset is read as UTC. Raises UsageError for everything else.
        """
        if spec == RECORDED:
            return cls(spec, recorded_us)
        if spec == "seed" or "@" in spec or "://" in spec:
            raise UsageError(f"the clock {spec!r} is not supported in this version", hint=f"use {_SPELLINGS}")
        try:
            moment = datetime.fromisoformat(spec)
        except ValueError as error:
            raise UsageError(f"{spec!r} is not a clock", hint=f"use {_SPELLINGS}") from error
        now_us = microseconds(moment)
        if not _FIRST_US <= now_us <= _LAST_US:
            raise UsageError(f"{spec!r} is in UTC outside the years 1 to 9999", hint=f"use {_SPELLINGS}")
        return cls(spec, now_us)

    def advance(self, seconds: float | Decimal) -> Clock:
        """This clock SECONDS later, to the microsecond.

        Raises UsageError for less than 0 seconds and past the year 9999.
        """
        moved = Decimal(str(seconds)) * 1_000_000
        if not moved.is_finite() or moved < 0:
            raise UsageError(f"a clock cannot be moved by {seconds} seconds", hint="give a number from 0 on")
        now_us = self.now_us + round(moved)
        if now_us > _LAST_US:
            raise UsageError(f"{seconds} seconds on is past the year 9999", hint="give a smaller number")
        return replace(self, now_us=now_us)

    @property
    def now(self) -> str:
        """The moment as ISO-8601 in UTC, with a fraction of six digits where it has one."""
        return iso(self.now_us)


def microseconds(moment: datetime) -> int:
    """MOMENT (UTC where it names no offset) as microseconds since the epoch."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def iso(moment_us: int) -> str:
    """MOMENT_US as ISO-8601 with a Z, with a fraction of six digits where it has one."""
    moment = _EPOCH + timedelta(microseconds=moment_us)
    return moment.isoformat().replace("+00:00", "Z")
