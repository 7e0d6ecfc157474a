"""An HTTP/1.1 client connection, sans-io: one exchange at a time, requests as given, answers as they came.

h11 parses and keeps the state; requests are written here, because h11 moves Host to the front.
"""

from __future__ import annotations

from collections.abc import Iterator

import h11

from replayproxy.core.exchange import FaultKind, Headers, Origin
from replayproxy.core.exchange import Interim as InterimAnswer
from replayproxy.wire import names
from replayproxy.wire.answer import Framing, chunk, joined, last_chunk
from replayproxy.wire.target import host_for
from replayproxy.wire.upstream import Broken, Data, End, Head, Interim, UpstreamEvent

LONGEST_HEAD = 262_144
"""Octets of an answer's head; more than any upstream that clients other than this one accept."""


class Upstream1:
    """The client side of one connection to an upstream.

    `send_head`, `send_body` and `send_end` put octets into `take`; `receive` and `receive_eof` never raise.
    """

    version = "HTTP/1.1"

    def __init__(self) -> None:
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._stream = 0
        self._open = False
        self._chunked = False
        self._answered = False
        """Whether the head of the final answer has come."""
        self._raw = False
        self._spoilt = False
        self._method = ""
        self._framing: Framing = "none"
        self._out: list[bytes] = []

    @property
    def reusable(self) -> bool:
        """Whether a request can be sent now: the connection is fresh, or its last exchange ended cleanly."""
        state = self._connection.states
        done = state == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}
        return not self._spoilt and not self._open and (done or not self._stream)

    def take(self) -> bytes:
        """The octets to send now; they are given once."""
        data = b"".join(self._out)
        self._out.clear()
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
        """Sends a request's head; the handle of the exchange.

        HEADERS are end-to-end and sent in their order and case; Host is put first where there is none, and says ORIGIN
        where it named another. LENGTH
        is that of the body, None to send it in chunks; 0 ends the request here. Raises ValueError, with nothing sent,
        for what cannot be sent.
        """
        if not self.reusable:
            raise RuntimeError("an exchange is open on this connection")
        lines = [f"{method} {target} HTTP/1.1", *_field_lines(origin, headers, length)]
        if expects_continue:
            lines.append("Expect: 100-continue")
        if upgrade:
            lines += ["Connection: Upgrade", f"Upgrade: {upgrade}"]
        if not names.TOKEN.fullmatch(method) or not target or " " in target or "\t" in target:
            raise ValueError("the method or the target cannot be sent")
        octets = joined(lines)
        if self._stream:
            self._connection.start_next_cycle()
        self._connection.send(_state_of(method, bool(upgrade), length))
        if length == 0:
            self._connection.send(h11.EndOfMessage())
        self._out.append(octets)
        self._stream += 1
        self._open, self._answered, self._raw = True, False, False
        self._method, self._chunked = method, length is None
        return self._stream

    def send_body(self, stream: int, data: bytes) -> None:
        """Sends a piece of the body, or of the octets behind a 101."""
        if data and self._is_open(stream):
            self._out.append(chunk(data) if self._chunked and not self._raw else data)

    def send_end(self, stream: int, trailers: Headers = ()) -> None:
        """Ends the request; TRAILERS go only with chunks."""
        if self._is_open(stream) and self._connection.our_state is h11.SEND_BODY:
            if self._chunked:
                self._out.append(last_chunk(trailers))
            self._connection.send(h11.EndOfMessage())

    def reset(self, stream: int) -> None:
        """Gives the exchange up; the connection cannot be used again."""
        if self._is_open(stream):
            self._open = False
            self._spoilt = True

    def _is_open(self, stream: int) -> bool:
        return self._open and stream == self._stream

    def receive(self, data: bytes) -> list[UpstreamEvent]:
        """What the upstream answered; octets that answer nothing make the connection unusable."""
        if not self._open:
            self._spoilt = self._spoilt or bool(data)
            return []
        if self._raw:
            return [Data(self._stream, data)] if data else []
        return self._fed(data) if data else []

    def receive_eof(self) -> list[UpstreamEvent]:
        """The upstream will send nothing more."""
        was_open, self._spoilt = self._open, True
        if not was_open:
            return []
        if self._raw:
            self._open = False
            return [End(self._stream)]
        events = self._fed(b"")
        if self._open:
            events.append(self._broken("the upstream closed the connection"))
        return events

    def _fed(self, data: bytes) -> list[UpstreamEvent]:
        events: list[UpstreamEvent] = []
        try:
            self._connection.receive_data(data)
            events.extend(self._events())
        except h11.RemoteProtocolError as error:
            events.append(self._broken(str(error)))
        return events

    def _broken(self, why: str) -> Broken:
        self._open = False
        self._spoilt = True
        kind: FaultKind = "truncated" if self._answered else "closed"
        return Broken(self._stream, kind, why)

    def _events(self) -> Iterator[UpstreamEvent]:
        stream = self._stream
        while self._open:
            event = self._connection.next_event()
            if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                self._answered = self._raw = True
                yield self._head(event)
                behind = self._connection.trailing_data[0]
                if behind:
                    yield Data(stream, bytes(behind))
                return
            if isinstance(event, h11.InformationalResponse):
                yield Interim(stream, _interim(event))
            elif isinstance(event, h11.Response):
                self._answered = True
                yield self._head(event)
            elif isinstance(event, h11.Data):
                chunked = event.chunk_start or event.chunk_end or self._framing == "chunked"
                yield Data(stream, bytes(event.data), event.chunk_end if chunked else True)
            elif isinstance(event, h11.EndOfMessage):
                self._open = False
                self._spoilt = self._spoilt or bool(self._connection.trailing_data[0])
                yield End(stream, _fields(event.headers))
            else:
                return  # NEED_DATA, PAUSED or ConnectionClosed: nothing more to tell

    def _head(self, event: h11.Response | h11.InformationalResponse) -> Head:
        headers = _fields(event.headers)
        self._framing = _framing(self._method, event.status_code, {name.lower() for name, _ in headers})
        return Head(
            stream=self._stream,
            status=event.status_code,
            reason=bytes(event.reason).decode("latin-1"),
            headers=headers,
            version=f"HTTP/{bytes(event.http_version).decode('ascii')}",
            framing=self._framing,
        )


