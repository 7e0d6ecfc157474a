"""The HTTP/1.1 client connection: requests go out as given, answers come in as they were."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import Headers, Origin
from replayproxy.core.exchange import Interim as InterimAnswer
from replayproxy.wire.upstream import Broken, Data, End, Head, Interim, UpstreamEvent
from replayproxy.wire.upstream1 import Upstream1

ORIGIN = Origin.of("https", "a.test")
HOST: Headers = (("X-First", "1"), ("HOST", "A.test"), ("x-first", "2"))


def asking(method: str = "GET", *, upgrade: str = "", length: int | None = 0) -> Upstream1:
    """A connection that has sent a request."""
    subject = Upstream1()
    subject.send_head(method, ORIGIN, "/", HOST, length=length, upgrade=upgrade)
    subject.take()
    return subject


def head(events: list[UpstreamEvent]) -> Head:
    """The first of EVENTS, the head of a final answer."""
    assert isinstance(events[0], Head), events
    return events[0]


SENT = {
    "order and case kept": (
        HOST,
        {},
        b"X-First: 1\r\nHOST: A.test\r\nx-first: 2\r\n\r\n",
    ),
    "Host put first": ((("A", "b"),), {}, b"Host: a.test\r\nA: b\r\n\r\n"),
    "Host as it names the origin": ((("Host", "A.test."),), {}, b"Host: A.test.\r\n\r\n"),
    "Host of another": ((("A", "b"), ("Host", "b.test")), {}, b"A: b\r\nHost: a.test\r\n\r\n"),
    "Host of another port": ((("Host", "a.test:444"),), {}, b"Host: a.test\r\n\r\n"),
    "Host that is none": ((("Host", "a b"),), {}, b"Host: a.test\r\n\r\n"),
    "length as given": (
        (("Host", "a.test"), ("content-length", "3"), ("B", "c")),
        {"length": 3},
        b"Host: a.test\r\ncontent-length: 3\r\nB: c\r\n\r\n",
    ),
    "length of 0 stays": (
        (("Host", "a.test"), ("Content-Length", "0")),
        {},
        b"Host: a.test\r\nContent-Length: 0\r\n\r\n",
    ),
    "length put last": ((("Host", "a.test"),), {"length": 3}, b"Host: a.test\r\nContent-Length: 3\r\n\r\n"),
    "chunks": (
        (("Host", "a.test"), ("Content-Length", "3")),
        {"length": None},
        b"Host: a.test\r\nTransfer-Encoding: chunked\r\n\r\n",
    ),
    "hop-by-hop fields dropped": (
        (("Host", "a.test"), ("Connection", "x"), ("TE", "trailers"), ("Proxy-Authorization", "y")),
        {},
        b"Host: a.test\r\n\r\n",
    ),
    "expectation": (
        (("Host", "a.test"),),
        {"length": 3, "expects_continue": True},
        b"Host: a.test\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n",
    ),
    "upgrade": (
        (("Host", "a.test"),),
        {"upgrade": "websocket"},
        b"Host: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ),
}


@pytest.mark.parametrize("name", SENT)
def test_a_head_goes_out_as_given(name: str) -> None:
    """Only framing and what belongs to this hop is written anew."""
    headers, more, expected = SENT[name]
    subject = Upstream1()
    assert subject.send_head("POST", ORIGIN, "/x%2f?y", headers, **more) == 1  # type: ignore[arg-type]
    assert subject.take() == b"POST /x%2f?y HTTP/1.1\r\n" + expected
    assert subject.take() == b""


@pytest.mark.parametrize(
    ("method", "target", "field"),
    [
        ("G T", "/", ("A", "b")),
        ("GET", "/ x", ("A", "b")),
        ("GET", "", ("A", "b")),
        ("GET", "/\r\nA: b", ("A", "b")),
        ("GET", "/", ("A", "b\r\nC: d")),
        ("GET", "/", ("A b", "c")),
        ("GET", "/", ("A", "€")),
    ],
)
def test_what_cannot_be_sent_is_not(method: str, target: str, field: tuple[str, str]) -> None:
    """The connection can still be used."""
    subject = Upstream1()
    with pytest.raises(ValueError, match=r"\w"):
        subject.send_head(method, ORIGIN, target, (field,))
    assert subject.take() == b""
    assert subject.reusable


def test_bodies_go_out_as_they_come() -> None:
    """One piece, one chunk; trailers behind chunks only."""
    subject = asking("POST", length=None)
    for piece in (b"he", b"", b"llo"):
        subject.send_body(1, piece)
    subject.send_end(1, (("X-Sum", "1"),))
    subject.send_end(1)
    assert subject.take() == b"2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Sum: 1\r\n\r\n"
    subject = asking("POST", length=5)
    subject.send_body(1, b"hello")
    subject.send_end(1, (("X-Sum", "1"),))
    assert subject.take() == b"hello"


OK = b"HTTP/1.1 200 OK\r\n"

BODIES: dict[str, tuple[bytes, str, list[UpstreamEvent], bool]] = {
    "length": (OK + b"content-LENGTH: 5\r\n\r\nhello", "length", [Data(1, b"hello"), End(1)], True),
    "no octets": (OK + b"Content-Length: 0\r\n\r\n", "length", [End(1)], True),
    "chunks": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\n\r\n",
        "chunked", [Data(1, b"he"), Data(1, b"llo"), End(1)], True,
    ),
    "trailers": (
        OK + b"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n",
        "chunked", [End(1, (("X-Sum", "1"), ("x-sum", "2")))], True,
    ),
    "closing": (OK + b"Connection: close\r\nContent-Length: 1\r\n\r\nx", "length", [Data(1, b"x"), End(1)], False),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "length", [Data(1, b"x"), End(1)], False),
    "204": (b"HTTP/1.1 204 \r\nContent-Length: 3\r\n\r\n", "none", [End(1)], True),
    "304": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", "none", [End(1)], True),
    "octets behind the answer": (OK + b"Content-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "length", [End(1)], False),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_answers_end_where_their_framing_says(name: str) -> None:
    """RFC 9112 section 6.3; the connection can be used again only if both sides agree where it stands."""
    octets, framing, rest, reusable = BODIES[name]
    subject = asking()
    events = subject.receive(octets)
    assert head(events).framing == framing
    assert events[1:] == rest
    assert subject.reusable is reusable


def test_a_head_is_told_as_it_came() -> None:
    """Order, case, repeats, version and reason, which may be missing or in Latin-1."""
    fields = b"X-B: 1\r\nSet-Cookie: a\r\nx-a: \xe9 \r\nset-cookie: b\r\nContent-Length: 0\r\n\r\n"
    for line, reason in ((b"200 Tr\xe8s bien", "Très bien"), (b"200 ", ""), (b"200", "")):
        told = head(asking().receive(b"HTTP/1.1 " + line + b"\r\n" + fields))
        assert (told.status, told.reason, told.version) == (200, reason, "HTTP/1.1")
        assert told.headers == (
            ("X-B", "1"), ("Set-Cookie", "a"), ("x-a", "é"), ("set-cookie", "b"), ("Content-Length", "0"),
        )  # fmt: skip
    assert head(asking().receive(b"HTTP/1.0 200 OK\r\n\r\n")).version == "HTTP/1.0"


def test_a_head_answer_has_no_body() -> None:
    """RFC 9112 section 6.3, first rule."""
    subject = asking("HEAD")
    events = subject.receive(OK + b"Content-Length: 4096\r\n\r\n")
    assert (head(events).framing, events[1:]) == ("none", [End(1)])
    assert subject.reusable


def test_chunks_that_arrive_in_parts_say_where_they_end() -> None:
    """Their boundaries are those of the upstream, not of the reads."""
    subject = asking()
    subject.receive(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhe")
    assert subject.receive(b"ll") == [Data(1, b"ll", ends_chunk=False)]
    assert subject.receive(b"o\r\n") == [Data(1, b"o", ends_chunk=True)]


def test_interim_answers_are_told() -> None:
    """RFC 9110 section 15.2; 100 and 103 alike."""
    subject = asking("PUT", length=3)
    events = subject.receive(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    assert events == [
        Interim(1, InterimAnswer(status=100, reason="Continue")),
        Interim(1, InterimAnswer(status=103, reason="Early Hints", headers=(("Link", "</a>"),))),
    ]
    assert head(subject.receive(OK + b"\r\n")).status == 200


def test_a_body_without_length_ends_with_the_connection() -> None:
    """RFC 9112 section 6.3, last rule."""
    subject = asking()
    events = subject.receive(OK + b"\r\nuntil")
    assert (head(events).framing, events[1:]) == ("close", [Data(1, b"until")])
    assert subject.receive(b" close") == [Data(1, b" close")]
    assert subject.receive_eof() == [End(1)]
    assert not subject.reusable


BREAKS = {
    "before the head": (b"", "closed"),
    "inside the head": (b"HTTP/1.1 200 OK\r\nA: b", "closed"),
    "behind an interim answer": (b"HTTP/1.1 100 Continue\r\n\r\n", "closed"),
    "inside a body of a length": (OK + b"Content-Length: 5\r\n\r\nhel", "truncated"),
    "inside a chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "truncated"),
    "before the last chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "truncated"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_an_end_too_early_breaks_the_exchange(name: str) -> None:
    """Before the head is whole the answer is missing, after it it is cut."""
    octets, kind = BREAKS[name]
    subject = asking()
    subject.receive(octets)
    events = subject.receive_eof()
    assert [(type(event), getattr(event, "kind", "")) for event in events] == [(Broken, kind)]
    assert not subject.reusable
    assert subject.receive(b"x") == []
    assert subject.receive_eof() == []


MALFORMED = {
    "no HTTP": (b"SSH-2.0-OpenSSH\r\n\r\n", "closed"),
    "bad field": (OK + b"A b: c\r\n\r\n", "closed"),
    "two lengths": (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "closed"),
    "endless head": (OK + b"A: " + b"b" * 300_000, "closed"),
    "bad chunk": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "truncated"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_http_breaks_the_exchange(name: str) -> None:
    """Nothing is guessed."""
    octets, kind = MALFORMED[name]
    subject = asking()
    events = subject.receive(octets)
    assert isinstance(events[-1], Broken)
    assert events[-1].kind == kind
    assert events[-1].why
    assert not subject.reusable


def test_connections_are_used_again() -> None:
    """Once the request is sent and the answer read, not before; streams count."""
    subject = asking("POST", length=3)
    with pytest.raises(RuntimeError):
        subject.send_head("GET", ORIGIN, "/", ())
    subject.send_body(1, b"abc")
    subject.send_end(1)
    assert subject.receive(OK + b"Content-Length: 0\r\n\r\n")[-1] == End(1)
    subject.send_body(1, b"late")
    assert subject.send_head("HEAD", ORIGIN, "/2", ()) == 2
    assert subject.take() == b"abcHEAD /2 HTTP/1.1\r\nHost: a.test\r\n\r\n"
    assert subject.receive(OK + b"Content-Length: 3\r\n\r\n")[-1] == End(2)


def test_an_answer_before_the_request_is_whole_spoils_the_connection() -> None:
    """What is left of the request cannot be taken back."""
    subject = asking("POST", length=3)
    assert subject.receive(b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")[-1] == End(1)
    assert not subject.reusable


def test_octets_that_nothing_asked_for_spoil_the_connection() -> None:
    """They would be read as the answer to the next request."""
    subject = asking()
    subject.receive(OK + b"Content-Length: 0\r\n\r\n")
    reusable = [subject.reusable]
    assert subject.receive(b"HTTP/1.1 408 Request Timeout\r\n\r\n") == []
    reusable.append(subject.reusable)
    assert reusable == [True, False]


def test_a_given_up_exchange_tells_nothing_more() -> None:
    """Its connection cannot be used again."""
    subject = asking()
    subject.reset(2)
    subject.reset(1)
    assert subject.receive(OK + b"\r\n") == []
    assert not subject.reusable


def test_a_101_makes_the_connection_plain() -> None:
    """Octets pass both ways as they are; the end of the connection ends the exchange."""
    subject = asking(upgrade="websocket")
    events = subject.receive(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x01x")
    assert (head(events).status, head(events).framing) == (101, "none")
    assert events[1:] == [Data(1, b"\x81\x01x")]
    assert subject.receive(b"\x88\x00") == [Data(1, b"\x88\x00")]
    subject.send_body(1, b"\x81\x00")
    subject.send_end(1)
    assert subject.take() == b"\x81\x00"
    assert subject.receive_eof() == [End(1)]
    plain = asking(upgrade="websocket")
    assert len(plain.receive(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")) == 1
    unasked = asking()
    assert isinstance(unasked.receive(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")[-1], Broken)


ANSWER = (
    b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
    + OK
    + b"Transfer-Encoding: chunked\r\nX: y\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nX-Sum: 1\r\n\r\n"
)


def joined(events: list[UpstreamEvent]) -> list[UpstreamEvent]:
    """EVENTS with the parts of one chunk joined."""
    merged: list[UpstreamEvent] = []
    for event in events:
        last = merged[-1] if merged else None
        if isinstance(event, Data) and isinstance(last, Data) and not last.ends_chunk:
            merged[-1] = Data(event.stream, last.data + event.data, event.ends_chunk)
        else:
            merged.append(event)
    return merged


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, len(ANSWER)), max_size=8))
def test_events_do_not_depend_on_how_the_input_is_cut(cuts: set[int]) -> None:
    """Whole, octet by octet, or cut anywhere."""
    whole = asking().receive(ANSWER)
    for ends in ([0, *sorted(cuts), len(ANSWER)], list(range(len(ANSWER) + 1))):
        subject = asking()
        assert joined([event for a, b in pairwise(ends) for event in subject.receive(ANSWER[a:b])]) == whole


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_octets_raise(data: st.DataObject) -> None:
    """Whatever an upstream sends becomes events; what follows them is told at most once as broken."""
    mutated = bytearray(ANSWER)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    subject = asking(length=data.draw(st.sampled_from([0, 3])), upgrade=data.draw(st.sampled_from(["", "x"])))
    events = subject.receive(bytes(mutated)) + subject.receive_eof()
    assert sum(isinstance(event, (End, Broken)) for event in events) == 1
    assert isinstance(events[-1], (End, Broken))
