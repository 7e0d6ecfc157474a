"""What a client's connection needs of the host that accepted it."""

from __future__ import annotations

import ssl
from asyncio import AbstractEventLoop
from typing import Protocol

from replayproxy.replay.answer import Service
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.timing import Timing
from replayproxy.wire.limits import Limits


class Contexts(Protocol):
    """What has a TLS context for every host; see `replayproxy.authority.Authority`."""

    def context(self, host: str, alpn: tuple[str, ...] = ()) -> ssl.SSLContext:
        """The context for HOST that prefers the protocols of ALPN. Raises ValueError for what is no host."""


class Member(Protocol):
    """A connection, as its host sees it."""

    active_at: float
    """When something last happened, by the loop's clock."""

    @property
    def timed(self) -> bool:
        """Whether an answer waits for its time, so that silence does not mean that nothing goes on."""

    def drain(self) -> None:
        """Close once the exchanges that are open have ended; now if there are none."""

    def abort(self) -> None:
        """Close at once, whatever goes on."""


class Host(Protocol):
    """What accepted a connection. Without `contexts` there is no TLS; `transparent` is also true of a plain server.

    `remembered` is what all its connections share; None where no two answers are the same.
    """

    service: Service
    contexts: Contexts | None
    limits: Limits
    timing: Timing
    transparent: bool
    remembered: Remembered | None

    @property
    def loop(self) -> AbstractEventLoop:
        """The event loop that everything runs on."""

    def joined(self, connection: Member) -> bool:
        """CONNECTION is open; whether there is room for it."""

    def left(self, connection: Member) -> None:
        """CONNECTION is closed."""

    def told(self, error: Exception) -> None:
        """ERROR was met; the client has been or will be answered."""
