"""The replay layer: a client's connection to mitmproxy, answered as the native host answers it.

Towards the client it uses the connections of `replayproxy.wire` and the exchanges of `replayproxy.replay`; TLS is
mitmproxy's layer (`ReplayTls`), with this layer inside. It never asks for a server, and passes on nobody's wish for
one. `engine.connection` is the same for the native host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mitmproxy.connection import ConnectionState, Server
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.tunnel import TunnelState
from OpenSSL import SSL

from replayproxy.mitm.client_socket import ClientSocket, Drained, Ending
from replayproxy.mitm.entrance import Entrance
from replayproxy.mitm.replay_tls import ReplayTls
from replayproxy.mitm.serving import Serving
from replayproxy.mitm.timers import Timers
from replayproxy.replay.answer import Service
from replayproxy.replay.closing import LINGER_SECONDS, reset_when_sent
from replayproxy.replay.delivery import BACKLOG_OCTETS, Wire
from replayproxy.replay.exchanges import Exchanges
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.timing import Timing
from replayproxy.wire.events import TunnelRequested
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.http2 import Http2Connection

TLS_HANDSHAKE = 0x16
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
PIPELINED_TURNS = 32
"""How many requests that came behind one another are answered before other clients have their turn."""
NOTHING_DIALLED = "a replay opens no connection"


class Setting:
    """What the exchanges of one layer are given: what all share, and the layer's own timers."""

    __slots__ = ("loop", "remembered", "service", "timing", "told")

    def __init__(self, serving: Serving, timers: Timers) -> None:
        self.service: Service = serving.service
        self.timing: Timing = serving.timing
        self.remembered: Remembered | None = serving.remembered
        self.told = serving.told
        self.loop = timers


