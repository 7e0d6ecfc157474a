"""replayproxy.replay.remembered: what is known is what was seen, and the memory has a bound."""

from __future__ import annotations

from typing import Any

import pytest

from replayproxy.core.exchange import Origin, Request, Response
from replayproxy.core.replayer import Steady
from replayproxy.replay.answer import Answer
from replayproxy.replay.remembered import LONGEST, Known, Read, Ready, Recall, Remembered, key_of
from replayproxy.wire.events import RequestStarted, Via
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.limits import Limits

VIA, OTHER = Via("https", "a.test", 443), Via("https", "b.test", 443)
READY = Ready(b"HTTP/1.1 200 OK\r\n\r\n", Steady(0), None)
REQUEST = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
STANDING = Answer(response=Response(status=200), standing=Steady(0))
PASSING = Answer(response=Response(status=200))


def test_what_is_kept_is_known_by_its_key_and_its_way_in() -> None:
    """The same octets in another tunnel are another request."""
    memory = Remembered()
    memory.keep(VIA, b"a", READY)
    assert memory.of(VIA) == {b"a": READY}
    assert memory.of(OTHER) == {}
    assert memory.older(VIA, b"a") is None


def test_the_memory_has_a_bound_and_the_least_used_go() -> None:
    """Two generations: what is asked for in the old one is young again, the rest goes with it."""
    memory = Remembered(2_000)
    for number in range(4):
        memory.keep(VIA, b"%d" % number, READY)
    assert memory.turn == 0
    for number in range(4, 6):
        memory.keep(VIA, b"%d" % number, READY)
    assert memory.turn == 1
    assert memory.older(VIA, b"0") is READY
    assert b"0" in memory.of(VIA)
    for number in range(6, 10):
        memory.keep(VIA, b"%d" % number, READY)
    assert memory.turn == 2
    assert memory.older(VIA, b"1") is None
    assert memory.older(VIA, b"0") is READY


KNOWN_HEAD = RequestStarted(
    stream=1,
    method="GET",
    origin=Origin("https", "a.test", 443),
    target="/",
    headers=(),
    version="HTTP/1.1",
    has_body=False,
)
KNOWN_REQUEST = Request(method="GET", origin=Origin("https", "a.test", 443), target="/")


@pytest.mark.parametrize(
    "known",
    [Ready(b"x" * (LONGEST + 1), Steady(0), None), Read(KNOWN_HEAD, KNOWN_REQUEST, KNOWN_REQUEST, LONGEST)],
    ids=["answer", "request"],
)
def test_what_is_long_is_not_kept(known: Known) -> None:
    """A few long ones would push out all others."""
    memory = Remembered()
    memory.keep(VIA, b"x", known)
    assert memory.of(VIA) == {}


@pytest.mark.parametrize("more", [0, 1], ids=["the longest", "longer"])
def test_a_long_request_with_a_short_answer_is_not_kept_either(more: int) -> None:
    """Working out the key of a long request takes longer than what remembering it saves."""
    start = b"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 65000\r\nX-Pad: "
    data = start.ljust(LONGEST + more - 65_004, b"a") + b"\r\n\r\n" + b"x" * 65_000
    recall, _ = learned(data, STANDING)
    assert (recall.find(data) is None) == bool(more)


def learned(data: bytes, answer: Answer, *, via: Via = VIA, more: bytes = b"") -> tuple[Recall, Http1Connection]:
    """A connection that was asked DATA, answered it with ANSWER, and has learned that."""
    wire = Http1Connection(via, Limits())
    recall = Recall(Remembered(), wire)
    events = wire.receive(data + more)
    head = next(event for event in events if isinstance(event, RequestStarted))
    wire.respond(head.stream, 200, "OK", (), b"body")
    request = Request(method=head.method, origin=head.origin, target=head.target, body=b"x" if head.has_body else b"")
    recall.learn(data + more, events, request, answer)
    wire.take()
    return recall, wire


def test_an_answer_that_stands_is_known_by_its_octets() -> None:
    """Those that the wire was given."""
    recall, _ = learned(REQUEST, STANDING)
    assert recall.find(REQUEST) == Ready(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", Steady(0), None)


def test_a_request_whose_answer_does_not_stand_is_known_as_read() -> None:
    """With its body, and without it for whoever answers the head."""
    data = b"POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx"
    recall, wire = learned(data, PASSING)
    known = recall.find(data)
    assert isinstance(known, Read)
    request = Request(method="POST", origin=Origin("https", "a.test", 443), target="/p", body=b"x")
    assert (known.request, known.bodiless.body) == (request, b"")
    stream = wire.reopen(known.head.method, known.head.version)
    assert recall.find(data) is None
    wire.respond(stream, 200, "OK", (), b"")
    assert wire.take() == b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    assert wire.idle


FORGOTTEN: dict[str, tuple[bytes, dict[str, Any]]] = {
    "the connection closes": (b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n", {}),
    "HTTP/1.0": (b"GET / HTTP/1.0\r\nHost: a.test\r\n\r\n", {}),
    "another request behind it": (REQUEST, {"more": REQUEST}),
    "part of another one": (REQUEST, {"more": REQUEST[:5]}),
    "an upgrade": (b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", {}),
    "a client that waits for a 100": (
        b"POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
        {},
    ),
    "trailers": (
        b"POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n\r\n",
        {},
    ),
    "a body that comes later": (b"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nx", {}),
}


@pytest.mark.parametrize(("data", "more"), FORGOTTEN.values(), ids=FORGOTTEN)
@pytest.mark.parametrize("answer", [STANDING, PASSING], ids=["standing", "passing"])
def test_only_a_whole_request_that_leaves_the_connection_as_it_was_is_kept(
    data: bytes, more: dict[str, Any], answer: Answer
) -> None:
    """Anything else is read again each time."""
    recall, _ = learned(data, answer, **more)
    assert recall.find(data) is None
    assert recall.find(data + more.get("more", b"")) is None


def test_a_request_in_the_middle_of_another_is_not_found() -> None:
    """It is read, and waits its turn."""
    recall, wire = learned(REQUEST, STANDING)
    wire.receive(b"GET /other HT")
    assert recall.find(REQUEST) is None


def test_a_connection_follows_the_generations() -> None:
    """What it knew is looked for in the old one once there is a new one."""
    memory = Remembered(1_000)
    recall = Recall(memory, Http1Connection(VIA, Limits()))
    memory.keep(VIA, key_of(b"0"), READY)
    assert recall.find(b"0") is READY
    for number in range(1, 4):
        memory.keep(VIA, key_of(b"%d" % number), READY)
    assert memory.turn == 1
    assert recall.find(b"0") is READY
    assert recall.find(b"3") is READY
