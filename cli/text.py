"""Small forms of text that several commands print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHOWN = 3

_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys rather than shows (tab and line feed are left), what turns text around, what is no text."""


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


def printable(text: str) -> str:
    """TEXT as it can be shown: a recording may hold what a terminal would obey; it is spelled out instead."""
    return _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)
