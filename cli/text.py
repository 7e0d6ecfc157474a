"""Small forms of text that several commands print."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 3


def moment(microseconds: int) -> str:
    """A time in microseconds since 1970 as ISO 8601 in UTC, to the second; "-" for 0, which is not known."""
    if not microseconds:
        return "-"
    return (EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(names: Sequence[str]) -> str:
    """The first few of NAMES, and how many more there are; "-" for none."""
    if not names:
        return "-"
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" (+{more} more)" if more > 0 else "")


def shortened(text: str, width: int) -> str:
    """TEXT in at most WIDTH characters, its end told by an ellipsis."""
    return text if len(text) <= width else f"{text[: width - 1]}…"
