"""One exchange while it is being recorded: a mutable note of what was seen, frozen into `Observed` at its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from replayproxy.core.exchange import Fault, FaultKind, FaultPhase, Interim, Request, Response
from replayproxy.core.recorder import Observed
from replayproxy.core.rights import Tag
from replayproxy.wire.events import RequestStarted
from replayproxy.wire.upstream import Data, End, Head


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
    pieces: list[tuple[bytes, int]] = field(default_factory=list)
    piece_open: bool = False
    trailers: tuple[tuple[str, str], ...] = ()
    first_ms: int = 0
    continued: bool = False
    finished: bool = False

    @property
    def url(self) -> str:
        """The URL as asked, for messages that stay on this machine."""
        return f"{self.head.origin}{self.head.target}"

    def end_request(self, trailers: tuple[tuple[str, str], ...] = ()) -> Request:
        """The whole request; from here on its body is known."""
        self.request = Request(
            method=self.head.method,
            origin=self.head.origin,
            target=self.head.target,
            headers=self.head.headers,
            body=b"".join(self.request_body),
            trailers=trailers,
            version=self.head.version,
        )
        return self.request

    def saw_head(self, head: Head, now_ms: int) -> None:
        """The final answer's head has come."""
        self.answer = head
        self.first_ms = now_ms

    def saw_data(self, data: Data, now_ms: int) -> None:
        """Octets of the answer have come; those of one chunk are one piece, however many reads they took."""
        if self.piece_open and self.pieces:
            before, at = self.pieces[-1]
            self.pieces[-1] = (before + data.data, at)
        else:
            self.pieces.append((data.data, now_ms))
        self.piece_open = not data.ends_chunk

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
        if self._streamed:
            return self._observed(None, now_ms)
        return self.broken("timeout", "head" if self.answer is None else "body", now_ms)

    def _observed(self, fault: Fault | None, now_ms: int) -> Observed:
        request = self.request or self.end_request()
        return Observed(
            order=self.order,
            request=request,
            response=self._response(fault),
            pieces=tuple(self.pieces) if self._streamed else (),
            started_us=self.started_us,
            first_ms=self.first_ms,
            ended_ms=now_ms,
            rights=self.rights,
        )

    @property
    def _streamed(self) -> bool:
        return self.answer is not None and self.answer.framing in ("chunked", "close")

    def _response(self, fault: Fault | None) -> Response:
        interim = tuple(self.interim)
        if self.answer is None:
            return Response(status=502, reason="Bad Gateway", framing="none", interim=interim, fault=fault)
        return Response(
            status=self.answer.status,
            reason=self.answer.reason,
            headers=self.answer.headers,
            body=b"".join(data for data, _ in self.pieces),
            trailers=self.trailers,
            version=self.answer.version,
            framing=self.answer.framing,
            interim=interim,
            fault=fault,
            before_body=self.head.expects_continue and not self.continued,
        )
