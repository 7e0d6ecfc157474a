"""The HTTP/1 server connection: what it understands, what it refuses, and what it sends."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import Headers, Interim, Origin
from replayproxy.wire.events import (
    Event,
    Rejected,
    RequestData,
    RequestEnded,
    RequestStarted,
    StreamGone,
    TunnelRequested,
    Via,
)
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.limits import Limits

PROXY = Via()
TUNNEL = Via("https", "a.test", 443)
TRANSPARENT = Via("http", transparent=True)


def connection(via: Via = TUNNEL, limits: Limits = Limits()) -> Http1Connection:  # noqa: B008 -- a frozen value
    """A connection that came in by VIA."""
    return Http1Connection(via, limits)


def fed(data: bytes, via: Via = TUNNEL, limits: Limits = Limits()) -> tuple[Http1Connection, list[Event]]:  # noqa: B008
    """A connection that has received DATA, and what it told."""
    subject = connection(via, limits)
    return subject, subject.receive(data)


def status_of(event: Event) -> int:
    """The status that EVENT, a rejection, was answered with."""
    assert isinstance(event, Rejected)
    return event.status


def asked(events: list[Event]) -> RequestStarted:
    """The first of EVENTS, a request."""
    assert isinstance(events[0], RequestStarted), events
    return events[0]


def head(
    method: str = "GET", target: str = "/", *fields: str, version: str = "1.1", host: str | None = "a.test"
) -> bytes:
    """A request head."""
    lines = [
        f"{method} {target} HTTP/{version}",
        *([f"Host: {host}"] if host is not None else []),
        *fields,
        "",
        "",
    ]
    return "\r\n".join(lines).encode("latin-1")


def joined(events: list[Event]) -> list[Event]:
    """EVENTS with neighbouring pieces of a body joined."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if isinstance(event, RequestData) and isinstance(last, RequestData):
            merged[-1] = RequestData(event.stream, last.data + event.data)
        else:
            merged.append(event)
    return merged


# --- which origin ------------------------------------------------------------------------------------------

ORIGINS = {
    "absolute, the target counts": (
        PROXY,
        head("GET", "http://B.test/x?y", host="a.test"),
        "http://b.test",
        "/x?y",
    ),
    "absolute with port": (PROXY, head("GET", "http://b.test:8080"), "http://b.test:8080", "/"),
    "absolute with default port": (PROXY, head("GET", "http://b.test:80/"), "http://b.test", "/"),
    "absolute with query only": (PROXY, head("GET", "http://b.test?q"), "http://b.test", "/?q"),
    "absolute to IPv6": (PROXY, head("GET", "http://[0:0::1]:81/"), "http://[::1]:81", "/"),
    "OPTIONS of a server": (PROXY, head("OPTIONS", "http://b.test"), "http://b.test", "*"),
    "HTTP/1.0 without Host": (
        PROXY,
        head("GET", "http://b.test/", version="1.0", host=None),
        "http://b.test",
        "/",
    ),
    "tunnel": (TUNNEL, head(), "https://a.test", "/"),
    "tunnel, another spelling": (TUNNEL, head(host="A.TEST.:443"), "https://a.test", "/"),
    "tunnel, absolute": (TUNNEL, head("GET", "https://a.test/x", host="z.test"), "https://a.test", "/x"),
    "tunnel, OPTIONS *": (TUNNEL, head("OPTIONS", "*"), "https://a.test", "*"),
    "tunnel without Host, 1.0": (TUNNEL, head(version="1.0", host=None), "https://a.test", "/"),
    "tunnel to a port, Host without": (Via("https", "a.test", 8443), head(), "https://a.test:8443", "/"),
    "tunnel to an address takes Host": (
        Via("https", "192.0.2.1", 443),
        head(host="b.test"),
        "https://b.test",
        "/",
    ),
    "tunnel to IPv6 takes Host": (Via("https", "::1", 443), head(host="b.test"), "https://b.test", "/"),
    "Unicode host as UTF-8": (
        Via("https", "xn--bcher-kva.test", 443),
        head(host="bücher.test".encode().decode("latin-1")),
        "https://xn--bcher-kva.test",
        "/",
    ),
    "transparent": (TRANSPARENT, head(host="b.test:81"), "http://b.test:81", "/"),
    "transparent, absolute": (
        TRANSPARENT,
        head("GET", "http://b.test/x", host="c.test"),
        "http://b.test",
        "/x",
    ),
    "doubled slashes stay": (TUNNEL, head("GET", "//x//y"), "https://a.test", "//x//y"),
}


@pytest.mark.parametrize("name", ORIGINS)
def test_the_origin_is_the_one_that_the_way_in_makes_it(name: str) -> None:
    """RFC 9112 section 3.2: target, Host and the connection together name one origin."""
    via, octets, origin, target = ORIGINS[name]
    started = asked(fed(octets, via)[1])
    assert (str(started.origin), started.target) == (origin, target)