def _field_lines(origin: Origin, headers: Headers, length: int | None) -> list[str]:
    """Field lines of a request: HEADERS as they are, framing for a body of LENGTH."""
    lines: list[str] = []
    seen: set[int] = set()
    for name, value in headers:
        kind = names.request_name(name.encode("latin-1"))[1]
        if not names.TOKEN.fullmatch(name):
            raise ValueError(f"not a field name: {name!r}")
        if kind == names.HOST:
            lines.append(f"{name}: {host_for(origin, value)}")
            seen.add(kind)
        elif kind == names.END_TO_END or (kind == names.LENGTH and length is not None and kind not in seen):
            lines.append(f"{name}: {length or value}" if kind else f"{name}: {value}")
            seen.add(kind)
    if names.HOST not in seen:
        lines.insert(0, f"Host: {origin.netloc}")
    if length is None:
        lines.append("Transfer-Encoding: chunked")
    elif length and names.LENGTH not in seen:
        lines.append(f"Content-Length: {length}")
    return lines


def _state_of(method: str, upgrade: bool, length: int | None) -> h11.Request:
    """A request that puts h11 into the state of the one that is sent; h11 need not count the body's octets."""
    headers = [("Host", "upstream")]
    if length != 0:
        headers.append(("Transfer-Encoding", "chunked"))
    if upgrade:
        headers += [("Connection", "Upgrade"), ("Upgrade", "any")]
    return h11.Request(method=method, target="/", headers=headers)


def _framing(method: str, status: int, fields: set[str]) -> Framing:
    """How h11 finds the end of this answer's body (RFC 9112 section 6.3)."""
    if method == "HEAD" or status < 200 or status in (204, 304):
        return "none"
    if "transfer-encoding" in fields:
        return "chunked"
    return "length" if "content-length" in fields else "close"


def _fields(headers: h11._headers.Headers) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw_items())


def _interim(event: h11.InformationalResponse) -> InterimAnswer:
    return InterimAnswer(
        status=event.status_code, reason=bytes(event.reason).decode("latin-1"), headers=_fields(event.headers)
    )
