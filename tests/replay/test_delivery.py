"""replayproxy.replay.delivery: an answer's steps, in order and in time, on a wire that has no socket."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import Blob, Chunk, Fault, Interim, Response
from replayproxy.replay.answer import Answer
from replayproxy.replay.delivery import PIECE_OCTETS, SILENCE, body_length, is_plain, play
from replayproxy.wire.events import Via
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.limits import Limits

REQUEST = b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"


def asked() -> Http1Connection:
    """A connection whose stream 1 waits for an answer."""
    wire = Http1Connection(Via(), Limits())
    wire.receive(REQUEST)
    return wire


def played(wire: Http1Connection, answer: Answer) -> list[tuple[int, bytes]]:
    """When each step was due, and what it sent; the last entry is what followed the last due time."""
    steps = play(wire, 1, answer)
    due = [next(steps)]
    sent: list[bytes] = []
    for at in steps:
        sent.append(wire.take())
        due.append(at)
    sent.append(wire.take())
    return list(zip(due, sent, strict=True))


def response(**more: Any) -> Response:
    """A response with status 200."""
    return Response(status=200, reason="OK", **more)


def test_each_piece_is_due_when_it_came() -> None:
    """Interim answers at once, the head at its time, each piece at its own."""
    answer = Answer(
        response=response(
            body=b"abcde",
            framing="chunked",
            chunks=(Chunk(2, 30), Chunk(3, 50)),
            interim=(Interim(status=103, reason="Early Hints"),),
        ),
        first_ms=20,
    )
    steps = played(asked(), answer)
    assert [at for at, _ in steps] == [0, 20, 30, 50]
    assert steps[0][1].startswith(b"HTTP/1.1 103 ")
    assert steps[1][1].startswith(b"HTTP/1.1 200 ")
    assert steps[2][1] == b"2\r\nab\r\n"
    assert steps[3][1] == b"3\r\ncde\r\n0\r\n\r\n"


@given(
    sizes=st.lists(st.integers(0, 40), max_size=8),
    coded=st.lists(st.integers(0, 40) | st.none(), max_size=8),
    size=st.integers(0, 200),
    stored=st.booleans(),
)
def test_the_body_is_whole_whatever_the_chunks_say(
    sizes: list[int], coded: list[int | None], size: int, stored: bool
) -> None:
    """Chunks that do not add up to the body never cost or add an octet."""
    body = bytes(index % 251 for index in range(size))
    chunks = tuple(Chunk(one, 1, other) for one, other in zip(sizes, coded, strict=False))

    def opened(_: Blob) -> BinaryIO:
        return io.BytesIO(body)

    held = Blob("0" * 64, size) if stored else body
    answer = Answer(response=response(body=held, chunks=chunks), open_blob=opened)
    sent = b"".join(data for _, data in played(asked(), answer))
    assert sent == b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + body


def test_large_pieces_are_cut() -> None:
    """So that no step holds more than PIECE_OCTETS."""
    steps = played(asked(), Answer(response=response(body=bytes(PIECE_OCTETS * 2 + 1))))
    assert max(len(data) for _, data in steps) <= PIECE_OCTETS
    assert [len(data) for _, data in steps][1:] == [PIECE_OCTETS, PIECE_OCTETS, 1]


@pytest.mark.parametrize(
    ("kind", "closing"),
    [("refused", "reset"), ("reset", "reset"), ("dns", "close"), ("closed", "close"), ("truncated", "close")],
)
def test_a_fault_ends_the_connection_as_it_did(kind: Any, closing: str) -> None:
    """At its time, with nothing sent where nothing was."""
    wire = asked()
    assert played(wire, Answer(response=response(fault=Fault(kind=kind, phase="head", after_ms=7)))) == [(7, b"")]
    assert wire.closing == closing


def test_a_timeout_is_silence() -> None:
    """What came before it is sent, then nothing is, and the exchange stays open."""
    wire = asked()
    fault = Fault(kind="timeout", phase="body")
    steps = play(wire, 1, Answer(response=response(body=b"ab", fault=fault)))
    assert list(iter(lambda: next(steps), SILENCE)) == [0, 0]
    assert wire.take().endswith(b"ab")
    assert not wire.closing


@pytest.mark.parametrize(
    ("more", "length"),
    {
        "a known length": ({"body": b"abc"}, 3),
        "a body in a file": ({"body": Blob("0" * 64, 9)}, 9),
        "chunks": ({"body": b"abc", "framing": "chunked"}, None),
        "trailers": ({"body": b"abc", "trailers": (("A", "1"),)}, None),
        "until the connection closes": ({"body": b"abc", "framing": "close"}, None),
        "broken off": (
            {
                "body": b"abc",
                "headers": (("content-length", "10"),),
                "fault": Fault(kind="truncated", phase="body"),
            },
            10,
        ),
        "broken off, with a length that is no number": (
            {"body": b"abc", "headers": (("Content-Length", "x"),), "fault": Fault(kind="reset", phase="body")},
            4,
        ),
    }.values(),
)
def test_the_length_that_is_announced(more: dict[str, Any], length: int | None) -> None:
    """None where something else delimits the body; more than was recorded where it broke off."""
    assert body_length(response(**more)) == length


@pytest.mark.parametrize(
    ("more", "plain"),
    [
        ({"body": b"abc", "trailers": (("A", "1"),)}, True),
        ({"body": bytes(PIECE_OCTETS + 1)}, False),
        ({"body": Blob("0" * 64, 1)}, False),
        ({"chunks": (Chunk(0, 0),)}, False),
        ({"interim": (Interim(status=103),)}, False),
        ({"fault": Fault(kind="reset", phase="head")}, False),
    ],
)
def test_what_can_be_sent_in_one_go(more: dict[str, Any], plain: bool) -> None:
    """All but what has parts of its own, or a file."""
    assert is_plain(response(**more)) is plain


@pytest.mark.parametrize("steps", [1, 2, 99])
def test_the_end_is_told_once_however_it_comes(steps: int) -> None:
    """After the last step, when it is given up, and when a step fails."""
    told: list[int] = []
    answer = Answer(response=response(body=b"abc"), ended=lambda: told.append(1))
    playing = play(asked(), 1, answer)
    for _ in range(steps):
        if next(playing, None) is None:
            break
    playing.close()
    assert told == [1]
    broken = play(asked(), 1, Answer(response=response(body=Blob("0" * 64, 1)), ended=lambda: told.append(2)))
    with pytest.raises(LookupError):
        next(broken)
    assert told == [1, 2]
