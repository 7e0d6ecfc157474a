"""The date of this machine: rights end by it, never by an episode's clock."""

from __future__ import annotations

from datetime import UTC, datetime


def today() -> str:
    """Today in UTC, as YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()  # noqa: TID251
