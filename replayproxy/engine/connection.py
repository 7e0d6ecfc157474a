"""One client: its socket, its TLS, its tunnel.

The connection is read by one of a few readers, one for each thing it can be at a time: HTTP, the first octets of a
tunnel, TLS, or nothing any more. A request whose answer waits for nothing is answered within the callback that
brought it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

from replayproxy.engine.tls import TlsServer
from replayproxy.replay.closing import LINGER_SECONDS, reset_when_sent
from replayproxy.replay.delivery import BACKLOG_OCTETS, PIECE_OCTETS, Timer, Wire
from replayproxy.replay.exchanges import Exchanges
from replayproxy.replay.hosting import Contexts, Host
from replayproxy.wire.events import TunnelRequested, Via
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.http2 import Http2Connection

TLS_HANDSHAKE = 0x16
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PIPELINED_TURNS = 32
"""How many requests that came behind one another are answered before other clients have their turn."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class ClientConnection(asyncio.Protocol):
    """A client that has connected to HOST."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._now = host.loop.time
        self._transport: asyncio.Transport
        self._exchanges = Exchanges(host, self, Http1Connection(Via(transparent=host.transparent), host.limits))
        self._read = self._read_opening if host.transparent and host.contexts else self._read_http
        self._tls: TlsServer | None = None
        self._tunnel: tuple[str, int] = ("", 0)
        self._user: str | None = None
        self._opening = b""
        self._writable = True
        self._pausing = False
        self._draining = False
        self._closed = False
        self._lingering: Timer | None = None
        self.active_at = self._now()

    # -- what asyncio calls -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected; it is turned away if there are too many."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has the methods, not the base class
        self._transport.set_write_buffer_limits(high=PIECE_OCTETS)
        if not self._host.joined(self):
            self._transport.write(FULL)
            self._close("close")

    def data_received(self, data: bytes) -> None:
        """Octets came."""
        self.active_at = self._now()
        try:
            self._read(data)
        except Exception as error:  # noqa: BLE001 - one client's trouble is not the others'
            self._failed(error)

    def eof_received(self) -> bool:
        """The client sends no more; it is still sent what it waits for."""
        if not self._closed:
            self._guarded(self._read_end, b"")
        return not self._closed

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        del exc
        if self._tls is not None and self._tls.shown:
            self._refused("it hung up when it was shown the certificate")
        self._closed = True
        if self._lingering is not None:
            self._lingering.cancel()  # it would keep all of this for as long as it has to wait
        self._exchanges.cancel()
        self._host.left(self)

    def pause_writing(self) -> None:
        """The client reads more slowly than it is sent to."""
        self._writable = False
        self._hold_back(self._exchanges.wire)

    def resume_writing(self) -> None:
        """The client has read most of what it was sent."""
        self._writable = True
        self.active_at = self._now()
        if not self._closed:
            self._exchanges.unblock()
            self.go_on()
            self._hold_back(self._exchanges.wire)

    # -- what the host calls ------------------------------------------------------------------------

    @property
    def timed(self) -> bool:
        """Whether an answer waits for its time."""
        return self._exchanges.timed

    def drain(self) -> None:
        """Close once the exchanges that are open have ended; now if there are none."""
        if self._lingering is not None:
            self._transport.close()
        if self._closed:
            return
        self._draining = True
        idle = not self._exchanges.busy
        wire = self._exchanges.wire
        if isinstance(wire, Http2Connection):
            wire.close()
        self.flush()
        if idle:
            self._transport.close()  # what the client was sent it has had time to read

    def abort(self) -> None:
        """Close at once, whatever goes on."""
        self._transport.abort()

    # -- readers ------------------------------------------------------------------------------------

    def _guarded(self, read: Callable[[bytes], None], data: bytes) -> None:
        try:
            read(data)
            self.flush()
        except Exception as error:  # noqa: BLE001 - one client's trouble is not the others'
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._host.told(error)
        self._transport.abort()

    def _read_http(self, data: bytes) -> None:
        octets = self._exchanges.quick(data)
        if octets:
            self._transport.write(octets)
            return
        if octets is None:
            self._receive(data)
        self.flush()

    def _receive(self, data: bytes) -> None:
        """Read DATA, and requests that were held behind one another as long as it is this client's turn."""
        exchanges = self._exchanges
        exchanges.receive(data)
        turns = PIPELINED_TURNS
        while exchanges.wire.waiting and self._writable and turns:
            exchanges.receive(b"")
            turns -= 1
        if not turns:
            self._host.loop.call_soon(self.go_on)

    def _read_end(self, _: bytes) -> None:
        self._exchanges.handle(self._exchanges.wire.receive_eof())

    def _read_opening(self, data: bytes) -> None:
        """Tell by the first octets what is spoken here: TLS, HTTP/2 with prior knowledge, or HTTP/1."""
        data = self._opening + data
        if data[:1] == bytes([TLS_HANDSHAKE]) and self._host.contexts is not None:
            self._start_tls(self._host.contexts)
        elif data.startswith(HTTP2_PREFACE):
            self._speak(Http2Connection(self._via("http"), self._host.limits))
        elif HTTP2_PREFACE.startswith(data):
            self._opening = data
            return
        else:
            self._speak(Http1Connection(self._via("http"), self._host.limits))
        self._opening = b""
        self._read(data)

    def _via(self, scheme: str) -> Via:
        host, port = self._tunnel
        return Via(scheme, host, port, transparent=not host)

    def _speak(self, wire: Wire) -> None:
        tunnelled = bool(self._tunnel[0])
        self._exchanges = Exchanges(self._host, self, wire, tunnelled=tunnelled, user=self._user)
        self._read = self._read_http

    def _start_tls(self, contexts: Contexts) -> None:
        """Show the certificate of the host that the hello names, else of the CONNECT's, else of this address."""
        host, port = self._tunnel
        shown = host or str(self._transport.get_extra_info("sockname")[0]).partition("%")[0]

        def context_of(name: str) -> ssl.SSLContext:
            return contexts.context(name, self._host.service.protocols(name, port or 443))

        self._tls = TlsServer(context_of(shown), context_of)
        self._read = self._read_tls

    def _read_tls(self, data: bytes) -> None:
        tls = self._tls
        assert tls is not None
        fresh = not tls.established
        try:
            plain = tls.receive(data)
        except ssl.SSLError as error:
            self._tls_failed(tls, error)
            return
        if fresh:
            self._transport.write(tls.take())
            if tls.established:
                kind = Http2Connection if tls.protocol == "h2" else Http1Connection
                self._speak(kind(self._via("https"), self._host.limits))
                self._read = self._read_tls
        if plain:
            octets = self._exchanges.quick(plain)
            if octets and not tls.ended:
                tls.write(octets)
                self._transport.write(tls.take())
                return
            if octets is None:
                self._receive(plain)
        if tls.ended and not self._closed:
            self._read_end(b"")
        self.flush()

    def _tls_failed(self, tls: TlsServer, error: ssl.SSLError) -> None:
        if not tls.established:
            tls.shown = False
            self._refused((error.reason or str(error)).lower().replace("_", " "))
        self._transport.write(tls.take())  # our alert, if it is we who are not content
        self._tls = None
        self._close("close")

    def _refused(self, why: str) -> None:
        host, port = self._tunnel
        name = self._tls.name if self._tls is not None else ""
        self._host.service.pinned(host or name, port or 443, why)

    def _read_nothing(self, data: bytes) -> None:
        """What comes after the end is read, so that the client gets to read its last answer, and dropped."""

    # -- what the exchanges call --------------------------------------------------------------------

    def enter_tunnel(self, event: TunnelRequested) -> None:
        """The CONNECT is accepted; its first octets may be here already."""
        wire = self._exchanges.wire
        assert isinstance(wire, Http1Connection)
        behind = wire.accept_tunnel()
        self._transport.write(wire.take())
        self._tunnel = (event.host, event.port)
        self._user = event.user
        self._read = self._read_opening
        if behind:
            self._read(behind)

    def go_on(self) -> None:
        """Read what the wire has held back."""
        if not self._closed and self._exchanges.wire.waiting:
            self._guarded(self._receive, b"")

    def writable(self) -> bool:
        """Whether the client keeps up with what it is sent."""
        wire = self._exchanges.wire
        return self._writable and not (isinstance(wire, Http2Connection) and wire.backlog > BACKLOG_OCTETS)

    def flush(self) -> None:
        """Send what the wire holds, and close if it is at its end."""
        if self._closed:
            return
        wire = self._exchanges.wire
        if data := wire.take():
            self.active_at = self._now()
            if self._tls is not None:
                self._tls.write(data)
                data = self._tls.take()
            self._transport.write(data)
        if wire.closing:
            self._close(wire.closing)
        elif self._draining and not self._exchanges.busy:
            self._close("close")
        else:
            self._exchanges.unblock()
            self._hold_back(wire)

    def _hold_back(self, wire: Wire) -> None:
        """Stop reading from a client that asks for more than it takes, and go on once it has taken it.

        A client in the middle of an exchange is read on: it may have to end its request before it reads.
        """
        takes = self._writable or not isinstance(wire, Http1Connection) or not wire.idle
        welcome = takes and wire.reading and not wire.waiting
        if self._closed or welcome != self._pausing:
            return
        self._pausing = not self._pausing
        if self._pausing:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _close(self, kind: str) -> None:
        """Close once all is sent; "reset" as a connection that breaks, else in a way that loses no octet."""
        self._closed = True
        self._read = self._read_nothing
        self._exchanges.cancel()
        if kind == "reset":
            reset_when_sent(self._host.loop, self._transport)
            return
        if self._tls is not None:
            self._tls.close()
            self._transport.write(self._tls.take())
        if self._transport.is_closing():
            return
        if self._pausing:
            self._transport.resume_reading()
        self._transport.write_eof()
        # With octets unread a close resets the connection, and the client may lose its answer (RFC 9112 section 9.6).
        self._lingering = self._host.loop.call_later(LINGER_SECONDS, self._transport.close)
