"""Connections that are being made: none is waited for for ever.

Where a server resets a connection in the moment in which it is made, mitmproxy's task for it ends by an assertion
(12.3.1) and never tells its layers. So whoever waits for a connection looks after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mitmproxy.connection import Server
from mitmproxy.proxy import commands, events, layer

WATCH_SECONDS = 0.5
CONNECT_SECONDS = 30.0
LOST = "the connection was reset while it was made"
TIMED_OUT = "[Errno 110] timed out"


@dataclass(slots=True, eq=False)
class Opening:
    """A connection that is being made for the layer `root`, and for how many seconds it has been waited for."""

    root: layer.Layer
    command: commands.OpenConnection
    waited: float = 0.0


class Openings:
    """What one client connection waits for. `is_lost` tells whether nobody makes a connection any more."""

    def __init__(self, is_lost: Callable[[Server], bool]) -> None:
        self._is_lost = is_lost
        self._watched: dict[commands.Command, Opening] = {}

    def watch(self, opening: Opening) -> commands.RequestWakeup:
        """OPENING is looked after; the command to be carried out for that."""
        wakeup = commands.RequestWakeup(WATCH_SECONDS)
        self._watched[wakeup] = opening
        return wakeup

    def woken(self, event: events.Event) -> Opening | None:
        """The opening that EVENT wakes us for, or None."""
        return self._watched.pop(event.command, None) if isinstance(event, events.Wakeup) else None

    def failure(self, opening: Opening) -> str:
        """Why OPENING will not come about; "" while it may."""
        opening.waited += WATCH_SECONDS
        if self._is_lost(opening.command.connection):
            return LOST
        return TIMED_OUT if opening.waited >= CONNECT_SECONDS else ""
