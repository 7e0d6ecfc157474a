"""Microseconds since 1970 and the text that stands for them in a cassette."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from replayproxy.format.document import MisfitError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_text(microseconds: int) -> str:
    """MICROSECONDS since 1970-01-01T00:00:00Z as ISO 8601 in UTC; exact, for years 1 to 9999."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> int:
    """The inverse of `to_text`; raises MisfitError for a day or an hour that does not exist."""
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)
    except ValueError as error:
        raise MisfitError(f"is not a time: {error}") from None