class ReplayLayer(layer.Layer):
    """One client connection that came in by ENTRANCE; with SECURE the inside of its TLS."""

    def __init__(
        self, context: Context, serving: Serving, socket: ClientSocket, entrance: Entrance, *, secure: bool = False
    ) -> None:
        super().__init__(context)
        self._serving = serving
        self._socket = socket
        self._entrance = entrance
        self._secure = secure
        self._timers = Timers(serving.limits.idle_seconds / 2)
        self._commands: list[commands.Command] = []
        self._exchanges: Exchanges
        self._quick: Callable[[bytes], bytes | None] | None = None
        """What answers at once; None where octets are not those of HTTP, or have to wait for their turn."""
        self._read: Callable[[bytes], None] = self._read_nothing
        self._opening = b""
        self._unread: list[bytes] = []
        """Octets that came although none were welcome: mitmproxy had read them already."""
        self._tls: ReplayTls | None = None
        self._first = b""
        self._draining = False
        self._closed = False

    # -- what mitmproxy calls -----------------------------------------------------------------------

    def handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        """What EVENT asks for. This layer never waits for a command, so nothing is ever held up here."""
        quick = self._quick
        if quick is not None and type(event) is events.DataReceived:
            try:
                octets = quick(event.data)
            except Exception as error:  # noqa: BLE001 - whatever it is, the client must not be left hanging
                yield from self._break_off(error)
                return
            if octets:
                yield commands.SendData(self.context.client, octets)
                return
            if octets is not None:
                self.flush()
                yield from self._settle()
                return
        yield from self._handle_event(event)

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        try:
            if not self._timers.woken(event):
                if self._tls is not None:
                    yield from self._to_tls(self._tls, event)
                else:
                    self._happened(event)
            yield from self._settle()
            if self._first:
                yield from self._begin_tls()
        except Exception as error:  # noqa: BLE001 - as above; mitmproxy would log it and leave the client hanging
            yield from self._break_off(error)

    def _settle(self) -> layer.CommandGenerator[None]:
        """What has come of it: octets to send, closing, timers."""
        while self._commands or self._timers.wanted:
            due = [*self._commands, *self._timers.wanted]
            self._commands.clear()
            self._timers.wanted.clear()
            yield from due

    def _break_off(self, error: Exception) -> layer.CommandGenerator[None]:
        """One client's trouble is not the others', and never a reason to ask somebody else."""
        self._serving.told(error)
        self._shut()
        yield commands.CloseConnection(self.context.client)

    def _happened(self, event: events.Event) -> None:
        if isinstance(event, events.DataReceived):
            self._read(event.data)
        elif isinstance(event, events.ConnectionClosed):
            self._client_closed()
        elif isinstance(event, events.Start):
            self._start()
        elif isinstance(event, Drained):
            self._drained()
        elif isinstance(event, Ending):
            self._drain()

    def _start(self) -> None:
        if self._secure:
            h2 = self.context.client.alpn == b"h2"
            self._speak("https", Http2Connection if h2 else Http1Connection)
        elif self._entrance.looks:
            self._read = self._read_opening
        else:
            self._speak("http", Http1Connection)

    def _client_closed(self) -> None:
        """The client sends no more; unless it is lost, it is still sent what it waits for."""
        if self._closed or not self._speaking:
            self._hang_up()
        elif self._socket.lost or self.context.client.state is ConnectionState.CLOSED:
            self._exchanges.handle(self._exchanges.wire.receive_eof(lost=True))
            self._shut()
            self._hang_up()
        else:
            self._exchanges.handle(self._exchanges.wire.receive_eof())
            self.flush()

    def _drained(self) -> None:
        if not self._closed and self._speaking:
            self._exchanges.unblock()
            self.go_on()
            self._hold_back()

    def _drain(self) -> None:
        """Close once the exchanges that are open have ended; now if there are none."""
        if self._closed or not self._speaking:
            self._hang_up()
            return
        self._draining = True
        idle = not self._exchanges.busy
        wire = self._exchanges.wire
        if isinstance(wire, Http2Connection):
            wire.close()
        self.flush()
        if idle:
            self._shut()
            self._hang_up()

    # -- readers ------------------------------------------------------------------------------------

    def _read_http(self, data: bytes) -> None:
        if self._unread or not self._exchanges.wire.reading:
            self._unread.append(data)
            self._quick = None
        else:
            self._receive(data)
        self.flush()

    def _receive(self, data: bytes) -> None:
        """Read DATA, and what was held behind it as long as it is this client's turn."""
        exchanges = self._exchanges
        exchanges.receive(data)
        turns = PIPELINED_TURNS
        while turns and (exchanges.wire.waiting or self._unread) and self.writable():
            turns -= 1
            if exchanges.wire.waiting:
                exchanges.receive(b"")
            elif exchanges.wire.reading:
                exchanges.receive(self._unread.pop(0))
            else:
                return
        if not turns:
            self._timers.call_soon(self.go_on)
        elif self._speaking and not self._unread:
            self._quick = self._exchanges.quick

    def _read_opening(self, data: bytes) -> None:
        """Tell by the first octets what is spoken here: TLS, HTTP/2 with prior knowledge, or HTTP/1."""
        data = self._opening + data
        if data[:1] == bytes([TLS_HANDSHAKE]):
            self._first, self._opening = data, b""
            return
        if data.startswith(HTTP2_PREFACE):
            self._speak("http", Http2Connection)
        elif HTTP2_PREFACE.startswith(data):
            self._opening = data
            return
        else:
            self._speak("http", Http1Connection)
        self._opening = b""
        self._read(data)

    def _read_nothing(self, data: bytes) -> None:
        """What comes after the end is read, so that the client gets to read its last answer, and dropped."""

    @property
    def _speaking(self) -> bool:
        return self._read == self._read_http

    def _speak(self, spoken: str, kind: type[Http1Connection | Http2Connection]) -> None:
        entrance = self._entrance
        wire = kind(entrance.via(spoken), self._serving.limits)
        setting = Setting(self._serving, self._timers)
        self._exchanges = Exchanges(setting, self, wire, tunnelled=entrance.tunnelled, user=entrance.user)
        self._read = self._read_http
        self._quick = self._exchanges.quick

    # -- TLS ----------------------------------------------------------------------------------------

    def _begin_tls(self) -> layer.CommandGenerator[None]:
        """Put mitmproxy's TLS layer here, with another of ours inside, and give it what has come so far."""
        first, self._first = self._first, b""
        entrance = self._entrance
        context = self.context.fork()
        context.server = Server(address=(entrance.host, entrance.port) if entrance.host else None)  # it only has a name
        self._tls = ReplayTls(context, self._certificate, self._refused)
        self._tls.child_layer = ReplayLayer(context, self._serving, self._socket, entrance, secure=True)
        yield from self._to_tls(self._tls, events.Start())
        yield from self._to_tls(self._tls, events.DataReceived(self.context.client, first))

    def _to_tls(self, tls: ReplayTls, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, Ending) and tls.tunnel_state is TunnelState.ESTABLISHING:
            self._hang_up()
            return
        for command in tls.handle_event(event):
            if isinstance(command, commands.OpenConnection):
                # Another addon has asked mitmproxy to let this connection through.
                yield from self._to_tls(tls, events.OpenConnectionCompleted(command, NOTHING_DIALLED))
            else:
                yield command

    def _certificate(self, named: str | None) -> SSL.Connection:
        host, port = self._shown(named)
        return self._serving.contexts.connection(host, self._serving.service.protocols(host, port))

    def _refused(self, named: str | None, why: str) -> None:
        entrance = self._entrance
        host, port = self._shown(named)
        self._serving.service.pinned(entrance.host or named or host, port, why)

    def _shown(self, named: str | None) -> tuple[str, int]:
        here = self.context.client.sockname
        return self._entrance.shown(named, str(here[0]).partition("%")[0])

    # -- what the exchanges call --------------------------------------------------------------------

    def enter_tunnel(self, event: TunnelRequested) -> None:
        """The CONNECT is accepted; its first octets may be here already."""
        wire = self._exchanges.wire
        assert isinstance(wire, Http1Connection)
        behind = b"".join((wire.accept_tunnel(), *self._unread))
        self._unread.clear()
        self._commands.append(commands.SendData(self.context.client, wire.take()))
        self._entrance = Entrance(host=event.host, port=event.port, looks=True, tunnelled=True, user=event.user)
        self._read = self._read_opening
        self._quick = None
        if behind:
            self._read(behind)

    def go_on(self) -> None:
        """Read what has been held back."""
        if not self._closed and (self._exchanges.wire.waiting or self._unread):
            self._receive(b"")
            self.flush()

    def writable(self) -> bool:
        """Whether the client keeps up with what it is sent."""
        wire = self._exchanges.wire
        return not self._socket.full and not (isinstance(wire, Http2Connection) and wire.backlog > BACKLOG_OCTETS)

    def flush(self) -> None:
        """Send what the wire holds, and close if it is at its end."""
        if self._closed:
            return
        wire = self._exchanges.wire
        if data := wire.take():
            self._commands.append(commands.SendData(self.context.client, data))
        if wire.closing:
            self._close(wire.closing)
        elif self._draining and not self._exchanges.busy:
            self._close("close")
        else:
            self._exchanges.unblock()
            self._hold_back()

    def _hold_back(self) -> None:
        """Stop reading from a client that asks for more than it takes, and go on once it has taken it."""
        if self._closed:
            return
        wire: Wire = self._exchanges.wire
        takes = not isinstance(wire, Http1Connection) or not wire.idle or not self._socket.full
        self._socket.hold(not (takes and wire.reading and not wire.waiting and not self._unread))

    def _shut(self) -> None:
        """Nothing more is read or answered."""
        self._closed = True
        self._quick = None
        self._read = self._read_nothing
        self._unread.clear()
        if hasattr(self, "_exchanges"):
            self._exchanges.cancel()

    def _close(self, kind: str) -> None:
        """Close once all is sent; "reset" as a connection that breaks, else in a way that loses no octet."""
        self._shut()
        self._socket.hold(False)
        if kind == "reset" and (transport := self._socket.transport) is not None:
            self._timers.call_soon(partial(reset_when_sent, self._timers, transport))
            return
        self._commands.append(commands.CloseTcpConnection(self.context.client, half_close=True))
        # With octets unread a close resets the connection, and the client may lose its answer (RFC 9112 section 9.6).
        self._timers.call_later(LINGER_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        self._commands.append(commands.CloseConnection(self.context.client))


class ClosedLayer(layer.Layer):
    """A connection that is closed at once, WORD being all that the client is told."""

    def __init__(self, context: Context, word: bytes = b"") -> None:
        super().__init__(context)
        self._word = word
        self._over = False

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        client = self.context.client
        if isinstance(event, events.ConnectionClosed | events.Wakeup):
            yield commands.CloseConnection(client)
        elif not self._over:
            self._over = True
            if not self._word:
                yield commands.CloseConnection(client)
                return
            yield commands.SendData(client, self._word)
            yield commands.CloseTcpConnection(client, half_close=True)
            yield commands.RequestWakeup(LINGER_SECONDS)
