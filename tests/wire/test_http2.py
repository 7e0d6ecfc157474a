"""The HTTP/2 server connection, against the client side of hyper-h2 and against raw frames."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import Interim
from replayproxy.wire.events import (
    Event,
    Rejected,
    RequestData,
    RequestEnded,
    RequestStarted,
    StreamGone,
    Via,
)
from replayproxy.wire.http2 import Http2Connection
from replayproxy.wire.limits import Limits

TUNNEL = Via("https", "a.test", 443)
GET = [(":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", "/x?y")]
POST = [(":method", "POST"), *GET[1:]]

type Fields = list[tuple[str, str]]


def text(headers: list[Any]) -> Fields:
    """HEADERS, which the client decodes to text, for what hyper-h2 declares them to be."""
    return [(str(name), str(value)) for name, value in headers]


class Pair:
    """A client of hyper-h2 and the connection under test; octets pass when `pass_on` is called."""

    def __init__(self, via: Via = TUNNEL, limits: Limits = Limits(), *, strict: bool = True) -> None:  # noqa: B008
        self.client = h2.connection.H2Connection(
            h2.config.H2Configuration(
                header_encoding="latin-1",
                validate_outbound_headers=strict,
                normalize_outbound_headers=strict,
            )
        )
        self.client.initiate_connection()
        self.server = Http2Connection(via, limits)
        self.told: list[Event] = []
        self.seen: list[h2.events.Event] = []
        self.pass_on()

    def pass_on(self) -> list[Event]:
        """Both sides receive what the other has sent, until neither has more; what the server told."""
        told: list[Event] = []
        while True:
            up = self.client.data_to_send()
            told += self.server.receive(up) if up else []
            down = self.server.take()
            self.seen += self.client.receive_data(down) if down else []
            if not up and not down:
                break
        self.told += told
        return told

    def ask(self, fields: Fields, body: bytes | None = None, trailers: Fields | None = None) -> int:
        """Sends a request; its stream."""
        stream: int = self.client.get_next_available_stream_id()
        self.client.send_headers(stream, fields, end_stream=body is None and trailers is None)
        if body is not None:
            self.client.send_data(stream, body, end_stream=trailers is None)
        if trailers is not None:
            self.client.send_headers(stream, trailers, end_stream=True)
        self.pass_on()
        return stream

    def answer(self, stream: int) -> tuple[Fields, bytes, Fields, bool]:
        """Head, body, trailers of the answer on STREAM as the client has it, and whether it is whole."""
        self.pass_on()
        mine = [event for event in self.seen if getattr(event, "stream_id", None) == stream]
        head = next((text(e.headers) for e in mine if isinstance(e, h2.events.ResponseReceived)), [])
        body = b"".join(e.data for e in mine if isinstance(e, h2.events.DataReceived))
        trailers = next((text(e.headers) for e in mine if isinstance(e, h2.events.TrailersReceived)), [])
        return head, body, trailers, any(isinstance(e, h2.events.StreamEnded) for e in mine)

    def reset_code(self, stream: int) -> int | None:
        """The code that STREAM was reset with, None if it was not."""
        self.pass_on()
        codes = [e.error_code for e in self.seen if isinstance(e, h2.events.StreamReset) and e.stream_id == stream]
        return int(codes[0]) if codes else None


def started(events: list[Event]) -> RequestStarted:
    """The first of EVENTS, a request."""
    assert isinstance(events[0], RequestStarted), events
    return events[0]


def test_nothing_is_held_back() -> None:
    """The windows bound what a client may send; a host that asks gets HTTP/1's words."""
    server = Http2Connection(TUNNEL, Limits())
    assert (server.waiting, server.reading, server.idle) == (False, True, True)


