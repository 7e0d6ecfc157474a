"""An HTTP/2 client connection, sans-io: many exchanges at once, answers as they came (RFC 9113)."""

from __future__ import annotations

import h2.errors
import h2.events

from replayproxy.core.exchange import FaultKind, Headers, Origin, header
from replayproxy.core.exchange import Interim as InterimAnswer
from replayproxy.wire import names
from replayproxy.wire.answer import framing_of
from replayproxy.wire.frames import BrokenConnection, Framed, Outgoing, RawHeaders, field_lines, pump, text
from replayproxy.wire.target import host_for
from replayproxy.wire.upstream import Broken, Data, End, Head, Interim, UpstreamEvent

LONGEST_HEAD = 262_144
"""Octets of an answer's fields, decoded."""


class _Exchange:
    """One request and its answer, as far as both have come."""

    __slots__ = ("answered", "method", "out", "sent")

    def __init__(self, method: str) -> None:
        self.method = method
        self.out = Outgoing()
        self.sent = False
        """Whether the request is sent, its end included."""
        self.answered = False


class Upstream2:
    """The client side of one connection to an upstream; see `Upstream1`.

    A Host field is sent as `:authority`. Octets that the windows do not allow yet are kept: `backlog` counts them.
    """

    version = "HTTP/2"

    def __init__(self) -> None:
        self._h2 = Framed(client_side=True, streams=0, header_octets=LONGEST_HEAD)
        self._exchanges: dict[int, _Exchange] = {}
        self._spoilt = False

    @property
    def reusable(self) -> bool:
        """Whether a request can be sent now: the upstream takes one more exchange."""
        most = self._h2.remote_settings.max_concurrent_streams
        return not self._spoilt and len(self._exchanges) < most and self._h2.highest_outbound_stream_id < 2**31 - 3

    @property
    def idle(self) -> bool:
        """Whether no exchange is open."""
        return not self._exchanges

    @property
    def backlog(self) -> int:
        """Octets of requests that wait for the upstream's windows."""
        return sum(len(piece) for exchange in self._exchanges.values() for piece in exchange.out.pieces)

    def take(self) -> bytes:
        """The octets to send now; they are given once."""
        for stream in [stream for stream, exchange in self._exchanges.items() if exchange.out.head is not None]:
            self._pump(stream)
        data: bytes = self._h2.data_to_send()
        return data

    def send_head(
        self,
        method: str,
        origin: Origin,
        target: str,
        headers: Headers,
        *,
        length: int | None = 0,
        expects_continue: bool = False,
        upgrade: str = "",
    ) -> int:
        """Sends a request's head; the handle of the exchange. See `Upstream1.send_head`.

        UPGRADE has no place in HTTP/2.
        """
        del upgrade
        if not self.reusable:
            raise RuntimeError("the upstream takes no further exchange on this connection")
        fields = field_lines(_sendable(headers, length))
        if expects_continue:
            fields.append((b"expect", b"100-continue"))
        if not names.TOKEN.fullmatch(method) or not target.isprintable() or " " in target or not target.isascii():
            raise ValueError("the method or the target cannot be sent")
        for other in [number for number, open_ in self._exchanges.items() if open_.out.head is not None]:
            self._pump(other)  # a stream takes its number when its head is sent, so only one head can wait
        stream: int = self._h2.get_next_available_stream_id()
        exchange = self._exchanges[stream] = _Exchange(method)
        exchange.out.ended = length == 0
        exchange.out.head = [
            (b":method", method.encode("ascii")),
            (b":scheme", origin.scheme.encode("ascii")),
            (b":authority", host_for(origin, header(headers, "host") or "").encode("latin-1")),
            (b":path", target.encode("ascii")),
            *fields,
        ]
        return stream

    def send_body(self, stream: int, data: bytes) -> None:
        """Sends a piece of the body, or keeps it until the windows open."""
        exchange = self._exchanges.get(stream)
        if exchange is not None and not exchange.out.ended:
            exchange.out.put(data)
            self._pump(stream)

    def send_end(self, stream: int, trailers: Headers = ()) -> None:
        """Ends the request once its body is sent."""
        exchange = self._exchanges.get(stream)
        if exchange is not None and not exchange.out.ended:
            exchange.out.trailers = field_lines(tuple(f for f in trailers if not names.answer_name(f[0])))
            exchange.out.ended = True
            self._pump(stream)

    def reset(self, stream: int) -> None:
        """Gives one exchange up; the others go on."""
        exchange = self._exchanges.pop(stream, None)
        if exchange is not None and exchange.out.head is None and not self._spoilt:
            self._h2.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)

    def receive(self, data: bytes) -> list[UpstreamEvent]:
        """What the upstream answered."""
        events: list[UpstreamEvent] = []
        try:
            for event in self._h2.events_in(data):
                events.extend(self._told(event))
        except BrokenConnection as broken:
            events.extend(self._all_broken(broken.why))
        return events

    def receive_eof(self) -> list[UpstreamEvent]:
        """The upstream will send nothing more."""
        return self._all_broken("the upstream closed the connection")

    def _all_broken(self, why: str) -> list[UpstreamEvent]:
        self._spoilt = True
        broken: list[UpstreamEvent] = [
            Broken(stream, _kind(exchange), why) for stream, exchange in self._exchanges.items()
        ]
        self._exchanges.clear()
        return broken

    def _told(self, event: h2.events.Event) -> list[UpstreamEvent]:
        if isinstance(event, (h2.events.WindowUpdated, h2.events.RemoteSettingsChanged)):
            for number in list(self._exchanges):
                self._pump(number)
        elif isinstance(event, h2.events.ConnectionTerminated):
            return self._on_goaway(event)
        elif isinstance(event, h2.events.DataReceived):
            self._h2.acknowledge(event)
        stream = getattr(event, "stream_id", None)
        exchange = self._exchanges.get(stream) if stream else None
        return self._of_exchange(stream, exchange, event) if stream and exchange is not None else []

    def _of_exchange(self, stream: int, exchange: _Exchange, event: h2.events.Event) -> list[UpstreamEvent]:
        match event:
            case h2.events.InformationalResponseReceived():
                status, fields = _status(event.headers), text(event.headers)
                return [Interim(stream, InterimAnswer(status=status, headers=fields))]
            case h2.events.ResponseReceived():
                exchange.answered = True
                return [self._head(stream, exchange, event)]
            case h2.events.DataReceived() if event.data:
                return [Data(stream, bytes(event.data))]
            case h2.events.TrailersReceived():
                return self._on_end(stream, exchange, text(event.headers))
            case h2.events.StreamEnded():
                return self._on_end(stream, exchange, ())
            case h2.events.StreamReset():
                del self._exchanges[stream]
                why = f"the upstream reset the stream with {_code(event.error_code)}"
                return [Broken(stream, "reset", why)]
        return []

    def _head(self, stream: int, exchange: _Exchange, event: h2.events.ResponseReceived) -> Head:
        status, fields = _status(event.headers), text(event.headers)
        framing = framing_of(exchange.method, status, 0 if header(fields, "content-length") else None, modern=True)
        return Head(stream=stream, status=status, reason="", headers=fields, version="HTTP/2", framing=framing)

    def _on_end(self, stream: int, exchange: _Exchange, trailers: Headers) -> list[UpstreamEvent]:
        del self._exchanges[stream]
        if not exchange.sent and exchange.out.head is None:
            # The answer did not need the rest of the request (RFC 9113 section 8.1).
            self._h2.reset_stream(stream, h2.errors.ErrorCodes.NO_ERROR)
        return [End(stream, trailers)]

    def _on_goaway(self, event: h2.events.ConnectionTerminated) -> list[UpstreamEvent]:
        """Streams above the last one that the upstream takes are broken, the others go on (RFC 9113 6.8)."""
        self._h2.go_on()
        self._spoilt = True
        last = event.last_stream_id or 0
        why = f"the upstream sent GOAWAY with {_code(event.error_code)}"
        lost = [stream for stream in self._exchanges if stream > last]
        return [Broken(stream, _kind(self._exchanges.pop(stream)), why) for stream in lost]

    def _pump(self, stream: int) -> None:
        exchange = self._exchanges[stream]
        if not exchange.sent:
            exchange.sent = pump(self._h2, stream, exchange.out)


def _sendable(headers: Headers, length: int | None) -> Headers:
    """The fields of a request that HTTP/2 can send (RFC 9113 section 8.2.2), without Host."""
    kept = []
    for name, value in headers:
        kind = names.request_name(name.encode("latin-1"))[1]
        trailers = name.lower() == "te" and value.strip().lower() == "trailers"
        if kind == names.END_TO_END or trailers or (kind == names.LENGTH and length is not None):
            kept.append((name, str(length) if kind == names.LENGTH and length else value))
    return tuple(kept)


def _status(headers: RawHeaders) -> int:
    status = next((value for name, value in headers if name == b":status"), b"")
    if len(status) != 3 or not status.isdigit():
        raise BrokenConnection("the upstream sent no valid status")
    return int(status)


def _code(code: h2.errors.ErrorCodes | int | None) -> str:
    return code.name if isinstance(code, h2.errors.ErrorCodes) else str(code)


def _kind(exchange: _Exchange) -> FaultKind:
    """The fault of an exchange that the connection's end breaks off."""
    return "truncated" if exchange.answered else "closed"
