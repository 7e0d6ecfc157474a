"""replayproxy.replay.timing: what --timing means."""

from __future__ import annotations

import pytest

from replayproxy.core.errors import UsageError
from replayproxy.replay.timing import Timing


@pytest.mark.parametrize(
    ("text", "seconds"), {"instant": 0.0, "recorded": 2.0, "x4": 0.5, "x0.5": 4.0, "x1": 2.0}.items()
)
def test_a_speed_divides_the_recorded_time(text: str, seconds: float) -> None:
    """`instant` waits for nothing, `recorded` as long as then, `xN` an Nth of it."""
    assert Timing.parse(text).seconds(2000) == seconds


@pytest.mark.parametrize("text", ["", "fast", "x", "x0", "x-1", "4", "x4s", "X4", "recorded "])
def test_what_is_no_speed_is_refused(text: str) -> None:
    """With a hint that lists what is."""
    with pytest.raises(UsageError) as caught:
        Timing.parse(text)
    assert "recorded" in caught.value.hint