def test_a_request_looks_as_under_http1() -> None:
    """`:authority` comes first as Host; crumbs of Cookie are joined where the first was; TE stays (gRPC)."""
    pair = Pair()
    fields = [("cookie", "a=1"), ("x-a", "1"), ("cookie", "b=2"), ("te", "trailers"), ("x-a", "2")]
    stream = pair.ask([*GET, *fields])
    told = started(pair.told)
    assert (told.method, str(told.origin), told.target, told.version) == ("GET", "https://a.test", "/x?y", "HTTP/2")
    assert told.headers == (
        ("Host", "a.test"),
        ("cookie", "a=1; b=2"),
        ("x-a", "1"),
        ("te", "trailers"),
        ("x-a", "2"),
    )
    assert not told.has_body
    assert pair.told[1:] == [RequestEnded(stream)]


def test_bodies_and_trailers_are_told() -> None:
    """RFC 9113 section 8.1; Content-Length stays a field."""
    pair = Pair()
    stream = pair.ask([*POST, ("content-length", "5")], b"hello", [("x-sum", "1")])
    assert started(pair.told).has_body
    assert ("content-length", "5") in started(pair.told).headers
    assert pair.told[1:] == [RequestData(stream, b"hello"), RequestEnded(stream, (("x-sum", "1"),))]


def test_a_whole_answer() -> None:
    """Names in lower case, Content-Length restated, nothing connection-specific, no reason."""
    pair = Pair()
    stream = pair.ask(GET)
    recorded = (
        ("ETag", "a"),
        ("Content-Length", "9"),
        ("Connection", "close"),
        ("Alt-Svc", "x"),
        ("B", "1"),
        ("b", "2"),
    )
    pair.server.respond(stream, 203, "Fine", recorded, b"hello")
    expected = [(":status", "203"), ("etag", "a"), ("content-length", "5"), ("b", "1"), ("b", "2")]
    assert pair.answer(stream) == (expected, b"hello", [], True)
    assert pair.server.idle
    assert pair.server.closing == ""


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("status", [200, 204, 304])
def test_answers_without_a_body(method: str, status: int) -> None:
    """HEAD and 304 keep the recorded length, 204 has none (RFC 9110 section 8.6)."""
    pair = Pair()
    stream = pair.ask([(":method", method), *GET[1:]])
    bodiless = method == "HEAD" or status != 200
    pair.server.start(stream, status, "", (("Content-Length", "7"),), length=None if bodiless else 7)
    pair.server.data(stream, b"content")
    pair.server.end(stream, (("x", "y"),) if bodiless else ())
    head, body, trailers, whole = pair.answer(stream)
    length = [] if status == 204 else [("content-length", "7")]
    assert (head, trailers, whole) == ([(":status", str(status)), *length], [], True)
    assert body == (b"" if bodiless else b"content")


def test_a_stream_with_trailers() -> None:
    """Each piece is DATA of its own; a length that is not known is not stated."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.server.start(stream, 200, "", (("content-type", "application/grpc"), ("content-length", "9")), length=None)
    for piece in (b"one", b"", b"two"):
        pair.server.data(stream, piece)
    pair.server.end(stream, (("grpc-status", "0"), ("grpc-message", ""), ("connection", "x")))
    head, body, trailers, whole = pair.answer(stream)
    assert head == [(":status", "200"), ("content-type", "application/grpc")]
    assert (body, whole) == (b"onetwo", True)
    assert trailers == [("grpc-status", "0"), ("grpc-message", "")]
    assert sum(isinstance(event, h2.events.DataReceived) for event in pair.seen) == 2


def test_an_answer_of_a_head_alone_ends_with_it() -> None:
    """gRPC tells an answer of trailers only by END_STREAM on the head."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.server.start(stream, 200, "", (("grpc-status", "5"),), length=None)
    pair.server.end(stream)
    octets = pair.server.take()
    assert octets[3] == 1  # HEADERS
    assert octets[4] & 1  # END_STREAM
    assert len(octets) == 9 + int.from_bytes(octets[:3])


