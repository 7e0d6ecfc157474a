"""The HTTP/2 client connection, against the server side of hyper-h2."""

from __future__ import annotations

import struct
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import Headers, Origin
from replayproxy.core.exchange import Interim as InterimAnswer
from replayproxy.wire.upstream import Broken, Data, End, Head, Interim, UpstreamEvent
from replayproxy.wire.upstream2 import Upstream2

ORIGIN = Origin.of("https", "a.test", 8443)
OK = [(":status", "200")]


class Pair:
    """The connection under test and a server of hyper-h2; octets pass when `pass_on` is called."""

    def __init__(self) -> None:
        self.server = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="latin-1", normalize_inbound_headers=False)
        )
        self.server.initiate_connection()
        self.client = Upstream2()
        self.told: list[UpstreamEvent] = []
        self.seen: list[Any] = []
        self.pass_on()

    def pass_on(self) -> list[UpstreamEvent]:
        """Both sides receive what the other has sent, until neither has more; what the client told."""
        told: list[UpstreamEvent] = []
        while True:
            up = self.client.take()
            self.seen += self.server.receive_data(up) if up else []
            down = self.server.data_to_send()
            told += self.client.receive(down) if down else []
            if not up and not down:
                break
        self.told += told
        return told

    def ask(self, method: str = "GET", headers: Headers = (), *, length: int | None = 0) -> int:
        """Sends the head of a request; its stream."""
        stream = self.client.send_head(method, ORIGIN, "/x?y", headers, length=length)
        self.pass_on()
        return stream

    def of(self, stream: int, kind: type[Any]) -> list[Any]:
        """The events of KIND that the server saw on STREAM."""
        return [event for event in self.seen if isinstance(event, kind) and event.stream_id == stream]


def test_a_request_without_a_body_is_one_frame() -> None:
    """Host becomes :authority, names are lower case, connection-specific fields are left out, TE: trailers stays."""
    pair = Pair()
    fields = (("X-B", "1"), ("Host", "A.test"), ("Cookie", "a"), ("TE", "trailers"), ("Keep-Alive", "5"), ("x-b", "2"))
    stream = pair.ask(headers=fields)
    (seen,) = pair.of(stream, h2.events.RequestReceived)
    assert [tuple(field) for field in seen.headers] == [
        (":method", "GET"), (":scheme", "https"), (":authority", "A.test"), (":path", "/x?y"),
        ("x-b", "1"), ("cookie", "a"), ("te", "trailers"), ("x-b", "2"),
    ]  # fmt: skip
    assert seen.stream_ended is not None
    pair.client.send_end(stream)
    pair.client.send_body(stream, b"late")
    assert pair.client.take() == b""


def test_a_request_with_a_body() -> None:
    """Without a Host field the origin names the authority; a length that is known is stated, trailers come last."""
    pair = Pair()
    stream = pair.client.send_head("PUT", ORIGIN, "/", (("Content-Length", "5"),), length=5, expects_continue=True)
    pair.pass_on()
    (seen,) = pair.of(stream, h2.events.RequestReceived)
    assert seen.stream_ended is None
    assert [tuple(field) for field in seen.headers][2:] == [
        (":authority", "a.test:8443"), (":path", "/"), ("content-length", "5"), ("expect", "100-continue"),
    ]  # fmt: skip
    for piece in (b"he", b"", b"llo"):
        pair.client.send_body(stream, piece)
    pair.client.send_end(stream, (("X-Sum", "1"), ("Connection", "x")))
    pair.pass_on()
    assert [event.data for event in pair.of(stream, h2.events.DataReceived)] == [b"he", b"llo"]
    (trailers,) = pair.of(stream, h2.events.TrailersReceived)
    assert [tuple(field) for field in trailers.headers] == [("x-sum", "1")]
    assert trailers.stream_ended is not None


def test_a_length_that_is_not_known_is_not_stated() -> None:
    """RFC 9113 section 8.1.1 would hold the body to it."""
    pair = Pair()
    stream = pair.ask("POST", (("Content-Length", "9"),), length=None)
    pair.client.send_end(stream)
    pair.pass_on()
    (seen,) = pair.of(stream, h2.events.RequestReceived)
    assert all(field[0] != "content-length" for field in seen.headers)
    assert pair.of(stream, h2.events.StreamEnded)


@pytest.mark.parametrize(
    ("method", "target", "field"),
    [
        ("G T", "/", ("a", "b")),
        ("GET", "/ x", ("a", "b")),
        ("GET", "/é", ("a", "b")),
        ("GET", "/", ("a", "b\nc")),
        ("GET", "/", ("a b", "c")),
    ],
)
def test_what_cannot_be_sent_is_not(method: str, target: str, field: tuple[str, str]) -> None:
    """The connection can still be used."""
    pair = Pair()
    with pytest.raises(ValueError, match=r"\w"):
        pair.client.send_head(method, ORIGIN, target, (field,))
    assert pair.client.take() == b""
    assert pair.ask() == 1


