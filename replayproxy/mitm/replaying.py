"""The mitmproxy host: a replay served by mitmproxy's proxy server, with only the addons that it needs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from ipaddress import ip_address

from mitmproxy.addons import core, proxyserver
from mitmproxy.connection import Client
from mitmproxy.master import Master
from mitmproxy.options import Options
from mitmproxy.proxy.mode_servers import ProxyConnectionHandler

from replayproxy.authority import Authority
from replayproxy.core.errors import OperationError, ReplayproxyError, UsageError
from replayproxy.mitm.certificates import ClientContexts
from replayproxy.mitm.client_socket import Ending
from replayproxy.mitm.master import LoggedErrors, Started
from replayproxy.mitm.replay_addon import ReplayAddon
from replayproxy.mitm.serving import Serving
from replayproxy.replay.answer import Service
from replayproxy.replay.timing import INSTANT, Timing
from replayproxy.wire.limits import Limits

EVERYWHERE = "::"
"""Every address, IPv4 too; mitmproxy spells it as no address at all."""


class MitmproxyHost:
    """A server for SERVICE inside mitmproxy, to clients what `engine.native.NativeHost` is.

    There is one in a process at a time, as there is one master; it runs on asyncio's own loop.
    """

    def __init__(
        self,
        service: Service,
        authority: Authority,
        *,
        limits: Limits | None = None,
        timing: Timing = INSTANT,
        transparent: bool = False,
    ) -> None:
        contexts = ClientContexts(authority)
        self._serving = Serving(service, contexts, limits=limits, timing=timing, transparent=transparent)
        self._server = proxyserver.Proxyserver()
        self._running: asyncio.Future[None] | None = None
        self._master: Master
        self.address = ("", 0)
        """The address and port listened on."""

    @property
    def url(self) -> str:
        """`http://HOST:PORT`, IPv6 in brackets."""
        host, port = self.address
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def listen(self, host: str, port: int = 0) -> None:
        """Accept clients. Raises OperationError where the address cannot be had, UsageError for a name."""
        _check(host)
        host = "127.0.0.1" if host == "localhost" else host.strip("[]")
        started = asyncio.Event()
        self._master = self._made(host, port, started)
        errors = LoggedErrors()
        logging.getLogger("mitmproxy").addHandler(errors)
        try:
            self._running = asyncio.ensure_future(self._master.run())
            waiting = asyncio.ensure_future(started.wait())
            await asyncio.wait({self._running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        finally:
            logging.getLogger("mitmproxy").removeHandler(errors)
        addresses = self._server.listen_addrs()
        if not addresses:
            await self._end()
            why = errors.texts[0] if errors.texts else "no reason was given"
            hint = "choose another address with --listen HOST:PORT"
            raise OperationError(f"cannot listen on {host}:{port}: {why}", hint=hint)
        self.address = (host, addresses[0][1])

    def _made(self, host: str, port: int, started: asyncio.Event) -> Master:
        options = Options(
            listen_host="" if host == EVERYWHERE else host,
            listen_port=port,
            mode=["regular"],
            tcp_timeout=max(1, math.ceil(self._serving.limits.idle_seconds)),
        )
        master = Master(options)
        addon = ReplayAddon(self._serving, self._handler_of)
        master.addons.add(addon, core.Core(), self._server, Started(started))
        options.update(connection_strategy="lazy", upstream_cert=False)
        return master

    def _handler_of(self, client: Client) -> ProxyConnectionHandler:
        return self._server.connections[client.id]

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Accept nobody more, and end: answers on their way have GRACE_SECONDS to arrive, then they are cut off."""
        await self._server.servers.update([])
        serving = self._serving
        for socket in list(serving.turned_away.values()):
            socket.cut()
        for socket in list(serving.sockets.values()):
            if socket.answering:
                await socket.tell(Ending())
            else:
                socket.cut()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_seconds):
                await self._emptied()
        for socket in list(serving.sockets.values()):
            socket.cut()
        await self._emptied()
        await self._end()

    async def _emptied(self) -> None:
        while self._serving.sockets:
            self._serving.empty.clear()
            await self._serving.empty.wait()

    async def _end(self) -> None:
        self._master.shutdown()
        if self._running is not None:
            await self._running

    async def failed(self) -> ReplayproxyError:
        """Returns only where mitmproxy ends by itself, with the reason."""
        assert self._running is not None, "the host has not been started"
        await asyncio.wait({self._running})
        why = self._running.exception() or "it gave no reason"
        return OperationError(f"mitmproxy has ended: {why}", hint="use --engine native")


def _check(host: str) -> None:
    try:
        _ = host == "localhost" or ip_address(host.strip("[]"))
    except ValueError as error:
        raise UsageError(
            f"cannot listen on {host}: it is not an address, and no name is resolved here",
            hint="give an address such as 127.0.0.1, 0.0.0.0 or [::1]",
        ) from error