def test_a_head_does_not_wait_for_its_body() -> None:
    """The client sees it as soon as octets are taken."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.server.start(stream, 200, "", (), length=None)
    assert pair.answer(stream)[0] == [(":status", "200")]
    pair.server.end(stream)
    assert pair.answer(stream)[3]


def test_bodies_wait_for_the_windows() -> None:
    """RFC 9113 section 5.2: what does not fit is kept, and the end comes behind it."""
    pair = Pair()
    streams = [pair.ask(GET), pair.ask(GET)]
    body = bytes(range(256)) * 400
    for stream in streams:
        pair.server.respond(stream, 200, "", (), body)
    pair.answer(streams[0])
    assert pair.server.backlog == 2 * len(body) - 65_535
    assert not pair.server.idle
    for _ in range(20):
        for event in [e for e in pair.seen if isinstance(e, h2.events.DataReceived) and e.flow_controlled_length]:
            pair.client.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            event.flow_controlled_length = 0
        pair.pass_on()
    for stream in streams:
        assert pair.answer(stream)[1:] == (body, [], True)
    assert pair.server.backlog == 0


def test_a_changed_initial_window_lets_bodies_go() -> None:
    """RFC 9113 section 6.9.2."""
    pair = Pair()
    pair.client.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 2})
    pair.pass_on()
    stream = pair.ask(GET)
    pair.server.respond(stream, 200, "", (), b"hello")
    assert pair.answer(stream)[1:] == (b"he", [], False)
    pair.client.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 100})
    assert pair.answer(stream)[1:] == (b"hello", [], True)


def test_large_uploads_are_not_stopped_by_the_windows() -> None:
    """The windows open again as data is told."""
    pair = Pair()
    stream = pair.ask(POST, b"")
    pair.told.clear()
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, POST)
    for _ in range(300):
        pair.client.send_data(stream, b"x" * 16_384)
        pair.pass_on()
    pair.client.end_stream(stream)
    pair.pass_on()
    assert sum(len(event.data) for event in pair.told if isinstance(event, RequestData)) == 300 * 16_384
    assert pair.told[-1] == RequestEnded(stream)


def test_interim_answers() -> None:
    """A 100 where it is waited for, once; others as recorded; never 101 and never behind the head."""
    pair = Pair()
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, [*POST, ("expect", "100-continue")])
    told = started(pair.pass_on())
    assert told.expects_continue
    assert all(name != "expect" for name, _ in told.headers)
    for status in (100, 100, 103, 101):
        pair.server.interim(stream, Interim(status=status, headers=(("X-A", "1"), ("Connection", "x"))))
    pair.server.start(stream, 200, "", (), length=0)
    pair.server.interim(stream, Interim(status=103))
    pair.pass_on()
    interim = [text(event.headers) for event in pair.seen if isinstance(event, h2.events.InformationalResponseReceived)]
    assert interim == [[(":status", "100"), ("x-a", "1")], [(":status", "103"), ("x-a", "1")]]
    other = pair.ask([*GET, ("expect", "100-continue")])
    assert not started(pair.told[-2:]).expects_continue
    pair.server.interim(other, Interim(status=100))
    assert pair.server.take() == b""


def test_an_answer_before_the_request_is_whole_stops_it() -> None:
    """RFC 9113 section 8.1: RST_STREAM with NO_ERROR behind the answer."""
    pair = Pair()
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, POST)
    pair.pass_on()
    pair.server.respond(stream, 413, "", (), b"no")
    assert pair.answer(stream)[1:] == (b"no", [], True)
    assert pair.reset_code(stream) == h2.errors.ErrorCodes.NO_ERROR


REFUSED: dict[str, tuple[Fields, int]] = {
    "another host": ([*GET[:2], (":authority", "b.test"), GET[3]], 421),
    "another port": ([*GET[:2], (":authority", "a.test:444"), GET[3]], 421),
    "another scheme": ([GET[0], (":scheme", "http"), *GET[2:]], 421),
    "no valid host": ([*GET[:2], (":authority", "u@a.test"), GET[3]], 400),
    "CONNECT": ([(":method", "CONNECT"), (":authority", "b.test:443")], 501),
    "path without slash": ([*GET[:3], (":path", "x")], 400),
    "star for GET": ([*GET[:3], (":path", "*")], 400),
    "path with a space": ([*GET[:3], (":path", "/a b")], 400),
    "path in 8 bits": ([*GET[:3], (":path", "/é")], 400),
    "method": ([(":method", "G@T"), *GET[1:]], 400),
    "target": ([*GET[:3], (":path", "/" + "x" * 32_768)], 414),
    "fields": ([*GET, *[("a", str(n)) for n in range(300)]], 431),
    "length": ([*POST, ("content-length", "101")], 413),
    "expectation": ([*GET, ("expect", "x")], 417),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_request_is_answered_on_its_stream(name: str) -> None:
    """The connection and its other streams go on."""
    fields, status = REFUSED[name]
    pair = Pair(limits=Limits(body_octets=100), strict=False)
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, fields, end_stream=fields[0][1] != "POST")
    pair.pass_on()
    assert [type(event) for event in pair.told] == [Rejected], pair.told
    head, body, _, whole = pair.answer(stream)
    assert head[0] == (":status", str(status))
    assert ("x-replayproxy-decision", "rejected") in head
    assert b'"code": "rejected"' in body
    assert whole
    assert pair.server.closing == ""
    pair.told.clear()
    pair.ask(GET)
    assert started(pair.told).method == "GET"


def test_a_body_over_the_limit_is_refused() -> None:
    """Before an answer with 413, inside one by a reset."""
    for begun in (False, True):
        pair = Pair(limits=Limits(body_octets=10))
        stream = pair.client.get_next_available_stream_id()
        pair.client.send_headers(stream, POST)
        pair.client.send_data(stream, b"x" * 10)
        pair.pass_on()
        if begun:
            pair.server.start(stream, 200, "", (), length=None)
        pair.client.send_data(stream, b"x")
        told = pair.pass_on()
        assert [type(event) for event in told] == [StreamGone, Rejected]
        assert told[1] == Rejected(0 if begun else 413, "the request body is longer than 10 octets")
        assert pair.answer(stream)[0][:1] == ([] if begun else [(":status", "413")])
        code = pair.reset_code(stream)
        assert code == (h2.errors.ErrorCodes.CANCEL if begun else h2.errors.ErrorCodes.NO_ERROR)


def test_host_stands_in_for_authority() -> None:
    """RFC 9113 section 8.3.1."""
    pair = Pair(strict=False)
    pair.ask([(":method", "GET"), (":scheme", "https"), (":path", "/"), ("host", "A.test")])
    assert started(pair.told).headers == (("Host", "A.test"),)


def test_options_of_the_server() -> None:
    """`*` is a target of OPTIONS."""
    pair = Pair()
    pair.ask([(":method", "OPTIONS"), *GET[1:3], (":path", "*")])
    assert started(pair.told).target == "*"


def test_on_the_proxy_port_the_url_counts() -> None:
    """The three pseudo-fields are an absolute URL, and the user is told."""
    pair = Pair(Via())
    pair.ask([GET[0], (":scheme", "http"), (":authority", "b.test"), GET[3], ("proxy-authorization", "Basic ZTp4")])
    told = started(pair.told)
    assert (str(told.origin), told.user, told.headers) == ("http://b.test", "e", (("Host", "b.test"),))


def test_a_client_that_resets_is_gone() -> None:
    """Late calls for that stream do nothing."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.client.reset_stream(stream)
    assert pair.pass_on() == [StreamGone(stream)]
    pair.server.interim(stream, Interim(status=103))
    pair.server.respond(stream, 200, "", (), b"x")
    pair.server.start(stream, 200, "", (), length=None)
    pair.server.data(stream, b"x")
    pair.server.end(stream)
    pair.server.abort(stream, "reset")
    assert pair.server.take() == b""


