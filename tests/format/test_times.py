"""Times are exact to the microsecond in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.format.document import MisfitError
from replayproxy.format.times import from_text, to_text


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_round_trip(microseconds: int) -> None:
    """Years 1 to 9999."""
    assert from_text(to_text(microseconds)) == microseconds


def test_form() -> None:
    """UTC, with Z, always six digits, so that the text sorts as the times do."""
    assert to_text(0) == "1970-01-01T00:00:00.000000Z"
    assert to_text(1_700_000_000_000_001) == "2023-11-14T22:13:20.000001Z"


def test_a_day_that_does_not_exist() -> None:
    """The pattern of the table cannot tell, so this does."""
    with pytest.raises(MisfitError, match="is not a time"):
        from_text("2026-02-30T00:00:00.000000Z")