REFUSED = {
    "origin-form on the proxy port": (PROXY, head(), 400),
    "https URL on the proxy port": (PROXY, head("GET", "https://b.test/"), 400),
    "other scheme": (PROXY, head("GET", "ftp://b.test/"), 400),
    "user information": (PROXY, head("GET", "http://u:p@b.test/"), 400),
    "empty authority": (PROXY, head("GET", "http:///x"), 400),
    "fragment": (TUNNEL, head("GET", "/a#b"), 400),
    "fragment in a URL": (PROXY, head("GET", "http://b.test/a#b"), 400),
    "star for GET": (TUNNEL, head("GET", "*"), 400),
    "port 0": (PROXY, head("GET", "http://b.test:0/"), 400),
    "port too great": (PROXY, head("GET", "http://b.test:65536/"), 400),
    "host that is no IDNA": (TRANSPARENT, head(host=("ü" * 64 + ".test").encode().decode("latin-1")), 400),
    "host that is no UTF-8": (TRANSPARENT, head(host="\xff.test"), 400),
    "host with a space": (TRANSPARENT, head(host="a b"), 400),
    "no brackets": (TRANSPARENT, head(host="::1"), 400),
    "brackets around no address": (TRANSPARENT, head(host="[::g]"), 400),
    "empty Host, transparent": (TRANSPARENT, head(host=""), 400),
    "another host in a tunnel": (TUNNEL, head(host="b.test"), 421),
    "another port in a tunnel": (TUNNEL, head(host="a.test:444"), 421),
    "another URL in a tunnel": (TUNNEL, head("GET", "https://b.test/"), 421),
    "another scheme in a tunnel": (TUNNEL, head("GET", "http://a.test/"), 421),
    "no Host in 1.1": (TUNNEL, head(host=None), 400),
    "two Hosts": (TUNNEL, head("GET", "/", "Host: a.test"), 400),
    "CONNECT in a tunnel": (TUNNEL, head("CONNECT", "b.test:443"), 400),
    "CONNECT without port": (PROXY, head("CONNECT", "b.test"), 400),
    "CONNECT with a body": (PROXY, head("CONNECT", "b.test:443", "Content-Length: 1"), 400),
    "length and coding": (TUNNEL, head("POST", "/", "Content-Length: 1", "Transfer-Encoding: chunked"), 400),
    "coding and length": (TUNNEL, head("POST", "/", "Transfer-Encoding: chunked", "Content-Length: 1"), 400),
    "two lengths": (TUNNEL, head("POST", "/", "Content-Length: 1", "Content-Length: 1"), 400),
    "list of lengths": (TUNNEL, head("POST", "/", "Content-Length: 1, 1"), 400),
    "negative length": (TUNNEL, head("POST", "/", "Content-Length: -1"), 400),
    "signed length": (TUNNEL, head("POST", "/", "Content-Length: +1"), 400),
    "length beyond 64 bits": (TUNNEL, head("POST", "/", f"Content-Length: {10**20}"), 400),
    "length with an upgrade": (
        TUNNEL,
        head(
            "POST",
            "/",
            "Connection: upgrade",
            "Upgrade: x",
            "Content-Length: 1",
            "Transfer-Encoding: chunked",
        ),
        400,
    ),
    "coding in 1.0": (TUNNEL, head("POST", "/", "Transfer-Encoding: chunked", version="1.0"), 400),
    "another coding": (TUNNEL, head("POST", "/", "Transfer-Encoding: gzip, chunked"), 501),
    "chunked not last": (TUNNEL, head("POST", "/", "Transfer-Encoding: chunked, gzip"), 400),
    "identity": (TUNNEL, head("POST", "/", "Transfer-Encoding: identity"), 400),
    "another expectation": (TUNNEL, head("POST", "/", "Expect: 200-ok", "Content-Length: 1"), 417),
    "bare LF": (TUNNEL, b"GET / HTTP/1.1\nHost: a.test\n\n", 400),
    "bare LF in the head": (TUNNEL, b"GET / HTTP/1.1\r\nHost: a.test\n\r\n", 400),
    "bare CR": (TUNNEL, head("GET", "/", "X: a\rb"), 400),
    "folded": (TUNNEL, head("GET", "/", "X: a", " b"), 400),
    "space before the colon": (TUNNEL, head("GET", "/", "X : a"), 400),
    "NUL": (TUNNEL, head("GET", "/", "X: a\0b"), 400),
    "no name": (TUNNEL, head("GET", "/", ": a"), 400),
    "8-bit target": (TUNNEL, head("GET", "/\xe9"), 400),
    "two spaces": (TUNNEL, head("GET", " /"), 400),
    "no method": (TUNNEL, head("G@T"), 400),
    "long method": (TUNNEL, b"X" * 65, 400),
    "HTTP/0.9": (TUNNEL, b"GET /\r\n\r\n", 505),
    "HTTP/1.2": (TUNNEL, head(version="1.2"), 400),
    "HTTP/2.0": (TUNNEL, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "HTTP/3.7": (TUNNEL, head(version="3.7"), 505),
    "ICE": (TUNNEL, b"SOURCE / ICE/1.0\r\n\r\n", 400),
    "TLS": (PROXY, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_malformed_is_answered_once_and_closed(name: str) -> None:
    """Whole and octet by octet: one problem answer, one Rejected, then nothing."""
    via, octets, status = REFUSED[name]
    for step in (len(octets), 1):
        subject = connection(via)
        events = [event for at in range(0, len(octets), step) for event in subject.receive(octets[at : at + step])]
        assert [type(event) for event in events] == [Rejected], events
        assert status_of(events[0]) == status
        sent = subject.take()
        assert sent.startswith(b"HTTP/1.1 %d " % status)
        assert sent.count(b"\r\n\r\n") == 1
        top, _, body = sent.partition(b"\r\n\r\n")
        assert b"\r\nx-replayproxy-decision: rejected" in top
        assert top.endswith(b"\r\nConnection: close")
        assert json.loads(body)["status"] == status
        assert b"Content-Length: %d\r\n" % len(body) in top
        assert subject.closing == "close"
        assert subject.receive(head()) == []
        assert subject.take() == b""


def test_a_refused_head_request_has_no_body() -> None:
    """RFC 9110 section 9.3.2."""
    subject, _ = fed(head("HEAD", host="b.test"))
    assert subject.take().endswith(b"\r\n\r\n")


# --- what the fields say -----------------------------------------------------------------------------------


def test_hop_by_hop_fields_are_not_told() -> None:
    """RFC 9110 section 7.6.1: what Connection lists and what is for this hop alone is gone, the rest stays as sent."""
    fields = ["X-One: 1", "Connection: X-Gone, host", "x-gone: 2", "Keep-Alive: 5", "TE: trailers", "Trailer: Z",
              "Proxy-Connection: keep-alive", "Upgrade: h2c", "X-TWO:  3 \t", "X-One: 4", "Empty:"]  # fmt: skip
    started = asked(fed(head("GET", "/", *fields))[1])
    assert started.headers == (
        ("Host", "a.test"),
        ("X-One", "1"),
        ("X-TWO", "3"),
        ("X-One", "4"),
        ("Empty", ""),
    )
    assert started.upgrade == ""


@pytest.mark.parametrize(
    ("value", "user"),
    [
        ("Basic ZXBpc29kZTp4", "episode"),
        ("basic  w7w6eA==", "ü"),
        ("Basic ZXBpc29kZQ==", "episode"),
        ("Basic !!", ""),
        ("Basic /////w==", ""),
        ("Bearer x", ""),
    ],
)
def test_the_proxy_user_is_told_and_its_field_is_not(value: str, user: str) -> None:
    """What cannot be read names nobody, so that it is refused and not taken for the default."""
    field = f"Proxy-Authorization: {value}"
    started = asked(fed(head("GET", "http://a.test/", field), PROXY)[1])
    assert (started.user, started.headers) == (user, (("Host", "a.test"),))
    tunnel = fed(head("CONNECT", "A.test:443", field), PROXY)[1]
    assert tunnel == [TunnelRequested(stream=1, host="a.test", port=443, user=user)]
    assert asked(fed(head("GET", "/", field))[1]).user is None


def test_a_method_that_nobody_registered_is_told_as_it_is() -> None:
    """RFC 9110 section 16.1: methods are open, and vendors use their own."""
    for method in ("LIST", "PURGE", "get", "X-1"):
        assert asked(fed(head(method))[1]).method == method


BODIES = {
    "length": (["Content-Length: 5"], b"hello", b"hello", ()),
    "chunks": (["Transfer-Encoding: chunked"], b'2\r\nhe\r\n3;x="y"\r\nllo\r\n0\r\n\r\n', b"hello", ()),
    "trailers": (
        ["Transfer-Encoding: Chunked"],
        b"5 ;x\r\nhello\r\n0\r\nX-Sum: 1 \r\nHost: z\r\nContent-Length: 9\r\n\r\n",
        b"hello",
        (("X-Sum", "1"),),
    ),
    "upgrade with a body": (
        ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA", "Content-Length: 5"],
        b"hello",
        b"hello",
        (),
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_end_where_their_framing_says(name: str) -> None:
    """RFC 9112 section 6: what follows is the next request, told once the answer has ended."""
    fields, octets, body, trailers = BODIES[name]
    subject, events = fed(head("POST", "/", *fields) + octets + head("GET", "/next"))
    started, *rest = joined(events)
    assert isinstance(started, RequestStarted)
    assert started.has_body
    assert rest == [RequestData(1, body), RequestEnded(1, trailers)]
    waiting = [subject.waiting]
    subject.respond(1, 200, "OK", (), b"")
    waiting.append(subject.waiting)
    assert asked(subject.receive(b"")).target == "/next"
    waiting.append(subject.waiting)
    assert waiting == [False, True, False]


@pytest.mark.parametrize(
    "octets",
    [b"x\r\n", b"5\r\nhelloo", b"5\n", b"-1\r\n", b"0x5\r\n", b"5 \r\n", b"11111111111111111\r\n", b"\r\n", b"5;\x00",
     b"0\r\nX: a\n\r\n", b"0\r\n X: a\r\n\r\n", b"5\r\nhello\n", b"1;" + b"x" * 5000],
)  # fmt: skip
def test_a_malformed_body_ends_the_exchange(octets: bytes) -> None:
    """The request that was begun is gone, and answered 400 if nothing was sent yet."""
    for step in (len(octets), 1):
        subject, events = fed(head("POST", "/", "Transfer-Encoding: chunked"))
        events = [e for at in range(0, len(octets), step) for e in subject.receive(octets[at : at + step])]
        assert [type(event) for event in events if not isinstance(event, RequestData)] == [
            StreamGone,
            Rejected,
        ]
        assert subject.take().startswith(b"HTTP/1.1 400 ")
        assert subject.closing == "close"


def test_a_malformed_body_cuts_an_answer_that_has_begun() -> None:
    """No second answer is put behind the first."""
    subject, _ = fed(head("POST", "/", "Transfer-Encoding: chunked"))
    subject.start(1, 200, "OK", (), length=None)
    subject.take()
    events = subject.receive(b"zz\r\n")
    assert [type(event) for event in events] == [StreamGone, Rejected]
    assert status_of(events[1]) == 0
    assert (subject.take(), subject.closing) == (b"", "close")


LIMITS = {
    "head": (head("GET", "/", "X: " + "x" * 300), Limits(head_octets=256), 431),
    "head without end": (head("GET", "/", "X: " + "x" * 300)[:-2], Limits(head_octets=256), 431),
    "target": (head("GET", "/" + "x" * 100), Limits(target_octets=100), 414),
    "target without end": (b"GET /" + b"x" * 100, Limits(target_octets=100), 414),
    "fields": (head("GET", "/", "A: 1", "B: 2"), Limits(fields=2), 431),
    "length": (head("POST", "/", "Content-Length: 11"), Limits(body_octets=10), 413),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_answered_by_their_status(name: str) -> None:
    """Whole and octet by octet alike; one less is accepted (see the next test)."""
    octets, limits, status = LIMITS[name]
    for step in (len(octets), 1):
        subject = connection(limits=limits)
        events = [event for at in range(0, len(octets), step) for event in subject.receive(octets[at : at + step])]
        assert [status_of(event) for event in events] == [status]


def test_limits_let_through_what_is_within_them() -> None:
    """Each limit is the greatest size that is accepted."""
    whole = head("GET", "/" + "x" * 99, "A: 1")
    for step in (len(whole), 1):
        subject = connection(limits=Limits(head_octets=len(whole), target_octets=100, fields=2, body_octets=10))
        events = [event for at in range(0, len(whole), step) for event in subject.receive(whole[at : at + step])]
        assert asked(events).target == "/" + "x" * 99
    body = head("POST", "/", "Content-Length: 10") + b"x" * 10
    assert joined(fed(body, limits=Limits(body_octets=10))[1])[1:] == [
        RequestData(1, b"x" * 10),
        RequestEnded(1),
    ]


CHUNKED_LIMITS = {
    "body": (b"6\r\nhello \r\n5\r\nworld\r\n", Limits(body_octets=10), 413),
    "extensions": (b"1;abcd\r\nx\r\n1;efgh\r\nx\r\n", Limits(chunk_extension_octets=9), 400),
    "trailers": (b"0\r\nX: " + b"x" * 100, Limits(trailer_octets=50), 431),
}


@pytest.mark.parametrize("name", CHUNKED_LIMITS)
def test_limits_of_chunked_bodies(name: str) -> None:
    """What a body of unknown length may be is bounded while it is read."""
    octets, limits, status = CHUNKED_LIMITS[name]
    _, events = fed(head("POST", "/", "Transfer-Encoding: chunked") + octets, limits=limits)
    assert [type(event) for event in events[-2:]] == [StreamGone, Rejected]
    assert status_of(events[-1]) == status


# --- answers -----------------------------------------------------------------------------------------------

RECORDED: Headers = (
    ("ETag", '"a"'),
    ("content-LENGTH", "99"),
    ("Alt-Svc", 'h3=":443"'),
    ("Connection", "x-hop"),
    ("X-Hop", "1"),
    ("Keep-Alive", "timeout=5"),
    ("Set-Cookie", "a"),
    ("set-cookie", "b"),
)


def answered(
    request: bytes, status: int, headers: Headers, pieces: list[bytes], length: int | None, **more: Headers
) -> bytes:
    """What is sent as the answer to REQUEST."""
    subject, _ = fed(request)
    subject.start(1, status, "Fine", headers, length=length)
    for piece in pieces:
        subject.data(1, piece)
    subject.end(1, more.get("trailers", ()))
    return subject.take()


KEPT = b'ETag: "a"\r\n'
COOKIES = b"Set-Cookie: a\r\nset-cookie: b\r\n"
ANSWERS = {
    "length restated in place": (
        head(), 203, RECORDED, [b"he", b"llo"], 5, KEPT + b"content-LENGTH: 5\r\n" + COOKIES + b"\r\nhello",
    ),
    "length put last": (head(), 200, (("A", "b"),), [b"x"], 1, b"A: b\r\nContent-Length: 1\r\n\r\nx"),
    "no body, length 0": (head(), 200, (), [], 0, b"Content-Length: 0\r\n\r\n"),
    "chunks, coding put last": (
        head(), 200, RECORDED, [b"he", b"", b"llo"], None,
        KEPT + COOKIES + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    ),
    "chunks, coding in place": (
        head(), 200, (("transfer-Encoding", "gzip, chunked"), ("Trailer", "X"), ("A", "b")), [b"x"], None,
        b"transfer-Encoding: chunked\r\nTrailer: X\r\nA: b\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    ),
    "no chunks, no Trailer": (
        head(), 200, (("Trailer", "X"), ("Transfer-Encoding", "chunked")), [b"x"], 1, b"Content-Length: 1\r\n\r\nx",
    ),
    "1.0 is ended by the close": (
        head(version="1.0"), 200, (("Transfer-Encoding", "chunked"), ("A", "b")), [b"x", b"y"], None, b"A: b\r\n\r\nxy",
    ),
    "1.0 kept alive": (
        head("GET", "/", "Connection: Keep-Alive", version="1.0"), 200, (), [b"x"], 1,
        b"Content-Length: 1\r\nConnection: keep-alive\r\n\r\nx",
    ),
    "1.1 closed": (
        head("GET", "/", "Connection: close"), 200, (), [b"x"], 1, b"Content-Length: 1\r\nConnection: close\r\n\r\nx",
    ),
    "HEAD keeps the recorded length": (
        head("HEAD"), 200, (("content-length", "4096"), ("A", "b")), [b"x"], 0, b"content-length: 4096\r\nA: b\r\n\r\n",
    ),
    "HEAD keeps the recorded coding": (
        head("HEAD"), 200, (("Transfer-Encoding", "chunked"),), [], None, b"Transfer-Encoding: chunked\r\n\r\n",
    ),
    "HEAD with neither": (head("HEAD"), 200, (), [b"x"], 1, b"\r\n"),
    "304 keeps its length": (head(), 304, (("Content-Length", "7"),), [], 0, b"Content-Length: 7\r\n\r\n"),
    "204 has none": (head(), 204, (("Content-Length", "0"), ("Transfer-Encoding", "chunked")), [], 0, b"\r\n"),
    "205 has a length of 0": (head(), 205, (), [], 0, b"Content-Length: 0\r\n\r\n"),
    "426 says what to upgrade to": (
        head(), 426, (("Upgrade", "TLS/1.0"),), [], 0, b"Upgrade: TLS/1.0\r\nContent-Length: 0\r\n\r\n",
    ),
    "407 says how": (
        head(), 407, (("Proxy-Authenticate", "Basic"), ("Proxy-Status", "x")), [], 0,
        b"Proxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_framing_is_redone_and_nothing_else_is_touched(name: str) -> None:
    """RFC 9112 section 6: framing for the client at hand, in the recorded field's place and case."""
    request, status, headers, pieces, length, expected = ANSWERS[name]
    sent = answered(request, status, headers, pieces, length)
    line, _, rest = sent.partition(b"\r\n")
    assert line == b"HTTP/1.1 %d Fine" % status
    assert (rest or b"") == expected


def test_trailers_go_only_with_chunks() -> None:
    """RFC 9112 section 7.1.2; framing fields cannot be trailers."""
    trailers = (("X-Sum", "1"), ("Content-Length", "5"))
    assert answered(head(), 200, (), [b"x"], None, trailers=trailers).endswith(
        b"\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n"
    )
    assert answered(head(), 200, (), [b"x"], 1, trailers=trailers).endswith(b"\r\n\r\nx")
    assert answered(head(version="1.0"), 200, (), [b"x"], None, trailers=trailers).endswith(b"\r\n\r\nx")


def test_a_reason_goes_out_as_recorded() -> None:
    """An empty one keeps its space (RFC 9112 section 4)."""
    for reason in ("", "Tout va très bien"):
        subject, _ = fed(head())
        subject.respond(1, 200, reason, (), b"")
        assert subject.take().startswith(f"HTTP/1.1 200 {reason}\r\n".encode("latin-1"))


BAD_HEADS: dict[str, tuple[int, str, Headers]] = {
    "line end in a value": (200, "OK", (("A", "b\r\nC: d"),)),
    "line feed in a value": (200, "OK", (("A", "b\nC: d"),)),
    "NUL in a value": (200, "OK", (("A", "b\0"),)),
    "line end in the reason": (200, "OK\r\nA: b", ()),
    "no name": (200, "OK", (("", "b"),)),
    "colon in a name": (200, "OK", (("A:", "b"),)),
    "beyond Latin-1": (200, "OK", (("A", "€"),)),
    "no status": (99, "OK", ()),
}


@pytest.mark.parametrize("name", BAD_HEADS)
def test_a_head_that_cannot_be_sent_sends_nothing(name: str) -> None:
    """A cassette cannot split an answer; another answer can still be given."""
    status, reason, headers = BAD_HEADS[name]
    subject, _ = fed(head())
    with pytest.raises(ValueError, match=r"\w"):
        subject.start(1, status, reason, headers, length=0)
    assert subject.take() == b""
    subject.respond(1, 502, "Bad Gateway", (), b"")
    assert subject.take().startswith(b"HTTP/1.1 502 ")


def test_bodies_keep_to_their_length() -> None:
    """More than the length is an error of the caller; less ends as a truncated body does."""
    subject, _ = fed(head())
    subject.start(1, 200, "OK", (), length=3)
    with pytest.raises(ValueError, match="longer"):
        subject.data(1, b"four")
    subject.data(1, b"ab")
    subject.end(1)
    assert subject.take().endswith(b"\r\n\r\nab")
    assert subject.closing == "close"


def test_calls_out_of_order_are_errors() -> None:
    """A body before a head, and a second head, are mistakes of the host."""
    subject, _ = fed(head())
    for call in (lambda: subject.data(1, b"x"), lambda: subject.end(1), subject.accept_tunnel):
        with pytest.raises(RuntimeError):
            call()
    subject.start(1, 200, "OK", (), length=0)
    with pytest.raises(RuntimeError):
        subject.start(1, 200, "OK", (), length=0)


# --- expectations, interim answers -------------------------------------------------------------------------

EXPECTING = head("PUT", "/", "Expect: 100-Continue", "Content-Length: 3")


def test_a_100_is_sent_where_it_is_waited_for() -> None:
    """RFC 9110 section 10.1.1: once, before the body, and not for a body of no octets or HTTP/1.0."""
    subject, events = fed(EXPECTING)
    assert asked(events).expects_continue
    assert asked(events).headers == (("Host", "a.test"), ("Content-Length", "3"))
    for _ in range(2):
        subject.interim(1, Interim(status=100, reason="Continue"))
    assert subject.take() == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert subject.receive(b"abc") == [RequestData(1, b"abc"), RequestEnded(1)]
    subject.respond(1, 200, "OK", (), b"")
    assert b"Connection" not in subject.take()
    for octets in (
        head("PUT", "/", "Expect: 100-continue", "Content-Length: 0"),
        head("PUT", "/", "Expect: 100-continue"),
        head("PUT", "/", "Expect: 100-continue", "Content-Length: 3", version="1.0"),
    ):
        subject, events = fed(octets)
        assert not asked(events).expects_continue
        subject.interim(1, Interim(status=100))
        assert subject.take() == b""


def test_a_final_answer_instead_of_a_100_closes() -> None:
    """The body was not read, so what follows cannot be told from it."""
    subject, _ = fed(EXPECTING)
    subject.respond(1, 417, "Expectation Failed", (), b"no")
    assert subject.take().endswith(b"Content-Length: 2\r\nConnection: close\r\n\r\nno")
    assert subject.closing == "close"
    assert subject.receive(b"abc") == []


def test_interim_answers_come_before_the_final_one() -> None:
    """RFC 9110 section 15.2: as recorded, without hop-by-hop fields, and never to HTTP/1.0."""
    hints = Interim(status=103, reason="Early Hints", headers=(("Link", "</a>"), ("Connection", "x")))
    subject, _ = fed(head())
    subject.interim(1, hints)
    subject.start(1, 200, "OK", (), length=0)
    subject.interim(1, hints)
    assert (
        subject.take() == b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    )
    subject, _ = fed(head(version="1.0"))
    subject.interim(1, hints)
    assert subject.take() == b""


# --- how long the connection lives -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("octets", "closing"),
    [
        (head(), ""),
        (head("GET", "/", "Connection: close"), "close"),
        (head("GET", "/", "Connection: keep-alive, Close"), "close"),
        (head(version="1.0"), "close"),
        (head("GET", "/", "Connection: keep-alive", version="1.0"), ""),
        (head("GET", "/", "Connection: keep-alive", "Connection: close", version="1.0"), "close"),
    ],
)
def test_persistence_follows_the_version_and_connection(octets: bytes, closing: str) -> None:
    """RFC 9112 section 9.3."""
    subject, _ = fed(octets)
    before = subject.closing
    subject.respond(1, 200, "OK", (), b"x")
    assert (before, subject.closing) == ("", closing)
    assert subject.idle is (not closing)


def test_pipelined_requests_are_told_one_after_the_other() -> None:
    """RFC 9112 section 9.3.2: answers in the order of the requests, without the host's doing."""
    subject = connection()
    events = subject.receive(head("GET", "/1") + head("GET", "/2"))
    assert [event.stream for event in events] == [1, 1]  # type: ignore[union-attr]
    assert subject.receive(head("GET", "/3")) == []
    for number in (1, 2, 3):
        subject.respond(number, 200, "OK", (), b"%d" % number)
        assert subject.take().endswith(b"%d" % number)
        events = subject.receive(b"")
        assert [event.target for event in events if isinstance(event, RequestStarted)] == (
            [f"/{number + 1}"] if number < 3 else []
        )


def test_too_much_pipelined_is_dropped_and_the_connection_closes() -> None:
    """RFC 9112 section 9.3.2: the client sends again what was not answered."""
    subject, _ = fed(head(), limits=Limits(pipelined_octets=100))
    reading = [subject.reading]
    subject.receive(b"x" * 60)
    reading.append(subject.reading)
    assert reading == [True, False]
    subject.receive(b"x" * 60)
    subject.receive(b"x" * 60)
    subject.respond(1, 200, "OK", (), b"")
    assert b"\r\nConnection: close\r\n" in subject.take()
    assert (subject.closing, subject.waiting) == ("close", False)


def test_an_end_behind_a_whole_request_still_gets_its_answer() -> None:
    """A client may end its side when it has asked all it wants."""
    subject, _ = fed(head("GET", "/1") + head("GET", "/2"))
    assert subject.receive_eof() == []
    subject.respond(1, 200, "OK", (), b"1")
    assert b"Connection: close" not in subject.take()
    assert asked(subject.receive(b"")).target == "/2"
    subject.respond(2, 200, "OK", (), b"2")
    assert b"Connection: close" in subject.take()
    assert subject.closing == "close"


def test_an_end_behind_half_a_pipelined_request_closes() -> None:
    """Nothing more will come to make it whole."""
    for behind in (b"GET / HT", head("POST", "/", "Content-Length: 3") + b"a"):
        subject, _ = fed(head() + behind)
        subject.receive_eof()
        subject.respond(1, 200, "OK", (), b"1")
        events = subject.receive(b"")
        assert subject.closing == "close"
        assert not any(isinstance(event, RequestEnded) for event in events)


def test_a_client_that_goes_gives_up_what_is_open() -> None:
    """A request that is not whole, or an answer that nobody can take, is told as gone; late calls do nothing."""
    subject, _ = fed(head("POST", "/", "Content-Length: 3"))
    assert subject.receive_eof() == [StreamGone(1)]
    assert subject.closing == "close"
    subject, _ = fed(head())
    assert subject.receive_eof(lost=True) == [StreamGone(1)]
    subject.interim(1, Interim(status=103))
    subject.respond(1, 200, "OK", (), b"x")
    subject.abort(1, "reset")
    assert (subject.take(), subject.closing) == (b"", "close")
    assert connection().receive_eof() == []
    subject, _ = fed(b"GET / HT")
    assert not subject.idle
    assert subject.receive_eof() == []
    assert subject.closing == "close"


@pytest.mark.parametrize(("kind", "closing"), [("reset", "reset"), ("close", "close"), ("truncate", "close")])
def test_an_abort_sends_nothing_more(kind: str, closing: str) -> None:
    """What was sent before it stands; then the connection ends as the fault did."""
    subject, _ = fed(head() + head("GET", "/next"))
    subject.start(1, 200, "OK", (), length=None)
    subject.data(1, b"x")
    subject.abort(1, kind)  # type: ignore[arg-type]
    subject.data(1, b"y")
    subject.end(1)
    assert subject.take().endswith(b"1\r\nx\r\n")
    assert (subject.closing, subject.waiting, subject.receive(b"")) == (closing, False, [])


# --- tunnels -----------------------------------------------------------------------------------------------


def test_a_tunnel_is_handed_over_with_what_came_behind_connect() -> None:
    """The client may not wait for the 200 before it speaks TLS."""
    subject, events = fed(head("CONNECT", "[::1]:443") + b"\x16\x03", PROXY)
    assert events == [TunnelRequested(stream=1, host="::1", port=443)]
    assert subject.accept_tunnel() == b"\x16\x03"
    assert subject.take() == b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_a_refused_tunnel_leaves_the_connection_unless_octets_came_behind() -> None:
    """Those would be read as a request."""
    subject, _ = fed(head("CONNECT", "a.test:443"), PROXY)
    subject.respond(1, 407, "Proxy Authentication Required", (("Proxy-Authenticate", "Basic"),), b"")
    assert subject.closing == ""
    assert isinstance(subject.receive(head("CONNECT", "a.test:443"))[0], TunnelRequested)
    subject, _ = fed(head("CONNECT", "a.test:443") + b"\x16", PROXY)
    subject.respond(1, 424, "Failed Dependency", (), b"")
    assert b"Connection: close" in subject.take()
    assert subject.closing == "close"
    subject, _ = fed(head("CONNECT", "a.test:443"), PROXY, Limits(pipelined_octets=10))
    assert subject.receive(b"x" * 11) == [Rejected(400, "the client did not wait for the answer to CONNECT")]


def test_a_101_makes_the_connection_plain() -> None:
    """RFC 9110 section 15.2.2: what was upgraded to is octets from then on, both ways."""
    upgrade = head("GET", "/", "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x")
    subject, events = fed(upgrade + b"early")
    assert asked(events).upgrade == "websocket"
    assert asked(events).headers == (("Host", "a.test"), ("Sec-WebSocket-Key", "x"))
    subject.start(1, 101, "Switching", (("Upgrade", "websocket"), ("Connection", "Upgrade")), length=None)
    assert subject.take() == b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    assert subject.receive(b"more") == [RequestData(1, b"earlymore")]
    subject.data(1, b"\x81\x00")
    assert subject.take() == b"\x81\x00"
    assert subject.receive(b"x") == [RequestData(1, b"x")]
    subject.end(1)
    assert (subject.take(), subject.closing) == (b"", "close")
    subject, _ = fed(upgrade)
    subject.start(1, 101, "", (("Upgrade", "websocket"),), length=None)
    assert subject.receive_eof() == [StreamGone(1)]


# --- laws --------------------------------------------------------------------------------------------------

GOOD = [
    head("GET", "/x?y=1", "A: b"),
    b"\r\n\r\n" + head("HEAD"),
    head("LIST", "/v1"),
    head("POST", "/", "Content-Length: 5") + b"hello",
    head("POST", "/", "Transfer-Encoding: chunked") + b"2\r\nhe\r\n3;x\r\nllo\r\n0\r\nX: y\r\n\r\n",
    head("POST", "/", "Connection: upgrade", "Upgrade: h2c", "Content-Length: 2") + b"ab",
    head("GET", "/", "Connection: close"),
    b"GET / HTTP/1.1\nHost: a\n\n",
    head("GET", host="b.test"),
    b"\x16\x03\x01",
]


def play(pieces: list[bytes]) -> tuple[list[Event], bytes, str]:
    """Feeds PIECES to a connection whose host answers every whole request at once."""
    subject = connection()
    told: list[Event] = []
    for piece in pieces:
        events = subject.receive(piece)
        while events:
            told += events
            for event in events:
                if isinstance(event, RequestEnded):
                    subject.respond(event.stream, 200, "OK", (), b"ok")
            events = subject.receive(b"") if subject.waiting else []
    return joined(told), subject.take(), subject.closing


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(GOOD), min_size=1, max_size=4).map(b"".join), st.data())
def test_events_do_not_depend_on_how_the_input_is_cut(octets: bytes, data: st.DataObject) -> None:
    """Whole, octet by octet, or cut anywhere: the same events, the same answers, the same end."""
    whole = play([octets])
    assert play([octets[at : at + 1] for at in range(len(octets))]) == whole
    cuts = sorted(data.draw(st.sets(st.integers(0, len(octets)), max_size=6)))
    ends = [0, *cuts, len(octets)]
    assert play([octets[a:b] for a, b in pairwise(ends)]) == whole


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(GOOD), min_size=1, max_size=3).map(b"".join), st.data())
def test_no_octets_raise_and_mutations_are_cut_independent(octets: bytes, data: st.DataObject) -> None:
    """Any octet may be changed, dropped or put in; receive gives events, never an exception."""
    mutated = bytearray(octets)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b"\r", b"\n", b" ", b":"])
        )
    whole = play([bytes(mutated)])
    assert play([bytes(mutated[at : at + 1]) for at in range(len(mutated))]) == whole


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([PROXY, TUNNEL, TRANSPARENT]))
def test_noise_never_raises(octets: bytes, via: Via) -> None:
    """Nor does the end of the input behind it."""
    subject = connection(via)
    subject.receive(octets)
    subject.receive_eof()
    assert subject.closing == "close" or subject.idle is False


def test_the_origin_is_an_origin() -> None:
    """Told origins are normalised as `Origin.of` does."""
    assert asked(fed(head("GET", "http://EXAMPLE.test./"), PROXY)[1]).origin == Origin.of("http", "example.test")