def test_a_reset_of_an_answer_that_waits_for_windows_is_not_told() -> None:
    """The host had done with it."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.server.respond(stream, 200, "", (), b"x" * 100_000)
    pair.pass_on()
    pair.client.reset_stream(stream)
    assert pair.pass_on() == []
    assert pair.server.idle


def test_a_client_that_hangs_up_is_gone_on_all_streams() -> None:
    """Whole answers that wait for windows are not told."""
    pair = Pair()
    first, second = pair.ask(GET), pair.ask(GET)
    pair.server.respond(first, 200, "", (), b"x" * 100_000)
    assert pair.server.receive_eof() == [StreamGone(second)]
    assert pair.server.closing == "close"
    assert pair.server.receive(b"x") == []


@pytest.mark.parametrize("kind", ["reset", "close", "truncate"])
def test_an_abort_resets_its_stream_behind_what_was_sent(kind: str) -> None:
    """The others go on."""
    pair = Pair()
    stream, other = pair.ask(GET), pair.ask(GET)
    pair.server.start(stream, 200, "", (), length=10)
    pair.server.data(stream, b"part")
    pair.server.abort(stream, kind)  # type: ignore[arg-type]
    pair.server.data(stream, b"more")
    pair.server.end(stream)
    assert pair.answer(stream)[1:] == (b"part", [], False)
    assert pair.reset_code(stream) == h2.errors.ErrorCodes.INTERNAL_ERROR
    pair.server.respond(other, 200, "", (), b"whole")
    assert pair.answer(other)[1] == b"whole"
    third = pair.ask(GET)
    pair.server.abort(third, "reset")
    assert pair.reset_code(third) == h2.errors.ErrorCodes.INTERNAL_ERROR
    assert pair.server.closing == ""


def test_bodies_keep_to_their_length() -> None:
    """More is an error of the caller; less ends as a truncated body does."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.server.start(stream, 200, "", (), length=3)
    with pytest.raises(ValueError, match="longer"):
        pair.server.data(stream, b"four")
    pair.server.data(stream, b"ab")
    pair.server.end(stream)
    assert pair.answer(stream)[1:] == (b"ab", [], False)
    assert pair.reset_code(stream) == h2.errors.ErrorCodes.INTERNAL_ERROR