def test_an_answer_is_told_as_it_came() -> None:
    """Head, pieces as DATA frames, trailers."""
    pair = Pair()
    stream = pair.ask()
    pair.server.send_headers(stream, [(":status", "103"), ("link", "</a>")])
    pair.server.send_headers(stream, [*OK, ("set-cookie", "a"), ("x", "é"), ("set-cookie", "b")])
    pair.server.send_data(stream, b"one")
    pair.server.send_data(stream, b"two")
    pair.server.send_headers(stream, [("grpc-status", "0")], end_stream=True)
    assert pair.pass_on() == [
        Interim(stream, InterimAnswer(status=103, headers=(("link", "</a>"),))),
        Head(
            stream=stream,
            status=200,
            reason="",
            headers=(("set-cookie", "a"), ("x", "é".encode().decode("latin-1")), ("set-cookie", "b")),
            version="HTTP/2",
            framing="chunked",
        ),
        Data(stream, b"one"),
        Data(stream, b"two"),
        End(stream, (("grpc-status", "0"),)),
    ]
    assert pair.client.idle
    assert pair.client.reusable


@pytest.mark.parametrize(
    ("method", "status", "field", "framing"),
    [
        ("GET", "200", ("content-length", "0"), "length"),
        ("GET", "200", ("a", "b"), "chunked"),
        ("HEAD", "200", ("content-length", "9"), "none"),
        ("GET", "304", ("content-length", "9"), "none"),
        ("GET", "204", ("a", "b"), "none"),
    ],
)
def test_the_framing_is_what_http1_would_call_it(
    method: str, status: str, field: tuple[str, str], framing: str
) -> None:
    """A stream without a length is delimited by its end, as chunks are."""
    pair = Pair()
    stream = pair.ask(method)
    pair.server.send_headers(stream, [(":status", status), field], end_stream=True)
    head, end = pair.pass_on()
    assert isinstance(head, Head)
    assert (head.framing, end) == (framing, End(stream))


def test_exchanges_do_not_wait_for_each_other() -> None:
    """Heads that wait for their body keep their numbers in the order they were asked."""
    pair = Pair()
    streams = [pair.client.send_head("POST", ORIGIN, f"/{number}", (), length=None) for number in range(3)]
    assert streams == [1, 3, 5]
    for stream in reversed(streams):
        pair.client.send_body(stream, b"%d" % stream)
        pair.client.send_end(stream)
    pair.pass_on()
    for stream in (3, 1, 5):
        pair.server.send_headers(stream, OK, end_stream=True)
    assert [event.stream for event in pair.pass_on() if isinstance(event, End)] == [3, 1, 5]


def test_bodies_wait_for_the_windows() -> None:
    """RFC 9113 section 5.2; the end comes behind the last octet."""
    pair = Pair()
    stream = pair.ask("POST", length=None)
    pair.client.send_body(stream, b"x" * 100_000)
    pair.client.send_end(stream)
    pair.pass_on()
    assert pair.client.backlog == 100_000 - 65_535
    pair.server.increment_flow_control_window(100_000)
    pair.server.increment_flow_control_window(100_000, stream)
    pair.pass_on()
    assert pair.client.backlog == 0
    assert sum(len(event.data) for event in pair.of(stream, h2.events.DataReceived)) == 100_000
    assert pair.of(stream, h2.events.StreamEnded)


def test_large_answers_are_not_stopped_by_the_windows() -> None:
    """The windows open again as data is told."""
    pair = Pair()
    stream = pair.ask()
    pair.server.send_headers(stream, OK)
    for _ in range(1500):
        pair.server.send_data(stream, b"x" * 16_384)
        pair.pass_on()
    assert sum(len(event.data) for event in pair.told if isinstance(event, Data)) == 1500 * 16_384


def test_an_answer_before_the_request_is_whole_ends_it() -> None:
    """RFC 9113 section 8.1: what is left of the request is not sent."""
    pair = Pair()
    stream = pair.ask("POST", length=5)
    pair.server.send_headers(stream, [(":status", "413")], end_stream=True)
    assert pair.pass_on()[-1] == End(stream)
    assert pair.of(stream, h2.events.StreamReset)
    pair.client.send_body(stream, b"hello")
    pair.client.send_end(stream)
    assert pair.client.take() == b""


