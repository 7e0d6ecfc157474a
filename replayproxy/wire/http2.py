"""An HTTP/2 server connection, sans-io: octets in, events and octets out (RFC 9113)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import h2.errors
import h2.events

from replayproxy.core.exchange import Headers, Interim
from replayproxy.wire import names
from replayproxy.wire.answer import framing_of
from replayproxy.wire.events import (
    Event,
    Rejected,
    RequestData,
    RequestEnded,
    StreamGone,
    Via,
)
from replayproxy.wire.fault import ClientError, problem
from replayproxy.wire.frames import BrokenConnection, Framed, Outgoing, RawHeaders, field_lines, pump, text
from replayproxy.wire.http1 import AbortKind, Closing
from replayproxy.wire.limits import Limits
from replayproxy.wire.request2 import kept, request


class _Exchange:
    """One request and its answer, as far as both have come."""

    __slots__ = ("expects", "left", "method", "out", "received", "started", "whole", "without_body")

    def __init__(self, method: str) -> None:
        self.method = method
        self.expects = False
        self.whole = False
        """Whether the request has ended."""
        self.received = 0
        self.started = False
        self.without_body = False
        self.left: int | None = None
        """Octets of the answer's body that its length still owes, None where that is not known."""
        self.out = Outgoing()


class Http2Connection:
    """The server side of one client connection with many exchanges at once; see `Http1Connection`.

    `:authority` is told as the first field, `Host`, so that a request looks alike in both versions; other names are
    lower case as they came. `TE` is kept, which gRPC asks for.
    """

    version = "HTTP/2"

    def __init__(self, via: Via, limits: Limits) -> None:
        self.limits = limits
        self.closing: Closing = ""
        self._via = via
        self._h2 = Framed(client_side=False, streams=limits.streams, header_octets=limits.head_octets)
        self._exchanges: dict[int, _Exchange] = {}
        self._leaving = False
        self._nuisance = 0
        """Frames that asked for nothing, less the frames with data and the answers that ended."""
        self._on: dict[type, Callable[[Any, list[Event]], None]] = {
            h2.events.RequestReceived: self._on_request,
            h2.events.DataReceived: self._on_data,
            h2.events.TrailersReceived: self._on_trailers,
            h2.events.StreamEnded: self._on_end,
            h2.events.StreamReset: self._on_reset,
            h2.events.WindowUpdated: self._on_windows,
            h2.events.RemoteSettingsChanged: self._on_windows,
            h2.events.ConnectionTerminated: self._on_goaway,
        }

    # --- octets in ---------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Never: nothing is held back."""
        return False

    @property
    def reading(self) -> bool:
        """Always: the windows bound what the client may send."""
        return True

    @property
    def idle(self) -> bool:
        """Whether no exchange is open."""
        return not self._exchanges and not self._h2.partial

    @property
    def backlog(self) -> int:
        """Octets of answers that wait for the client's windows."""
        return sum(len(piece) for exchange in self._exchanges.values() for piece in exchange.out.pieces)

    def receive(self, data: bytes) -> list[Event]:
        """What the client did with these octets; nothing once the connection is closing."""
        events: list[Event] = []
        try:
            if not self.closing:
                self._read(data, events)
        except BrokenConnection as broken:
            self._fall(broken.why, events)
        self._close_if_done()
        return events

    def _read(self, data: bytes, events: list[Event]) -> None:
        for event in self._h2.events_in(data):
            handle = self._on.get(type(event))
            if handle is not None:
                handle(event, events)
            if type(event) in _NUISANCES:
                self._count_nuisance()

    def receive_eof(self, *, lost: bool = False) -> list[Event]:
        """The client is gone; what it had asked for is given up."""
        del lost  # HTTP/2 has no use for a connection that is open on one side only
        gone: list[Event] = [StreamGone(stream) for stream, open_ in self._exchanges.items() if not open_.out.ended]
        self._exchanges.clear()
        self.closing = self.closing or "close"
        return gone

    def _fall(self, why: str, events: list[Event]) -> None:
        events.extend(self.receive_eof())
        events.append(Rejected(0, why))

    def _count_nuisance(self) -> None:
        self._nuisance += 1
        if self._nuisance > self.limits.control_frames:
            self._h2.terminate(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
            raise BrokenConnection("the client sends frames that ask for nothing")

    def _progress(self) -> None:
        self._nuisance = max(0, self._nuisance - 1)

    def _on_request(self, event: h2.events.RequestReceived, events: list[Event]) -> None:
        stream = event.stream_id
        raw: RawHeaders = event.headers
        method = next((value for name, value in raw if name == b":method"), b"").decode("latin-1")
        exchange = self._exchanges[stream] = _Exchange(method)
        if self._leaving:
            self._drop(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        try:
            started = request(stream, raw, self._via, self.limits, has_body=event.stream_ended is None)
        except ClientError as error:
            exchange.whole = event.stream_ended is not None
            self._reject(stream, error, events)
            return
        exchange.expects = started.expects_continue
        events.append(started)

    def _on_data(self, event: h2.events.DataReceived, events: list[Event]) -> None:
        self._h2.acknowledge(event)
        exchange = self._exchanges.get(event.stream_id)
        if event.data:
            self._progress()
        elif event.stream_ended is None:
            self._count_nuisance()
        if exchange is None or not event.data:
            return
        exchange.received += len(event.data)
        most = self.limits.body_octets
        if most is not None and exchange.received > most:
            exchange.whole = event.stream_ended is not None
            events.append(StreamGone(event.stream_id))
            error = ClientError(413, f"the request body is longer than {most} octets")
            self._reject(event.stream_id, error, events)
            return
        events.append(RequestData(event.stream_id, bytes(event.data)))

    def _on_trailers(self, event: h2.events.TrailersReceived, events: list[Event]) -> None:
        if event.stream_id in self._exchanges:
            self._whole(event.stream_id, tuple(f for f in text(event.headers) if kept(f[0])), events)

    def _on_end(self, event: h2.events.StreamEnded, events: list[Event]) -> None:
        if event.stream_id in self._exchanges:
            self._whole(event.stream_id, (), events)

    def _whole(self, stream: int, trailers: Headers, events: list[Event]) -> None:
        exchange = self._exchanges[stream]
        if not exchange.whole:
            exchange.whole = True
            events.append(RequestEnded(stream, trailers))

    def _on_reset(self, event: h2.events.StreamReset, events: list[Event]) -> None:
        exchange = self._exchanges.pop(event.stream_id, None)
        if exchange is not None and event.remote_reset:
            if not exchange.out.ended:
                events.append(StreamGone(event.stream_id))
            self._count_nuisance()

    def _on_windows(self, _event: h2.events.Event, _events: list[Event]) -> None:
        """A WINDOW_UPDATE, or SETTINGS_INITIAL_WINDOW_SIZE, which moves the windows of all streams."""
        for stream in list(self._exchanges):
            self._pump(stream)

    def _on_goaway(self, _event: h2.events.ConnectionTerminated, _events: list[Event]) -> None:
        self._h2.go_on()
        self._leaving = True

    # --- octets out --------------------------------------------------------------------------------------

    def take(self) -> bytes:
        """The octets to send now; they are given once."""
        for stream in [stream for stream, exchange in self._exchanges.items() if exchange.out.head is not None]:
            self._pump(stream)
        data: bytes = self._h2.data_to_send()
        return data

    def accept_tunnel(self) -> bytes:
        """Raises RuntimeError: a CONNECT inside a connection that was tunnelled is answered here."""
        raise RuntimeError("no CONNECT waits for an answer")

    def interim(self, stream: int, answer: Interim) -> None:
        """Sends a 1xx answer, a 100 only where it is waited for; never 101, which HTTP/2 does not have."""
        exchange = self._exchanges.get(stream)
        if exchange is None or exchange.started or self.closing or answer.status == 101:
            return
        if answer.status == 100:
            if not exchange.expects or exchange.whole:
                return
            exchange.expects = False
        fields = field_lines(_end_to_end(answer.headers))
        self._h2.send_headers(stream, [(b":status", b"%d" % answer.status), *fields])

    def start(self, stream: int, status: int, reason: str, headers: Headers, *, length: int | None) -> None:
        """Sends the head of the final answer; LENGTH is that of the body, None if it is not known or has trailers.

        Content-Length is restated where HEADERS have one and LENGTH is known. The reason has no place in HTTP/2.
        Raises ValueError, with nothing sent, for a head that cannot be sent.
        """
        del reason
        exchange = self._exchanges.get(stream)
        if exchange is None or self.closing:
            return
        if exchange.started:
            raise RuntimeError("the answer has been started")
        if not 200 <= status <= 999:
            raise ValueError(f"not a status that HTTP/2 can send: {status}")
        framing = framing_of(exchange.method, status, length, modern=True)
        fields = field_lines(_framed(headers, length, verbatim=framing == "none" and status != 204))
        exchange.started = True
        exchange.without_body = framing == "none"
        exchange.left = length
        exchange.out.head = [(b":status", b"%d" % status), *fields]

    def data(self, stream: int, octets: bytes) -> None:
        """Sends a piece of the body as DATA of its own, or keeps it until the windows open.

        Raises ValueError for more octets than the length that was started with.
        """
        exchange = self._exchanges.get(stream)
        if exchange is None or self.closing or not octets or exchange.out.ended:
            return
        if not exchange.started:
            raise RuntimeError("the answer has not been started")
        if exchange.without_body:
            return
        if exchange.left is not None:
            if len(octets) > exchange.left:
                raise ValueError("the body is longer than its length")
            exchange.left -= len(octets)
        exchange.out.put(octets)
        self._progress()
        self._pump(stream)

    def end(self, stream: int, trailers: Headers = ()) -> None:
        """Ends the answer once its body is sent; one shorter than its length ends as a truncated one does."""
        exchange = self._exchanges.get(stream)
        if exchange is None or self.closing or exchange.out.ended:
            return
        if not exchange.started:
            raise RuntimeError("the answer has not been started")
        if exchange.left and not exchange.without_body:
            self.abort(stream, "truncate")
            return
        if not exchange.without_body:
            exchange.out.trailers = field_lines(_end_to_end(trailers))
        exchange.out.ended = True
        self._progress()
        self._pump(stream)
        self._close_if_done()

    def respond(self, stream: int, status: int, reason: str, headers: Headers, body: bytes) -> None:
        """Sends a whole answer."""
        exchange = self._exchanges.get(stream)
        self.start(stream, status, reason, headers, length=len(body))
        if exchange is None or not exchange.started or self.closing:
            return
        if not exchange.without_body:
            exchange.out.put(body)
        exchange.left = 0
        self.end(stream)

    def abort(self, stream: int, kind: AbortKind) -> None:
        """Ends the exchange as a fault does: the stream is reset behind what was sent; the others go on."""
        del kind  # a stream has one way to break off
        exchange = self._exchanges.get(stream)
        if exchange is not None and not self.closing:
            exchange.out.ended = True
            exchange.out.reset = h2.errors.ErrorCodes.INTERNAL_ERROR
            self._pump(stream)
            self._close_if_done()

    def close(self) -> None:
        """Tells the client to ask for nothing more; the connection closes when the open exchanges have ended."""
        if not self.closing and not self._leaving:
            self._leaving = True
            self._h2.terminate(h2.errors.ErrorCodes.NO_ERROR)
            self._h2.go_on()
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._leaving and not self._exchanges:
            self.closing = self.closing or "close"

    def _reject(self, stream: int, error: ClientError, events: list[Event]) -> None:
        """Answers ERROR on its stream if no answer has begun; the other streams go on."""
        exchange = self._exchanges[stream]
        if exchange.started:
            events.append(Rejected(0, error.why))
            self._drop(stream, h2.errors.ErrorCodes.CANCEL)
            return
        reason, headers, body = problem(error)
        self.respond(stream, error.status, reason, headers, body)
        events.append(Rejected(error.status, error.why))

    def _drop(self, stream: int, code: h2.errors.ErrorCodes) -> None:
        del self._exchanges[stream]
        self._h2.reset_stream(stream, code)

    def _pump(self, stream: int) -> None:
        exchange = self._exchanges[stream]
        if not exchange.started and exchange.out.reset is None:
            return
        if pump(self._h2, stream, exchange.out):
            del self._exchanges[stream]
            if not exchange.whole and exchange.out.reset is None:
                # RFC 9113 section 8.1: the answer is whole, the rest of the request is not wanted.
                self._h2.reset_stream(stream, h2.errors.ErrorCodes.NO_ERROR)


_NUISANCES = (h2.events.PingReceived, h2.events.RemoteSettingsChanged, h2.events.UnknownFrameReceived)


def _end_to_end(headers: Headers) -> Headers:
    return tuple(field for field in headers if not names.answer_name(field[0]))


def _framed(headers: Headers, length: int | None, *, verbatim: bool) -> Headers:
    """The fields of an answer that HTTP/2 can send (RFC 9113 section 8.2.2), Content-Length restated."""
    fields: list[tuple[str, str]] = []
    stated = False
    for name, value in headers:
        kind = names.answer_name(name)
        if kind == names.LENGTH and not stated and (verbatim or length is not None):
            fields.append((name, value if verbatim else str(length)))
            stated = True
        elif not kind or kind == names.TRAILER:
            fields.append((name, value))
    return tuple(fields)