def test_heads_that_cannot_be_sent_send_nothing() -> None:
    """Another answer can still be given."""
    pair = Pair()
    stream = pair.ask(GET)
    for status, field in ((200, ("a", "b\r\nc: d")), (200, ("a b", "c")), (101, ("a", "b")), (200, ("a", "€"))):
        with pytest.raises(ValueError, match=r"\w"):
            pair.server.start(stream, status, "", (field,), length=0)
    for call in (lambda: pair.server.data(stream, b"x"), lambda: pair.server.end(stream), pair.server.accept_tunnel):
        with pytest.raises(RuntimeError):
            call()
    pair.server.respond(stream, 502, "", (), b"")
    assert pair.answer(stream)[0] == [(":status", "502")]
    fourth = pair.ask(GET)
    pair.server.start(fourth, 200, "", (), length=0)
    with pytest.raises(RuntimeError):
        pair.server.start(fourth, 200, "", (), length=0)


def test_a_client_that_leaves_gets_its_answers() -> None:
    """RFC 9113 section 6.8: GOAWAY lets the open streams end; then the connection closes."""
    pair = Pair()
    stream = pair.ask(GET)
    octets = struct.pack(">I", 8)[1:] + b"\x07\x00" + bytes(4) + bytes(8)
    assert pair.server.receive(octets) == []
    before = pair.server.closing
    pair.server.respond(stream, 200, "", (), b"x")
    assert pair.answer(stream)[1:] == (b"x", [], True)
    assert (before, pair.server.closing) == ("", "close")


