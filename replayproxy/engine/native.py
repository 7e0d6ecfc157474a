"""The native host: an asyncio server of our own.

It accepts clients and carries out what the wire and the service decide. It opens no outgoing socket and resolves no
name, so whatever goes wrong in it, no request goes live.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from pathlib import Path

from replayproxy.core.errors import ReplayproxyError
from replayproxy.engine.connection import ClientConnection
from replayproxy.engine.listening import tcp_socket, unix_socket
from replayproxy.replay.answer import Service
from replayproxy.replay.hosting import Contexts, Member
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.timing import INSTANT, Timing
from replayproxy.wire.limits import Limits

logger = logging.getLogger(__name__)

SWEEPS = 4
"""How often within the idle time connections are looked at."""


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop: uvloop's where it can be imported, which is faster, else the standard one."""
    try:
        import uvloop  # noqa: PLC0415 - it is not there on every platform
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class NativeHost:
    """A server for SERVICE on HOST and PORT (0 picks one), or on a unix socket where HOST is a path.

    CONTEXTS gives the certificates that are shown to clients; without it the host speaks no TLS. `transparent` lets
    requests and TLS clients name their destination themselves (Host, SNI). A plain server of its own resources is a
    transparent host without CONTEXTS. With REMEMBERED, requests that come again are not read again.
    """

    def __init__(
        self,
        service: Service,
        contexts: Contexts | None = None,
        *,
        limits: Limits | None = None,
        timing: Timing = INSTANT,
        transparent: bool = False,
        remembered: Remembered | None = None,
    ) -> None:
        self.service = service
        self.contexts = contexts
        self.limits = limits or Limits()
        self.timing = timing
        self.transparent = transparent
        self.remembered = remembered
        self._servers: list[asyncio.Server] = []
        self._paths: list[Path] = []
        self._addresses: list[tuple[str, int]] = []
        self._members: set[Member] = set()
        self._turned_away: set[Member] = set()
        self._empty = asyncio.Event()
        self._sweeper: asyncio.Handle | None = None
        self._seen: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that the host was started on."""
        assert self._loop is not None, "the host has not been started"
        return self._loop

    @property
    def address(self) -> tuple[str, int]:
        """The first address and port listened on; ("unix:PATH", 0) for a unix socket."""
        return self._addresses[0]

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, IPv6 in brackets, or `unix:PATH`."""
        host, port = self.address
        if host.startswith("unix:"):
            return host
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def listen(self, host: str | Path, port: int = 0) -> None:
        """Accept clients on one more address. Raises OperationError where it cannot be had, UsageError for a name."""
        self._loop = asyncio.get_running_loop()
        if isinstance(host, Path):
            server = await self._serve_unix(host)
        else:
            made = tcp_socket(host, port)
            found = made.getsockname()
            self._addresses.append((found[0], found[1]))
            server = await self.loop.create_server(self._client, sock=made)
        self._servers.append(server)
        if self._sweeper is None:
            self._sweep()

    async def _serve_unix(self, path: Path) -> asyncio.Server:
        made: socket.socket = unix_socket(path)
        self._paths.append(path)
        self._addresses.append((f"unix:{path}", 0))
        return await self.loop.create_unix_server(self._client, sock=made)

    def _client(self) -> ClientConnection:
        return ClientConnection(self)

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Accept nobody more, and end: answers on their way have GRACE_SECONDS to arrive, then they are cut off."""
        for server in self._servers:
            server.close()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for member in list(self._turned_away):
            member.abort()
        for member in list(self._members):
            member.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await self._emptied()
        for member in list(self._members):
            member.abort()
        await self._emptied()
        for path in self._paths:
            path.unlink(missing_ok=True)

    async def failed(self) -> ReplayproxyError:
        """Never: nothing outside can keep it from going on."""
        never: asyncio.Future[ReplayproxyError] = self.loop.create_future()
        return await never

    async def _emptied(self) -> None:
        while self._members:
            self._empty.clear()
            await self._empty.wait()

    # -- what connections call ----------------------------------------------------------------------

    def joined(self, connection: Member) -> bool:
        """CONNECTION is open; whether there is room for it."""
        room = len(self._members) < self.limits.connections
        (self._members if room else self._turned_away).add(connection)
        return room

    def left(self, connection: Member) -> None:
        """CONNECTION is closed."""
        self._members.discard(connection)
        self._turned_away.discard(connection)
        if not self._members:
            self._empty.set()

    def told(self, error: Exception) -> None:
        """Log ERROR, once for each kind and text; with a traceback where debugging is asked for."""
        said = f"{type(error).__name__}: {error}"
        if said not in self._seen:
            self._seen.add(said)
            logger.error("an internal error was met, its request was refused: %s", said)
            logger.debug("its traceback", exc_info=error)

    def _sweep(self) -> None:
        """Close connections on which nothing happens for too long."""
        latest = self.loop.time() - self.limits.idle_seconds
        for member in [member for member in self._members if member.active_at < latest and not member.timed]:
            member.abort()
        self._sweeper = self.loop.call_later(self.limits.idle_seconds / SWEEPS, self._sweep)
