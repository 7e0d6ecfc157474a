"""Playing an answer to a client: in order, in time, no faster than the client reads.

`play` says when each step is due and then does it; `Delivery` waits in between, by callbacks of the event
loop. A body in a file is read piece by piece, so that its size does not show in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import BinaryIO, Literal, Protocol

from replayproxy.core.exchange import Blob, Chunk, Response, header
from replayproxy.replay.answer import Answer
from replayproxy.replay.timing import Timing
from replayproxy.wire.http1 import AbortKind, Http1Connection
from replayproxy.wire.http2 import Http2Connection

type Wire = Http1Connection | Http2Connection
type Steps = Generator[int, None, None]

PIECE_OCTETS = 262_144
BACKLOG_OCTETS = 262_144
"""How much of an HTTP/2 answer may wait for the client's windows before no more of it is read."""
SILENCE = -1
"""Yielded by `play` where nothing more is ever sent, though the exchange stays open."""

_ABORTS: dict[str, AbortKind] = {
    "refused": "reset",
    "reset": "reset",
    "dns": "close",
    "closed": "close",
    "truncated": "truncate",
}


def is_plain(response: Response) -> bool:
    """Whether RESPONSE can be sent in one go: no piece, fault or interim answer has a time of its own."""
    return (
        response.fault is None
        and not response.chunks
        and not response.interim
        and isinstance(response.body, bytes)
        and len(response.body) <= PIECE_OCTETS
    )


def send(wire: Wire, stream: int, response: Response) -> None:
    """Send a plain RESPONSE at once. Raises ValueError, with nothing sent, where it cannot be sent."""
    assert isinstance(response.body, bytes)
    wire.start(stream, response.status, response.reason, response.headers, length=body_length(response))
    wire.data(stream, response.body)
    wire.end(stream, response.trailers)


def play(wire: Wire, stream: int, answer: Answer) -> Steps:
    """Do the steps of ANSWER; before each, yield when it is due, in milliseconds of the recording.

    `answer.ended` is called at the end, however it comes.
    """
    try:
        yield from _steps(wire, stream, answer)
    finally:
        if answer.ended is not None:
            answer.ended()


def _steps(wire: Wire, stream: int, answer: Answer) -> Steps:
    response = answer.response
    fault = response.fault
    for interim in response.interim:
        yield 0
        wire.interim(stream, interim)
    if fault is None or fault.phase == "body":
        yield from _send_body(wire, stream, answer)
    if fault is not None:
        yield SILENCE if fault.kind == "timeout" else fault.after_ms
        wire.abort(stream, _ABORTS[fault.kind])
        return
    wire.end(stream, response.trailers)


def _send_body(wire: Wire, stream: int, answer: Answer) -> Steps:
    response = answer.response
    with closing(_pieces(answer)) as pieces:
        first = next(pieces, None)  # opens the file: what is missing is found before a head has been sent
        yield answer.first_ms
        wire.start(stream, response.status, response.reason, response.headers, length=body_length(response))
        if first is None:
            return
        yield first[0]
        wire.data(stream, first[1])
        for at_ms, data in pieces:
            yield at_ms
            wire.data(stream, data)


def body_length(response: Response) -> int | None:
    """The length to announce: None where the body is delimited otherwise, the recorded one where it broke off."""
    size = response.body.size if isinstance(response.body, Blob) else len(response.body)
    if response.trailers or response.framing in ("chunked", "close"):
        return None
    if response.fault is None:
        return size
    claimed = header(response.headers, "content-length") or ""
    return max(int(claimed) if claimed.isdecimal() else 0, size + 1)


def _pieces(answer: Answer) -> Generator[tuple[int, bytes]]:
    """The pieces of the body, each with when it came."""
    body = answer.response.body
    if not isinstance(body, Blob):
        offset = 0
        for at_ms, size in _cuts(answer, len(body)):
            yield at_ms, body[offset : offset + size]
            offset += size
        return
    if answer.open_blob is None:
        raise LookupError("the body lies in a file, and nothing opens files here")
    with answer.open_blob(body) as file:
        for at_ms, size in _cuts(answer, body.size):
            yield at_ms, _read(file, size, body)