def test_closing_tells_the_client_and_ends_what_is_open() -> None:
    """GOAWAY, then the open answers; a request that crosses it is refused unread."""
    pair = Pair()
    stream = pair.ask(GET)
    pair.client.send_headers(3, GET, end_stream=True)
    crossing = pair.client.data_to_send()
    pair.server.close()
    pair.server.close()
    assert pair.server.receive(crossing) == []
    pair.server.respond(stream, 200, "", (), b"x")
    sent = pair.server.take()
    kinds = []
    while sent:
        size = 9 + int.from_bytes(sent[:3])
        kinds.append(sent[3])
        sent = sent[size:]
    assert kinds == [7, 3, 1, 0]  # GOAWAY, RST_STREAM, HEADERS, DATA
    assert pair.server.closing == "close"
    idle = Pair()
    idle.server.close()
    assert idle.server.closing == "close"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One frame (RFC 9113 section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")

FLOODS = {
    "pings": frame(6, 0, 0, bytes(8)),
    "settings": frame(4, 0, 0, b""),
    "unknown frames": frame(0x42, 0, 0, b"x"),
}


@pytest.mark.parametrize("name", FLOODS)
def test_frames_that_ask_for_nothing_are_bounded(name: str) -> None:
    """GOAWAY with ENHANCE_YOUR_CALM, one Rejected, and the end."""
    server = Http2Connection(TUNNEL, Limits(control_frames=50))
    assert server.receive(PREFACE + FLOODS[name] * 49) == []
    server.take()
    events = server.receive(FLOODS[name] * 10)
    assert [type(event) for event in events] == [Rejected]
    assert server.closing == "close"
    assert struct.pack(">I", h2.errors.ErrorCodes.ENHANCE_YOUR_CALM) in server.take()
    assert server.receive(FLOODS[name]) == []


def test_resets_are_bounded() -> None:
    """CVE-2023-44487: requests that are reset at once cost the client nothing, so they are counted."""
    pair = Pair(limits=Limits(control_frames=50))
    for _ in range(60):
        stream = pair.client.get_next_available_stream_id()
        pair.client.send_headers(stream, GET, end_stream=True)
        pair.client.reset_stream(stream)
    events = pair.server.receive(pair.client.data_to_send())
    assert isinstance(events[-1], Rejected)
    assert pair.server.closing == "close"


def test_answered_requests_are_not_counted() -> None:
    """A client that resets now and then, or pings between requests, is left alone."""
    pair = Pair(limits=Limits(control_frames=20))
    for _ in range(100):
        stream = pair.ask(GET)
        pair.client.ping(bytes(8))
        pair.server.respond(stream, 200, "", (), b"")
        pair.pass_on()
    assert pair.server.closing == ""


def test_empty_data_is_bounded() -> None:
    """CVE-2019-9518."""
    pair = Pair(limits=Limits(control_frames=50))
    stream = pair.ask(POST, b"x", [("a", "b")])
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, POST)
    pair.pass_on()
    events = pair.server.receive(frame(0, 0, stream, b"") * 60)
    assert isinstance(events[-1], Rejected)


def test_continuations_are_bounded() -> None:
    """CVE-2024-27316: a field section without end."""
    server = Http2Connection(TUNNEL, Limits())
    events = server.receive(PREFACE + frame(1, 0, 1, b"\x82") + frame(9, 0, 1, b"") * 100)
    assert [type(event) for event in events] == [Rejected]
    assert server.closing == "close"


def test_a_field_section_over_the_limit_ends_the_connection() -> None:
    """What HPACK expands to is bounded, not only what is sent (CVE-2016-6581)."""
    pair = Pair()
    big = [("a", "x" * 4_000)] * 20
    stream = pair.client.get_next_available_stream_id()
    pair.client.send_headers(stream, [*GET, *big], end_stream=True)
    events = pair.server.receive(pair.client.data_to_send())
    assert [type(event) for event in events] == [Rejected]
    assert pair.server.closing == "close"


