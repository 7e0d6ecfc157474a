"""What a client's connection needs of the host that accepted it."""

from __future__ import annotations

import ssl
from typing import Protocol

from replayproxy.replay.answer import Service
from replayproxy.replay.delivery import Timers
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


class Setting(Protocol):
    """What the exchanges of a connection need. `remembered` is shared; None where no two answers are the same."""

    @property
    def service(self) -> Service:
        """What decides."""

    @property
    def timing(self) -> Timing:
        """The pace of answers."""

    @property
    def remembered(self) -> Remembered | None:
        """What is known of requests that were answered before."""

    @property
    def loop(self) -> Timers:
        """What answers that wait for their time are planned with."""

    def told(self, error: Exception) -> None:
        """ERROR was met; the client has been or will be answered."""


class Host(Setting, Protocol):
    """What accepted a connection. Without `contexts` there is no TLS; `transparent` is also true of a plain server."""

    contexts: Contexts | None
    limits: Limits
    transparent: bool

    def joined(self, connection: Member) -> bool:
        """CONNECTION is open; whether there is room for it."""

    def left(self, connection: Member) -> None:
        """CONNECTION is closed."""
