"""The part of an event loop that deliveries need, for a layer of mitmproxy's, which can only ask to be woken."""

from __future__ import annotations

import time
from collections.abc import Callable

from mitmproxy.proxy import commands, events


class Timer:
    """Something to do at a time; `cancel` it while it has not been done."""

    __slots__ = ("cancelled", "due", "work")

    def __init__(self, due: float, work: Callable[[], object]) -> None:
        self.due = due
        self.work = work
        self.cancelled = False

    def cancel(self) -> None:
        """It is not done."""
        self.cancelled = True


class Timers:
    """What a layer has planned. `wanted` are the commands that it has to yield so that it is woken in time.

    No wait is longer than LONGEST seconds at a time: mitmproxy takes a connection without an event for one on which
    nothing goes on, and closes it.
    """

    def __init__(self, longest: float) -> None:
        self.wanted: list[commands.Command] = []
        self._longest = longest
        self._planned: dict[commands.Command, Timer] = {}

    def time(self) -> float:
        """Seconds, by the clock that asyncio's loops have."""
        return time.monotonic()

    def call_soon(self, work: Callable[[], object]) -> Timer:
        """WORK is done once other connections have had their turn."""
        return self.call_later(0, work)

    def call_later(self, delay: float, work: Callable[[], object]) -> Timer:
        """WORK is done in DELAY seconds."""
        timer = Timer(self.time() + delay, work)
        self._plan(timer, delay)
        return timer

    def _plan(self, timer: Timer, delay: float) -> None:
        wakeup = commands.RequestWakeup(min(delay, self._longest))
        self._planned[wakeup] = timer
        self.wanted.append(wakeup)

    def woken(self, event: events.Event) -> bool:
        """Whether EVENT wakes the layer for one of these timers; what is due is done then."""
        if not isinstance(event, events.Wakeup):
            return False
        timer = self._planned.pop(event.command, None)
        if timer is None:
            return False
        if timer.cancelled:
            return True
        left = timer.due - self.time()
        if left > 0:
            self._plan(timer, left)
        else:
            timer.work()
        return True
