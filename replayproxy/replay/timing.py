"""How fast recorded answers are played."""

from __future__ import annotations

import re
from dataclasses import dataclass

from replayproxy.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Timing:
    """Playing `speed` times as fast as recorded; 0 means at once, with the pieces kept apart."""

    speed: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Timing:
        """`instant`, `recorded` or `xN`; raises UsageError for anything else."""
        if text == "instant":
            return cls(0.0)
        if text == "recorded":
            return cls(1.0)
        if re.fullmatch(r"x[0-9]+(\.[0-9]+)?", text) and (speed := float(text[1:])) > 0:
            return cls(speed)
        raise UsageError(f"--timing {text} is not a speed", hint="give instant, recorded, or x4 for four times as fast")

    def seconds(self, at_ms: int) -> float:
        """When, in seconds after the request, what was recorded AT_MS milliseconds after it is to be sent."""
        return at_ms / 1000 / self.speed if self.speed else 0.0


INSTANT = Timing()
