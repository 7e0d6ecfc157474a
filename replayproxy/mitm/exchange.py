"""One exchange while it is being recorded: a mutable note of what was seen, frozen into `Observed` at its end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from replayproxy.core.exchange import (
    Body,
    Fault,
    FaultKind,
    FaultPhase,
    Interim,
    Redaction,
    Request,
    Response,
)
from replayproxy.core.recorder import Observed
from replayproxy.core.rights import Tag
from replayproxy.mitm.large import LargeBody
from replayproxy.wire.events import RequestStarted
from replayproxy.wire.upstream import Data, End, Head


@dataclass(slots=True)
class Piece:
    """A piece of a body: its size, when its first octet came, and its octets while they are held."""

    at_ms: int
    size: int = 0
    octets: bytearray = field(default_factory=bytearray)


@dataclass(slots=True, eq=False)
class Exchange:
    """An exchange in flight. `now_ms` arguments are milliseconds since `started_us`."""

    order: int
    started_us: int
    head: RequestStarted
    rights: Tag | None
    request_body: list[bytes] = field(default_factory=list)
    request: Request | None = None
    interim: list[Interim] = field(default_factory=list)
    answer: Head | None = None
    pieces: list[Piece] = field(default_factory=list)
    piece_open: bool = False
    held: int = 0
    large: LargeBody | None = None
    trailers: tuple[tuple[str, str], ...] = ()
    first_ms: int = 0
    continued: bool = False
    """Whether the client has been told to go on with its request's body (100)."""
    finished: bool = False
    unrecorded: bool = False
    """Whether it could not be kept, so that the client must not take it for a whole one."""
    begun: bool = False
    """Whether the client has been sent the answer's head."""

    @property
    def url(self) -> str:
        """The URL as asked, for messages that stay on this machine."""
        return f"{self.head.origin}{self.head.target}"

    def end_request(self, trailers: tuple[tuple[str, str], ...] = ()) -> Request:
        """The whole request; from here on its body is known, and held once."""
        self.request = Request(
            method=self.head.method,
            origin=self.head.origin,
            target=self.head.target,
            headers=self.head.headers,
            body=b"".join(self.request_body),
            trailers=trailers,
            version=self.head.version,
        )
        self.request_body.clear()
        return self.request

    def saw_head(self, head: Head, now_ms: int) -> None:
        """The final answer's head has come."""
        self.answer = head
        self.first_ms = now_ms

    def saw_data(self, data: Data, now_ms: int) -> None:
        """Octets of the answer have come; those of one chunk are one piece, however many reads they took."""
        if not (self.piece_open and self.pieces):
            self.pieces.append(Piece(now_ms))
        piece = self.pieces[-1]
        piece.size += len(data.data)
        self.piece_open = not data.ends_chunk
        if self.large is not None:
            self.large.add(data.data)
        else:
            piece.octets += data.data
            self.held += len(data.data)

    def let_go(self, large: LargeBody) -> None:
        """From now on the body goes to LARGE, with all that was held of it; memory holds only sizes."""
        for piece in self.pieces:
            large.add(bytes(piece.octets))
            piece.octets = bytearray()
        self.large = large
        self.held = 0

    def whole(self, end: End, now_ms: int) -> Observed:
        """What was seen, the answer being whole."""
        self.trailers = end.trailers
        return self._observed(None, now_ms)

    def broken(self, kind: FaultKind, phase: FaultPhase, now_ms: int) -> Observed:
        """What was seen, the exchange having broken in PHASE."""
        return self._observed(Fault(kind=kind, phase=phase, after_ms=now_ms), now_ms)

    def left(self, now_ms: int) -> Observed:
        """What was seen, the client having left.

        A stream without a length is whole as far as the client wanted it. In all other cases the client waited for more
        than came, which is a timeout: on replay it waits for the same.
        """
        if self.streamed:
            return self._observed(None, now_ms)
        return self.broken("timeout", "head" if self.answer is None else "body", now_ms)

    def _observed(self, fault: Fault | None, now_ms: int) -> Observed:
        early = self.is_early
        if early:
            self.request_body.clear()  # how much of it had come is chance, and no answer to any of it
        request = self.request or self.end_request()
        body: Body = b"".join(piece.octets for piece in self.pieces)
        masks: tuple[Redaction, ...] = ()
        if self.large is not None:
            body, masks = self.large.finish()
        return Observed(
            order=self.order,
            request=request,
            response=self._response(fault, body, early),
            pieces=tuple((bytes(piece.octets), piece.at_ms) for piece in self.pieces) if self.streamed else (),
            sizes=tuple((piece.size, piece.at_ms) for piece in self.pieces) if self.streamed else (),
            masks=masks,
            started_us=self.started_us,
            first_ms=self.first_ms,
            ended_ms=now_ms,
            rights=self.rights,
        )

    @property
    def streamed(self) -> bool:
        """Whether the answer has begun and tells no length."""
        return self.answer is not None and self.answer.framing in ("chunked", "close")

    @property
    def is_early(self) -> bool:
        """Whether all that came back came before the request was whole, so that it did not depend on the body."""
        return self.request is None and self.head.has_body

    def _response(self, fault: Fault | None, body: Body, early: bool) -> Response:
        interim = tuple(self.interim)
        if self.answer is None:
            told = Response(status=502, reason="Bad Gateway", framing="none", interim=interim, fault=fault)
            return replace(told, before_body=early)
        return Response(
            status=self.answer.status,
            reason=self.answer.reason,
            headers=self.answer.headers,
            body=body,
            trailers=self.trailers,
            version=self.answer.version,
            framing=self.answer.framing,
            interim=interim,
            fault=fault,
            before_body=early,
        )
