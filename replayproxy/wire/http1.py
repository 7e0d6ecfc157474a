"""An HTTP/1.0 and HTTP/1.1 server connection, sans-io: octets in, events and octets out (RFC 9112)."""

from __future__ import annotations

from typing import Literal

from replayproxy.core.exchange import Headers, Interim
from replayproxy.wire.answer import Framing, answer_head, chunk, framing_of, last_chunk
from replayproxy.wire.body import BodyReader, ChunkedBody, LengthBody
from replayproxy.wire.events import (
    Event,
    Rejected,
    RequestData,
    RequestEnded,
    RequestStarted,
    StreamGone,
    TunnelRequested,
    Via,
)
from replayproxy.wire.fault import ClientError, problem
from replayproxy.wire.head import HeadReader
from replayproxy.wire.limits import Limits
from replayproxy.wire.request import Meaning, meaning, trailer_fields
from replayproxy.wire.target import destination, tunnel_target

type Closing = Literal["", "close", "reset"]
type AbortKind = Literal["reset", "close", "truncate"]


class _Exchange:
    """One request and its answer, as far as both have come."""

    __slots__ = ("body", "expects", "framing", "keep_alive", "left", "method", "modern", "raw", "started", "stream")

    def __init__(self, stream: int, method: str, modern: bool) -> None:
        self.stream = stream
        self.method = method
        self.modern = modern
        self.keep_alive = False
        self.expects = False
        self.body: BodyReader | None = None
        """None once the request is whole."""
        self.started = False
        self.framing: Framing = "none"
        self.left = 0
        """Octets of the answer's body that its Content-Length still owes."""
        self.raw = False
        """Whether a 101 has made the connection a plain stream of octets (RFC 9110 section 15.2.2)."""