def test_streams_are_bounded() -> None:
    """One more than was announced ends the connection (hyper-h2); those within it were told."""
    server = Http2Connection(TUNNEL, Limits(streams=3))
    client = h2.connection.H2Connection(h2.config.H2Configuration())
    client.initiate_connection()  # and the server's settings have not reached it
    for stream in (1, 3, 5, 7):
        client.send_headers(stream, GET, end_stream=True)
    events = server.receive(client.data_to_send())
    assert sum(isinstance(event, RequestStarted) for event in events) == 3
    assert sum(isinstance(event, StreamGone) for event in events) == 3
    assert isinstance(events[-1], Rejected)


@pytest.mark.parametrize(
    "octets",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        PREFACE + frame(0, 0, 1, b"x"),
        PREFACE + frame(6, 0, 0, b"x"),
        PREFACE + frame(1, 4, 1, b"\xff\xff\xff"),
        PREFACE + frame(1, 4, 2, b"\x82"),
        PREFACE + frame(8, 0, 0, bytes(4)),
        PREFACE + b"\xff\xff\xff" + bytes(6),
        PREFACE + frame(5, 4, 1, bytes(4)),
        PREFACE + b"\x00\x40\x01\x42" + bytes(5),
    ],
)
def test_broken_frames_end_the_connection(octets: bytes) -> None:
    """Whole and octet by octet: GOAWAY, one Rejected, and the end."""
    for step in (len(octets), 1):
        server = Http2Connection(TUNNEL, Limits())
        events = [event for at in range(0, len(octets), step) for event in server.receive(octets[at : at + step])]
        assert [type(event) for event in events] == [Rejected]
        assert server.closing == "close"
        assert b"\x00\x00\x08\x07\x00" in server.take()


def recorded_octets() -> bytes:
    """What a client sends for four requests."""
    client = h2.connection.H2Connection(h2.config.H2Configuration())
    client.initiate_connection()
    client.send_headers(1, [*GET, ("cookie", "a"), ("cookie", "b")], end_stream=True)
    client.send_headers(3, POST)
    client.send_data(3, b"hello")
    client.ping(bytes(8))
    client.send_headers(5, [*GET[:2], (":authority", "b.test"), GET[3]], end_stream=True)
    client.send_data(3, b"world")
    client.send_headers(3, [("x", "y")], end_stream=True)
    client.send_headers(7, POST)
    client.reset_stream(7)
    sent: bytes = client.data_to_send()
    return sent


OCTETS = recorded_octets()


def play(pieces: list[bytes]) -> tuple[list[Event], str]:
    """What a connection tells of PIECES whose host answers whole requests at once."""
    server = Http2Connection(TUNNEL, Limits())
    told: list[Event] = []
    for piece in pieces:
        events = server.receive(piece)
        told += events
        for event in events:
            if isinstance(event, RequestEnded):
                server.respond(event.stream, 200, "", (("a", "b"),), b"ok")
        server.take()
    return told, server.closing


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, len(OCTETS)), max_size=8))
def test_events_do_not_depend_on_how_the_input_is_cut(cuts: set[int]) -> None:
    """Whole, octet by octet, or cut anywhere."""
    ends = [0, *sorted(cuts), len(OCTETS)]
    whole = play([OCTETS])
    assert len(whole[0]) == 9
    assert play([OCTETS[a:b] for a, b in pairwise(ends)]) == whole
    assert play([OCTETS[at : at + 1] for at in range(len(OCTETS))]) == whole


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_octets_raise(data: st.DataObject) -> None:
    """Any octets may be changed, dropped or put in behind the preface; receive gives events, never an exception."""
    mutated = bytearray(OCTETS)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(24, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    play([bytes(mutated)])
