"""The exchanges of one connection: what the client asked, what the service answers, what is still on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from replayproxy.core.exchange import Headers, Interim, Request
from replayproxy.replay.answer import Answer
from replayproxy.replay.delivery import Delivery, Wire, is_plain, play, send
from replayproxy.replay.hosting import Setting
from replayproxy.replay.remembered import Read, Ready, Recall
from replayproxy.wire.events import Event, RequestData, RequestEnded, RequestStarted, StreamGone, TunnelRequested
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.http2 import Http2Connection

CONTINUE = Interim(status=100, reason="Continue")


class Line(Protocol):
    """What the exchanges ask of the connection beneath them."""

    def writable(self) -> bool:
        """Whether the client keeps up with what it is sent."""

    def flush(self) -> None:
        """Send what the wire holds."""

    def enter_tunnel(self, event: TunnelRequested) -> None:
        """The CONNECT is accepted, and what comes next is inside it."""

    def go_on(self) -> None:
        """Read what the wire has held back."""


@dataclass(slots=True)
class _Exchange:
    """A request that is not whole yet."""

    head: RequestStarted
    user: str | None
    body: list[bytes] = field(default_factory=list)

    def request(self, trailers: Headers = ()) -> Request:
        """The request as far as it has come."""
        head = self.head
        return Request(
            method=head.method,
            origin=head.origin,
            target=head.target,
            headers=head.headers,
            body=self.body[0] if len(self.body) == 1 else b"".join(self.body),
            trailers=trailers,
            version=head.version,
        )


class Exchanges:
    """What goes on between one WIRE and the service; USER is that of the tunnel, None where each request has its own.

    An answer that waits for nothing is given at once; any other gets a `Delivery`.
    """

    def __init__(
        self, host: Setting, line: Line, wire: Wire, *, tunnelled: bool = False, user: str | None = None
    ) -> None:
        self.wire = wire
        self._host = host
        self._line = line
        self._tunnelled = tunnelled
        self._user = user
        self._open: dict[int, _Exchange] = {}
        self._deliveries: dict[int, Delivery] = {}
        self._recall: Recall | None = None
        if host.remembered is not None and not host.timing.speed and isinstance(wire, Http1Connection):
            self._recall = Recall(host.remembered, wire)
        self._sent: tuple[Request, Answer] | None = None
        """The last answer that was sent at once, and what it answers."""

    @property
    def timed(self) -> bool:
        """Whether an answer waits for its time, so that silence does not mean that nothing goes on."""
        return any(delivery.state == "waiting" for delivery in self._deliveries.values())

    @property
    def busy(self) -> bool:
        """Whether an exchange is open that will end by itself."""
        if any(delivery.state != "silent" for delivery in self._deliveries.values()):
            return True
        return bool(self._open) or (isinstance(self.wire, Http2Connection) and bool(self.wire.backlog))

    def quick(self, data: bytes) -> bytes | None:
        """Answer DATA, if it is a request of HTTP/1 that is known octet for octet, without reading it again.

        Gives the octets that answer it, "" where the wire holds them, None where DATA is to be `receive`d.
        """
        recall = self._recall
        if recall is None or (known := recall.find(data)) is None:
            return None
        if isinstance(known, Ready):
            user = self._user if self._tunnelled else known.user
            return known.octets if self._host.service.again(user, known.standing) else None
        self._reread(recall, known)
        return b""

    def receive(self, data: bytes) -> None:
        """Do what DATA from the client asks for; what the wire holds back is left for `go_on`."""
        recall = self._recall
        if recall is None or not recall.wire.idle or recall.wire.peek():
            self.handle(self.wire.receive(data))
            return
        self._last_sent()
        events = self.wire.receive(data)
        self.handle(events)
        if (sent := self._last_sent()) is not None:
            recall.learn(data, events, *sent)

    def _last_sent(self) -> tuple[Request, Answer] | None:
        """What was sent at once since this was last asked."""
        sent, self._sent = self._sent, None
        return sent

    def handle(self, events: list[Event]) -> None:
        """Do what EVENTS ask for. What the wire has rejected it has answered."""
        for event in events:
            match event:
                case RequestStarted():
                    self._started(event)
                case RequestData():
                    if event.stream in self._open:
                        self._open[event.stream].body.append(event.data)
                case RequestEnded():
                    if exchange := self._open.pop(event.stream, None):
                        self._answer(event.stream, exchange.user, exchange.request(event.trailers))
                case TunnelRequested():
                    self._tunnel(event)
                case StreamGone():
                    self._gone(event.stream)

    def unblock(self) -> None:
        """Go on with the answers that waited for the client to read."""
        blocked = [delivery for delivery in self._deliveries.values() if delivery.state == "blocked"]
        for delivery in blocked:
            if self._line.writable():
                delivery.run()

    def cancel(self) -> None:
        """Nothing more is answered."""
        for delivery in self._deliveries.values():
            delivery.cancel()
        self._deliveries.clear()
        self._open.clear()

    # -- what the client did ------------------------------------------------------------------------

    def _started(self, head: RequestStarted) -> None:
        exchange = _Exchange(head, self._user if self._tunnelled else head.user)
        if head.has_body:
            early = self._asked(lambda: self._host.service.early(exchange.user, exchange.request()))
            if early is not None:
                self._deliver(head.stream, early)
                return
            if head.expects_continue:
                self.wire.interim(head.stream, CONTINUE)
        self._open[head.stream] = exchange

    def _reread(self, recall: Recall, known: Read) -> None:
        """Answer a request that has been read before."""
        head = known.head
        stream = recall.wire.reopen(head.method, head.version)
        user = self._user if self._tunnelled else head.user
        if head.has_body:
            early = self._asked(lambda: self._host.service.early(user, known.bodiless))
            if early is not None:
                self._deliver(stream, early)
                return
        self._answer(stream, user, known.request)

    def _answer(self, stream: int, user: str | None, request: Request) -> None:
        try:
            answer = self._host.service.answer(user, request)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the client gets an answer
            self._deliver(stream, self._failed(error))
            return
        if self._deliver(stream, answer):
            self._sent = request, answer

    def _tunnel(self, event: TunnelRequested) -> None:
        refusal = self._asked(lambda: self._host.service.tunnel(event.user, event.host, event.port))
        if refusal is None:
            self._line.enter_tunnel(event)
        else:
            self._deliver(event.stream, refusal)

    def _gone(self, stream: int) -> None:
        self._open.pop(stream, None)
        if delivery := self._deliveries.pop(stream, None):
            delivery.cancel()

    def _asked(self, question: Callable[[], Answer | None]) -> Answer | None:
        try:
            return question()
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the client gets an answer
            return self._failed(error)

    def _failed(self, error: Exception) -> Answer:
        self._host.told(error)
        return self._host.service.failed(error)

    # -- answers ------------------------------------------------------------------------------------

    def _deliver(self, stream: int, answer: Answer) -> bool:
        """Send ANSWER, or begin to; whether all of it was sent at once."""
        host = self._host
        if not host.timing.speed and is_plain(answer.response):
            whole = True
            try:
                send(self.wire, stream, answer.response)
            except ValueError as error:
                self.broken(stream, error)
                whole = False
            if answer.ended is not None:
                answer.ended()
            return whole
        delivery = Delivery(host.loop, self, stream, play(self.wire, stream, answer), host.timing)
        self._deliveries[stream] = delivery
        delivery.run()
        return False

    def writable(self) -> bool:
        """Whether the client keeps up with what it is sent."""
        return self._line.writable()

    def flush(self) -> None:
        """Send what the wire holds."""
        self._line.flush()

    def delivered(self, stream: int) -> None:
        """The answer on STREAM has ended; a request that was held behind it is read."""
        self._deliveries.pop(stream, None)
        if self.wire.waiting:
            self._host.loop.call_soon(self._line.go_on)

    def broken(self, stream: int, error: Exception) -> None:
        """The answer on STREAM cannot be sent on: another one says so if none has begun, else it breaks off."""
        self._deliveries.pop(stream, None)
        answer = self._failed(error)
        try:
            send(self.wire, stream, answer.response)
        except (RuntimeError, ValueError):
            self.wire.abort(stream, "truncate")
        self._line.flush()
