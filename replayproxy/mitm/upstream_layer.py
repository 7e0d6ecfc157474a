"""One connection to an upstream, as a mitmproxy layer above TLS.

The layer opens its connection with the first exchange, finds out from ALPN what is spoken, and turns octets into
`UpstreamEvent`s, which it hands to its parent inside `Answered` commands. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mitmproxy.connection import ConnectionState, Server
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context

from replayproxy.core.exchange import Headers
from replayproxy.mitm.exchange import Exchange
from replayproxy.wire.upstream import Broken, End, UpstreamEvent
from replayproxy.wire.upstream1 import Upstream1
from replayproxy.wire.upstream2 import Upstream2


@dataclass
class SendHead(events.Event):
    """Send the head of EXCHANGE's request; `length` is its body's, None if that goes in chunks."""

    exchange: Exchange
    length: int | None


@dataclass
class SendBody(events.Event):
    """Send more of the request's body."""

    exchange: Exchange
    data: bytes


@dataclass
class SendEnd(events.Event):
    """The request's body is whole."""

    exchange: Exchange
    trailers: Headers = ()


@dataclass
class Cancel(events.Event):
    """The client has left; the answer is not wanted any more."""

    exchange: Exchange


class Answered(commands.Command):
    """What came back for EXCHANGES, in order, from one read."""

    def __init__(self, upstream: UpstreamLayer, answers: list[tuple[Exchange, UpstreamEvent]]) -> None:
        self.upstream = upstream
        self.answers = answers


class ConnectFailed(commands.Command):
    """No connection could be made for EXCHANGE; `why` is mitmproxy's text for it."""

    def __init__(self, upstream: UpstreamLayer, exchange: Exchange, why: str) -> None:
        self.upstream = upstream
        self.exchange = exchange
        self.why = why


class UpstreamLayer(layer.Layer):
    """See the module. `was_reset` tells whether a connection that ended was reset by its peer."""

    def __init__(self, context: Context, was_reset: Callable[[Server], bool]) -> None:
        super().__init__(context)
        self._was_reset = was_reset
        self._http: Upstream1 | Upstream2 | None = None
        self._exchanges: dict[int, Exchange] = {}
        self._streams: dict[Exchange, int] = {}
        self._claims: set[Exchange] = set()
        self._served = 0
        self._failed = False

    def claim(self, exchange: Exchange) -> None:
        """EXCHANGE will be sent here; until it ends an HTTP/1 connection is not to be had for another."""
        self._claims.add(exchange)

    @property
    def opening(self) -> bool:
        """Whether it is not yet known what this connection speaks."""
        return self._http is None and not self._failed

    @property
    def usable(self) -> bool:
        """Whether another exchange may be sent on this connection now."""
        if self._failed or self._http is None:
            return False
        live = self.context.server.state is ConnectionState.OPEN and self._http.reusable
        return live and (isinstance(self._http, Upstream2) or not self._claims)

    @property
    def closed(self) -> bool:
        """Whether nothing more will come of this connection."""
        return self._failed or (self._http is not None and not self._claims and not self.usable)

    @property
    def reused(self) -> bool:
        """Whether the exchange under way is not the connection's first, so that its end may be idleness."""
        return self._served > 1

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        match event:
            case SendHead():
                yield from self._send_head(event)
            case SendBody():
                yield from self._with_stream(event.exchange, lambda http, stream: http.send_body(stream, event.data))
            case SendEnd():
                yield from self._with_stream(event.exchange, lambda http, stream: http.send_end(stream, event.trailers))
            case Cancel():
                yield from self._cancel(event.exchange)
            case events.DataReceived():
                assert self._http is not None
                yield from self._pass_on(self._http.receive(event.data))
            case events.ConnectionClosed():
                yield from self._ended()

    def _send_head(self, event: SendHead) -> layer.CommandGenerator[None]:
        if self._http is None:
            error = yield commands.OpenConnection(self.context.server)
            if error:
                self._failed = True
                self._claims.clear()
                yield ConnectFailed(self, event.exchange, error)
                return
            self._http = Upstream2() if self.context.server.alpn == b"h2" else Upstream1()
        head = event.exchange.head
        stream = self._http.send_head(
            head.method,
            head.origin,
            head.target,
            head.headers,
            length=event.length,
            expects_continue=head.expects_continue,
        )
        self._served += 1
        self._exchanges[stream] = event.exchange
        self._streams[event.exchange] = stream
        yield from self._flush()

    def _with_stream(
        self, exchange: Exchange, send: Callable[[Upstream1 | Upstream2, int], None]
    ) -> layer.CommandGenerator[None]:
        """Send for EXCHANGE, unless its answer is over already, when the rest of its request goes nowhere."""
        stream = self._streams.get(exchange)
        if stream is not None and self._http is not None:
            send(self._http, stream)
            yield from self._flush()

    def _cancel(self, exchange: Exchange) -> layer.CommandGenerator[None]:
        stream = self._streams.pop(exchange, None)
        self._claims.discard(exchange)
        if stream is None or self._http is None:
            return
        self._exchanges.pop(stream, None)
        self._http.reset(stream)
        yield from self._flush()
        yield from self._close_if_spent()

    def _ended(self) -> layer.CommandGenerator[None]:
        if self._http is not None:
            answers = self._http.receive_eof()
            if self._was_reset(self.context.server):
                answers = [replace(one, kind="reset") if isinstance(one, Broken) else one for one in answers]
            yield from self._pass_on(answers)
        self._failed = True
        if self.context.server.state is not ConnectionState.CLOSED:
            yield commands.CloseConnection(self.context.server)

    def _pass_on(self, answers: list[UpstreamEvent]) -> layer.CommandGenerator[None]:
        found = []
        for answer in answers:
            exchange = self._exchanges.get(answer.stream)
            if exchange is None:
                continue
            found.append((exchange, answer))
            if isinstance(answer, End | Broken):
                del self._exchanges[answer.stream], self._streams[exchange]
                self._claims.discard(exchange)
        yield from self._flush()
        if found:
            yield Answered(self, found)
        yield from self._close_if_spent()

    def _close_if_spent(self) -> layer.CommandGenerator[None]:
        if self._http is not None and not self._http.reusable and not self._claims and not self._failed:
            self._failed = True
            yield commands.CloseConnection(self.context.server)

    def _flush(self) -> layer.CommandGenerator[None]:
        assert self._http is not None
        if octets := self._http.take():
            yield commands.SendData(self.context.server, octets)
