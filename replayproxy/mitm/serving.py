"""What all connections of a replay inside mitmproxy share."""

from __future__ import annotations

import asyncio
import logging

from mitmproxy.connection import Client
from mitmproxy.proxy.server import ConnectionHandler

from replayproxy.mitm.certificates import ClientContexts
from replayproxy.mitm.client_socket import ClientSocket
from replayproxy.replay.answer import Service
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.timing import INSTANT, Timing
from replayproxy.wire.limits import Limits

logger = logging.getLogger(__name__)


class Serving:
    """A replay of SERVICE. `transparent` opens the proxy port to clients that know of no proxy."""

    def __init__(
        self,
        service: Service,
        contexts: ClientContexts,
        *,
        limits: Limits | None = None,
        timing: Timing = INSTANT,
        transparent: bool = False,
    ) -> None:
        self.service = service
        self.contexts = contexts
        self.limits = limits or Limits()
        self.timing = timing
        self.transparent = transparent
        self.remembered = Remembered()
        self.sockets: dict[str, ClientSocket] = {}
        """The sockets of the clients that are connected, by mitmproxy's id."""
        self.turned_away: dict[str, ClientSocket] = {}
        """Those of clients that there was no room for, until they are gone."""
        self.empty = asyncio.Event()
        self._seen: set[str] = set()

    def arrived(self, handler: ConnectionHandler) -> bool:
        """HANDLER's client has connected; whether there is room for it."""
        room = len(self.sockets) < self.limits.connections
        (self.sockets if room else self.turned_away)[handler.client.id] = ClientSocket(handler)
        return room

    def left(self, client: Client) -> None:
        """CLIENT is gone."""
        self.sockets.pop(client.id, None)
        self.turned_away.pop(client.id, None)
        if not self.sockets:
            self.empty.set()

    def told(self, error: Exception) -> None:
        """Log ERROR, once for each kind and text; with a traceback where debugging is asked for."""
        said = f"{type(error).__name__}: {error}"
        if said not in self._seen:
            self._seen.add(said)
            logger.error("an internal error was met, its request was refused: %s", said)
            logger.debug("its traceback", exc_info=error)
