"""A client's socket beneath mitmproxy's layers: what they are not told, and cannot ask for by commands."""

from __future__ import annotations

import asyncio
import contextlib
from typing import cast

from mitmproxy.proxy import events
from mitmproxy.proxy.server import ConnectionHandler, ConnectionIO

from replayproxy.replay.delivery import PIECE_OCTETS


class Drained(events.Event):
    """The client has read most of what it was sent."""


class Ending(events.Event):
    """The host serves no more: what is on its way may arrive, what is idle is closed."""


class ClientSocket:
    """The socket of the client that HANDLER serves. Where it is no TCP socket, it is taken for one without limits."""

    def __init__(self, handler: ConnectionHandler) -> None:
        self._handler = handler
        self.answering = False
        """Whether our layer has been put here: not before the client has said something."""
        self._holding = False
        self._awaited: asyncio.Future[None] | None = None
        writer = self._io.writer
        self._transport = cast("asyncio.Transport | None", getattr(writer, "transport", None))
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=PIECE_OCTETS)

    @property
    def _io(self) -> ConnectionIO:
        return self._handler.transports.get(self._handler.client) or ConnectionIO()

    @property
    def lost(self) -> bool:
        """Whether the client cannot be sent anything any more."""
        return self._transport is not None and self._transport.is_closing()

    @property
    def full(self) -> bool:
        """Whether the client reads more slowly than it is sent to; if so, `Drained` tells when it has caught up."""
        if self._transport is None or self._transport.get_write_buffer_size() <= PIECE_OCTETS:
            return False
        if self._awaited is None:
            self._awaited = asyncio.ensure_future(self._drained())
        return True

    async def _drained(self) -> None:
        with contextlib.suppress(OSError):  # mitmproxy tells the end of a connection by itself
            writer = cast("asyncio.StreamWriter", self._io.writer)
            await writer.drain()
            self._awaited = None
            await self._handler.server_event(Drained())

    def hold(self, holding: bool) -> None:
        """Stop reading from the client, or go on."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if holding:
            self._holding = True
            if transport.is_reading():  # mitmproxy's reader stops and goes on by itself, too
                transport.pause_reading()
        elif self._holding:
            self._holding = False
            transport.resume_reading()

    @property
    def transport(self) -> asyncio.Transport | None:
        """What asyncio has of it."""
        return self._transport

    async def tell(self, event: events.Event) -> None:
        """The client's layers are told EVENT."""
        await self._handler.server_event(event)

    def cut(self) -> None:
        """Close at once, whatever goes on."""
        if self._transport is not None:
            self._transport.abort()
        if (reading := self._io.handler) is not None:
            reading.cancel()