class Http1Connection:
    """The server side of one client connection.

    `receive` never raises, whatever octets arrive. One exchange is open at a time: what arrives behind a whole request
    is held until its answer has ended; then `waiting` is true and `receive(b"")` reads on. Calls that answer a stream
    which is no longer open do nothing, since the client may have gone meanwhile. `closing` says what the host is to
    do once the octets from `take` are sent; it is for the host to linger where the client may still be sending.
    """

    version = "HTTP/1"

    __slots__ = (
        "_count",
        "_exchange",
        "_half_closed",
        "_head",
        "_held",
        "_out",
        "_overrun",
        "closing",
        "limits",
        "via",
    )

    def __init__(self, via: Via, limits: Limits) -> None:
        self.limits = limits
        self.closing: Closing = ""
        self.via = via
        self._head = HeadReader(limits)
        self._held = bytearray()
        self._overrun = False
        self._half_closed = False
        self._count = 0
        self._exchange: _Exchange | None = None
        self._out: list[bytes] = []

    # --- octets in -----------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether `receive(b"")` would read on in octets that were held back."""
        return bool(self._held) and self._exchange is None and not self.closing

    @property
    def reading(self) -> bool:
        """Whether more octets are welcome: false where the host had better stop reading until an answer has ended."""
        return len(self._held) * 2 < self.limits.pipelined_octets

    @property
    def idle(self) -> bool:
        """Whether no exchange is open, no octet of the next request has arrived, and one may come."""
        return self._exchange is None and not (self._held or self._half_closed or self.closing or self._head.begun)

    def receive(self, data: bytes) -> list[Event]:
        """What the client did with these octets; nothing once the connection is closing."""
        events: list[Event] = []
        exchange = self._exchange
        if self._held and (exchange is None or exchange.raw):
            data = bytes(self._held) + data
            self._held.clear()
        try:
            while data and not self.closing:
                data = self._step(data, events)
        except ClientError as fault:
            self._reject(fault, events)
        return events

    def receive_eof(self, *, lost: bool = False) -> list[Event]:
        """The client will send nothing more; LOST where it cannot be sent anything either.

        A client that ends its side behind a whole request still gets its answer; then the connection closes.
        """
        self._half_closed = True
        exchange = self._exchange
        if exchange is None and self._held and not lost and not self.closing:
            return []
        if exchange is not None and exchange.body is None and not exchange.raw and not lost:
            return []
        self._exchange = None
        self._held.clear()
        self.closing = self.closing or "close"
        return [StreamGone(exchange.stream)] if exchange is not None else []

    def _step(self, data: bytes, events: list[Event]) -> bytes:
        """Reads some of DATA; the octets that are left."""
        exchange = self._exchange
        if exchange is None:
            rest = self._head.feed(data)
            if rest is None:
                self._close_if_half_closed()
                return b""
            self._begin(events)
            return rest
        if exchange.body is not None:
            return self._read_body(exchange, exchange.body, data, events)
        if exchange.raw:
            events.append(RequestData(exchange.stream, data))
        elif not self._overrun:
            self._hold(exchange, data)
        return b""

    def _hold(self, exchange: _Exchange, data: bytes) -> None:
        self._held += data
        if len(self._held) <= self.limits.pipelined_octets:
            return
        if exchange.method == "CONNECT":
            raise ClientError(400, "the client did not wait for the answer to CONNECT")
        # A client that pipelines must send again what was not answered (RFC 9112 section 9.3.2).
        self._held.clear()
        self._overrun = True
        exchange.keep_alive = False

    def _close_if_half_closed(self) -> None:
        if self._half_closed:
            self.closing = self.closing or "close"

    def _begin(self, events: list[Event]) -> None:
        head = self._head
        self._count += 1
        method = head.method.decode("ascii")
        exchange = self._exchange = _Exchange(self._count, method, head.version == "1.1")
        found = meaning(head.fields, head.version)
        target = head.target.decode("ascii")
        exchange.keep_alive = found.keep_alive
        if method == "CONNECT":
            events.append(self._tunnel_requested(target, found))
            return
        host = found.hosts[0] if found.hosts else None
        origin, target = destination(method, target, host, self.via)
        most = self.limits.body_octets
        if most is not None and found.length is not None and found.length > most:
            raise ClientError(413, f"the request body is longer than {most} octets")
        exchange.expects = found.expects
        if found.length != 0:
            exchange.body = ChunkedBody(self.limits) if found.length is None else LengthBody(found.length)
        events.append(
            RequestStarted(
                stream=exchange.stream,
                method=method,
                origin=origin,
                target=target,
                headers=found.headers,
                version=f"HTTP/{head.version}",
                has_body=exchange.body is not None,
                expects_continue=found.expects,
                user=None if self.via.host else found.user,
                upgrade=found.upgrade,
            )
        )
        if exchange.body is None:
            events.append(RequestEnded(exchange.stream))

    def _tunnel_requested(self, target: str, found: Meaning) -> TunnelRequested:
        if self.via.host:
            raise ClientError(400, "CONNECT is only for the proxy port")
        if found.length != 0:
            raise ClientError(400, "CONNECT cannot have a body")
        host, port = tunnel_target(target)
        return TunnelRequested(stream=self._count, host=host, port=port, user=found.user)

    def _read_body(self, exchange: _Exchange, body: BodyReader, data: bytes, events: list[Event]) -> bytes:
        pieces: list[bytes] = []
        try:
            rest = body.feed(data, pieces)
        finally:
            if pieces:
                events.append(RequestData(exchange.stream, b"".join(pieces)))
        if rest is None:
            self._close_if_half_closed()
            return b""
        exchange.body = None
        events.append(RequestEnded(exchange.stream, trailer_fields(body.trailers)))
        return rest

    def _reject(self, fault: ClientError, events: list[Event]) -> None:
        """Answers FAULT if nothing of an answer has been sent, and closes."""
        exchange = self._exchange
        if exchange is not None and exchange.body is not None:
            events.append(StreamGone(exchange.stream))
        started = exchange is not None and exchange.started
        if not started:
            reason, headers, body = problem(fault)
            framing: Framing = "none" if exchange is not None and exchange.method == "HEAD" else "length"
            self._out.append(answer_head(fault.status, reason, headers, framing, len(body), "close"))
            if framing == "length":
                self._out.append(body)
        self._exchange = None
        self.closing = "close"
        events.append(Rejected(0 if started else fault.status, fault.why))

    def reopen(self, method: str, version: str) -> int:
        """An exchange is open as if a whole request of METHOD and VERSION, known from before, was read; its stream.

        Only while the connection is `idle`, for a request that keeps the connection alive.
        """
        self._count += 1
        exchange = self._exchange = _Exchange(self._count, method, version == "HTTP/1.1")
        exchange.keep_alive = True
        return self._count

    # --- octets out ----------------------------------------------------------------------------------------------

    def take(self) -> bytes:
        """The octets to send now; they are given once."""
        out = self._out
        if len(out) == 1:
            return out.pop()
        data = b"".join(out)
        out.clear()
        return data

    def peek(self) -> bytes:
        """The octets that `take` will give."""
        return b"".join(self._out)

    def _open(self, stream: int) -> _Exchange | None:
        exchange = self._exchange
        return exchange if exchange is not None and exchange.stream == stream and not self.closing else None

    def accept_tunnel(self) -> bytes:
        """Answers the CONNECT with 200; the octets that arrived behind it, the first of the tunnel.

        The connection is at its end then: the octets of the tunnel are for another one.
        """
        exchange = self._exchange
        if exchange is None or exchange.method != "CONNECT":
            raise RuntimeError("no CONNECT waits for an answer")
        self._out.append(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self._exchange = None
        behind = bytes(self._held)
        self._held.clear()
        return behind

    def interim(self, stream: int, answer: Interim) -> None:
        """Sends a 1xx answer, other than 101; a 100 only where it is waited for, none to HTTP/1.0 (RFC 9110 15.2)."""
        exchange = self._open(stream)
        if exchange is None or exchange.started or not exchange.modern:
            return
        if answer.status == 100:
            if not exchange.expects or exchange.body is None:
                return
            exchange.expects = False
        self._out.append(answer_head(answer.status, answer.reason, answer.headers, "none", None, ""))

    def start(self, stream: int, status: int, reason: str, headers: Headers, *, length: int | None) -> None:
        """Sends the head of the final answer; LENGTH is that of the body, None if it is not known or has trailers.

        A status 101 makes the connection a plain stream of octets. Raises ValueError, with nothing sent, for a head
        that cannot be sent.
        """
        exchange = self._open(stream)
        if exchange is None:
            return
        if exchange.started:
            raise RuntimeError("the answer has been started")
        framing = framing_of(exchange.method, status, length, exchange.modern)
        switching = status == 101
        keep_alive = exchange.keep_alive and exchange.body is None and framing != "close" and not self._last(exchange)
        connection = "Upgrade" if switching else _persistence(keep_alive, exchange.modern)
        self._out.append(answer_head(status, reason, headers, framing, length, connection))
        exchange.started = True
        exchange.framing = "close" if switching else framing
        exchange.keep_alive = keep_alive and not switching
        exchange.left = length or 0
        exchange.raw = switching

    def _last(self, exchange: _Exchange) -> bool:
        """Whether no further request can be read: none will come, or what came behind a CONNECT is no request."""
        return bool(self._held) if exchange.method == "CONNECT" else self._half_closed and not self._held

    def data(self, stream: int, octets: bytes) -> None:
        """Sends a piece of the body, as one chunk if chunks are what delimits it.

        Raises ValueError for more octets than the length that was started with.
        """
        exchange = self._open(stream)
        if exchange is None or not octets:
            return
        if not exchange.started:
            raise RuntimeError("the answer has not been started")
        if exchange.framing == "chunked":
            self._out.append(chunk(octets))
        elif exchange.framing == "length":
            if len(octets) > exchange.left:
                raise ValueError("the body is longer than its length")
            exchange.left -= len(octets)
            self._out.append(octets)
        elif exchange.framing == "close":
            self._out.append(octets)

    def end(self, stream: int, trailers: Headers = ()) -> None:
        """Ends the answer; the next request is read by `receive(b"")` if it is `waiting`.

        A body shorter than its length ends as a truncated one does: the connection closes.
        """
        exchange = self._open(stream)
        if exchange is None:
            return
        if not exchange.started:
            raise RuntimeError("the answer has not been started")
        if exchange.framing == "chunked":
            self._out.append(last_chunk(trailers))
        short = exchange.framing == "length" and exchange.left > 0
        self._finish(exchange, keep_alive=exchange.keep_alive and not short)

    def respond(self, stream: int, status: int, reason: str, headers: Headers, body: bytes) -> None:
        """Sends a whole answer."""
        self.start(stream, status, reason, headers, length=len(body))
        self.data(stream, body)
        self.end(stream)

    def abort(self, stream: int, kind: AbortKind) -> None:
        """Ends the exchange as a fault does: nothing more is sent, then the connection is closed or reset."""
        exchange = self._open(stream)
        if exchange is None:
            return
        self._exchange = None
        self._held.clear()
        self.closing = "reset" if kind == "reset" else "close"

    def _finish(self, exchange: _Exchange, keep_alive: bool) -> None:
        self._exchange = None
        if not keep_alive or exchange.body is not None or self._last(exchange):
            self._held.clear()
            self.closing = "close"


def _persistence(keep_alive: bool, modern: bool) -> str:
    """The Connection field that must be said (RFC 9112 section 9.3)."""
    if modern:
        return "" if keep_alive else "close"
    return "keep-alive" if keep_alive else ""