def test_a_reset_breaks_one_exchange() -> None:
    """Before the head and inside the body alike; the others go on."""
    pair = Pair()
    first, second, third = pair.ask(), pair.ask(), pair.ask()
    pair.server.send_headers(second, OK)
    pair.server.reset_stream(first, h2.errors.ErrorCodes.REFUSED_STREAM)
    pair.server.reset_stream(second, 0x77)
    pair.server.send_headers(third, OK, end_stream=True)
    events = pair.pass_on()
    assert Broken(first, "reset", "the upstream reset the stream with REFUSED_STREAM") in events
    assert Broken(second, "reset", "the upstream reset the stream with 119") in events
    assert events[-1] == End(third)


def test_an_exchange_can_be_given_up() -> None:
    """It is reset and tells nothing more; one whose head has not gone is forgotten."""
    pair = Pair()
    stream = pair.ask()
    pair.client.reset(stream)
    pair.server.send_headers(stream, OK)
    assert pair.pass_on() == []
    assert pair.of(stream, h2.events.StreamReset)[0].error_code == h2.errors.ErrorCodes.CANCEL
    unsent = pair.client.send_head("GET", ORIGIN, "/", ())
    pair.client.reset(unsent)
    pair.client.reset(unsent)
    assert pair.client.take() == b""


def goaway(last: int, code: int) -> bytes:
    """A GOAWAY frame (RFC 9113 section 6.8)."""
    return struct.pack(">I", 8)[1:] + b"\x07\x00" + bytes(4) + struct.pack(">II", last, code)


def test_a_goaway_lets_the_taken_streams_end() -> None:
    """Those above the last one are broken, and nothing new is asked."""
    pair = Pair()
    first, second = pair.ask(), pair.ask()
    assert pair.client.receive(goaway(first, 0)) == [Broken(second, "closed", "the upstream sent GOAWAY with NO_ERROR")]
    assert not pair.client.reusable
    with pytest.raises(RuntimeError):
        pair.client.send_head("GET", ORIGIN, "/", ())
    pair.server.send_headers(first, OK)
    pair.server.send_data(first, b"x", end_stream=True)
    assert pair.pass_on()[1:] == [Data(first, b"x"), End(first)]
    assert pair.client.idle


def test_the_end_of_the_connection_breaks_what_is_open() -> None:
    """Before the head the answer is missing, after it it is cut."""
    pair = Pair()
    first, second = pair.ask(), pair.ask()
    pair.server.send_headers(second, OK)
    pair.pass_on()
    assert [(event.stream, event.kind) for event in pair.client.receive_eof() if isinstance(event, Broken)] == [
        (first, "closed"),
        (second, "truncated"),
    ]
    assert not pair.client.reusable
    pair.client.reset(first)
    assert pair.client.receive_eof() == []


def test_what_is_no_http2_breaks_what_is_open() -> None:
    """An upstream that answers in HTTP/1, for one."""
    pair = Pair()
    stream = pair.ask()
    events = pair.client.receive(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    assert b"\x07\x00" in pair.client.take()
    assert [(type(event), event.stream) for event in events] == [(Broken, stream)]
    assert not pair.client.reusable
    assert pair.client.receive(b"more") == []


def test_the_upstream_bounds_the_exchanges() -> None:
    """SETTINGS_MAX_CONCURRENT_STREAMS."""
    pair = Pair()
    pair.server.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1})
    pair.pass_on()
    reusable = [pair.client.reusable]
    pair.ask()
    reusable.append(pair.client.reusable)
    assert reusable == [True, False]


def test_pushes_are_refused() -> None:
    """SETTINGS_ENABLE_PUSH is 0."""
    pair = Pair()
    pair.ask()
    assert pair.server.remote_settings.enable_push == 0


def answer_octets() -> bytes:
    """What a server sends for one exchange."""
    pair = Pair()
    stream = pair.ask()
    pair.server.send_headers(stream, [(":status", "103"), ("a", "b")])
    pair.server.send_headers(stream, [*OK, ("a", "b")])
    pair.server.send_data(stream, b"hello")
    pair.server.ping(bytes(8))
    pair.server.send_headers(stream, [("x", "y")], end_stream=True)
    sent: bytes = pair.server.data_to_send()
    return sent


ANSWER = answer_octets()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_octets_raise(data: st.DataObject) -> None:
    """Whatever an upstream sends becomes events, the last of which ends the exchange."""
    mutated = bytearray(ANSWER)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(mutated)))
        mutated[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    pair = Pair()
    pair.ask()
    events = []
    step = data.draw(st.sampled_from([1, 7, len(mutated) or 1]))
    for at in range(0, len(mutated), step):
        events += pair.client.receive(bytes(mutated[at : at + step]))
        pair.client.take()
    events += pair.client.receive_eof()
    assert sum(isinstance(event, (End, Broken)) for event in events) == 1
    assert isinstance(events[-1], (End, Broken))
