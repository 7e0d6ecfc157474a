"""Whether the server behind a CONNECT speaks first, as SMTP and its like do and HTTP never does.

Such a tunnel cannot be recorded, and a client that waits in it for a greeting would wait for ever. So before a tunnel
to an unusual port is opened, its server is given a moment to greet; what is found out holds for the recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mitmproxy.connection import Server
from mitmproxy.proxy import commands, events, layer

from replayproxy.wire.events import TunnelRequested

USUAL_PORTS = frozenset({80, 443, 8000, 8080, 8443})
"""Ports on which HTTP is spoken; nobody is asked."""
GREETING_SECONDS = 0.25


@dataclass(slots=True)
class Greetings:
    """Which addresses are known to speak first, and which to wait."""

    known: dict[tuple[str, int], bool] = field(default_factory=dict)

    def must_ask(self, tunnel: TunnelRequested) -> bool:
        """Whether TUNNEL leads to a port of which nothing is known yet."""
        return tunnel.port not in USUAL_PORTS and (tunnel.host, tunnel.port) not in self.known

    def greets(self, tunnel: TunnelRequested) -> bool:
        """Whether the server behind TUNNEL is known to speak first."""
        return self.known.get((tunnel.host, tunnel.port), False)


class Probe:
    """One connection that only listens, for the tunnel that waits for its outcome."""

    def __init__(self, tunnel: TunnelRequested, address: tuple[str, int]) -> None:
        self.tunnel = tunnel
        self.server = Server(address=address)
        self._wakeup = commands.RequestWakeup(GREETING_SECONDS)

    def start(self) -> layer.CommandGenerator[bool]:
        """Connect; whether there is anything to wait for. A server that cannot be reached greets nobody."""
        error = yield commands.OpenConnection(self.server)
        if error:
            return False
        yield self._wakeup
        return True

    def outcome(self, event: events.Event) -> bool | None:
        """Whether the server spoke first, once EVENT tells; None for any other event."""
        if isinstance(event, events.DataReceived) and event.connection is self.server:
            return True
        if isinstance(event, events.ConnectionClosed) and event.connection is self.server:
            return False
        if isinstance(event, events.Wakeup) and event.command is self._wakeup:
            return False
        return None

    def owns(self, event: events.Event) -> bool:
        """Whether EVENT is this probe's, which may still come when it has had its outcome."""
        if isinstance(event, events.ConnectionEvent):
            return event.connection is self.server
        return isinstance(event, events.Wakeup) and event.command is self._wakeup

    def end(self) -> layer.CommandGenerator[None]:
        """The connection is closed."""
        if self.server.connected:
            yield commands.CloseConnection(self.server)