def _read(file: BinaryIO, size: int, body: Blob) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise EOFError(f"the file of the body {body.sha256} is shorter than {body.size} octets")
    return data


def _cuts(answer: Answer, size: int) -> Iterator[tuple[int, int]]:
    """When each piece came and its size; pieces of more than PIECE_OCTETS are cut."""
    for at_ms, length in _sizes(answer.response.chunks, size) or [(answer.first_ms, size)]:
        for start in range(0, length, PIECE_OCTETS):
            yield at_ms, min(PIECE_OCTETS, length - start)


def _sizes(chunks: tuple[Chunk, ...], size: int) -> list[tuple[int, int]]:
    """The recorded pieces of a body of SIZE octets: coded ones, else decoded ones, else none if neither add up."""
    coded = [(chunk.at_ms, chunk.size if chunk.coded is None else chunk.coded) for chunk in chunks]
    decoded = [(chunk.at_ms, chunk.size) for chunk in chunks]
    return next((cut for cut in (coded, decoded) if sum(length for _, length in cut) == size), [])


# -- over time --------------------------------------------------------------------------------------


class Timer(Protocol):
    """Something planned."""

    def cancel(self) -> None:
        """It does not happen."""


class Timers(Protocol):
    """The part of an event loop that plans: asyncio's own, or what stands for it."""

    def time(self) -> float:
        """Seconds, by the loop's clock."""

    def call_soon(self, work: Callable[[], object], /) -> Timer:
        """WORK is done once others have had their turn."""

    def call_later(self, delay: float, work: Callable[[], object], /) -> Timer:
        """WORK is done in DELAY seconds."""


class Client(Protocol):
    """What a delivery asks of the connection that it runs on."""

    def writable(self) -> bool:
        """Whether more may be sent now; if not, the delivery is asked to `run` again later."""

    def flush(self) -> None:
        """Sends what the wire holds."""

    def delivered(self, stream: int) -> None:
        """The answer on STREAM has ended."""

    def broken(self, stream: int, error: Exception) -> None:
        """The answer on STREAM cannot be sent on."""


class Delivery:
    """One answer on its way to a client."""

    __slots__ = ("_client", "_due", "_loop", "_start", "_steps", "_timer", "_timing", "state", "stream")

    def __init__(self, loop: Timers, client: Client, stream: int, steps: Steps, timing: Timing) -> None:
        self.stream = stream
        self.state: Literal["running", "waiting", "blocked", "silent", "over"] = "running"
        """`waiting` for its time, `blocked` by the client, `silent` for good, `over`."""
        self._loop = loop
        self._client = client
        self._steps = steps
        self._timing = timing
        self._start = loop.time()
        self._timer: Timer | None = None
        self._due: int | None = None

    def run(self) -> None:
        """Do what is due; afterwards the delivery waits, is blocked, silent or over."""
        if self.state == "over":
            return
        self._timer = None
        try:
            over = self._advance()
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the client gets an answer
            self.cancel()
            self._client.broken(self.stream, error)
            return
        if over:
            self.state = "over"
            self._client.delivered(self.stream)
        self._client.flush()

    def cancel(self) -> None:
        """Nothing more is sent; what is open is closed."""
        self.state = "over"
        if self._timer is not None:
            self._timer.cancel()
        self._steps.close()

    def _advance(self) -> bool:
        """One step further if it is due; whether that was the last."""
        if self._due is None:
            self._due = next(self._steps)
        if self._due == SILENCE:
            self.state = "silent"
            return False
        left = self._start + self._timing.seconds(self._due) - self._loop.time()
        if left > 0:
            self.state = "waiting"
            self._timer = self._loop.call_later(left, self.run)
            return False
        if not self._client.writable():
            self.state = "blocked"
            return False
        self._due = next(self._steps, None)
        if self._due is None:
            return True
        # Other clients have their turn, and each piece becomes a write of its own.
        self.state = "running"
        self._timer = self._loop.call_soon(self.run)
        return False
