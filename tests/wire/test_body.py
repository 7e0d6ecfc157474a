"""Bodies end where their framing says; chunked ones are read as h11 reads them, or refused."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.wire.body import BodyReader, ChunkedBody, LengthBody
from replayproxy.wire.fault import ClientError
from replayproxy.wire.limits import Limits


def read(body: BodyReader, octets: bytes, step: int) -> tuple[bytes, bytes | None]:
    """Feeds OCTETS in pieces of STEP: the body, and what is left once it is whole."""
    pieces: list[bytes] = []
    for at in range(0, len(octets), step):
        rest = body.feed(octets[at : at + step], pieces)
        if rest is not None:
            return b"".join(pieces), rest + octets[at + step :]
    return b"".join(pieces), None


@pytest.mark.parametrize("step", [1, 2, 100])
def test_a_length_is_counted(step: int) -> None:
    """What is behind it is left; what is missing is waited for."""
    assert read(LengthBody(5), b"helloGET", step) == (b"hello", b"GET")
    assert read(LengthBody(5), b"hell", step) == (b"hell", None)
    assert LengthBody(5).trailers == []


@pytest.mark.parametrize("step", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("octets", "content"),
    [
        (b"0\r\n\r\n", b""),
        (b"000\r\n\r\n", b""),
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b'2;a="b;c"\r\nhe\r\n3 \t;d\r\nllo\r\n0;e\r\n\r\n', b"hello"),
        (b"0000000000000002\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
    ],
)
def test_chunks_are_joined(octets: bytes, content: bytes, step: int) -> None:
    """RFC 9112 section 7.1; extensions are dropped, what is behind is left."""
    assert read(ChunkedBody(Limits()), octets + b"GET", step) == (content, b"GET")


def test_trailers_are_told() -> None:
    """As raw fields, in order."""
    body = ChunkedBody(Limits())
    assert read(body, b"0\r\nX: 1\r\nx: 2\r\n\r\n", 1) == (b"", b"")
    assert body.trailers == [(b"X", b"1"), (b"x", b"2")]


@pytest.mark.parametrize("step", [1, 100])
@pytest.mark.parametrize(
    "octets", [b"g", b"\n", b"5 \r\n", b"5\n", b"5;a\x00", b"5;\n", b"5\r\r", b"0" * 17, b"1\r\nxy", b"1\r\nx\n", b"+1"]
)
def test_malformed_chunks_are_refused(octets: bytes, step: int) -> None:
    """Leniency here is how requests are smuggled."""
    with pytest.raises(ClientError) as caught:
        read(ChunkedBody(Limits()), octets, step)
    assert caught.value.status == 400


def test_what_came_before_a_fault_is_kept() -> None:
    """However the input is cut, the same octets are told before the fault."""
    pieces: list[bytes] = []
    with pytest.raises(ClientError):
        ChunkedBody(Limits()).feed(b"2\r\nhe\r\nzz", pieces)
    assert pieces == [b"he"]


def by_h11(octets: bytes) -> tuple[bytes, bytes]:
    """Content and rest of the chunked body OCTETS as h11 reads them."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + octets)
    content = b""
    while True:
        event = connection.next_event()
        if isinstance(event, h11.Data):
            content += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return content, connection.trailing_data[0]
        elif event is h11.NEED_DATA:
            raise h11.RemoteProtocolError("not whole")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_accepted_means_the_same_to_h11(data: st.DataObject) -> None:
    """Another reader finds the same body and the same end in whatever is accepted here."""
    octets = bytearray(b"5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\nGET / HTTP/1.1\r\n")
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(octets)))
        octets[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.binary(max_size=2) | st.sampled_from([b"\r\n", b"0", b" "])
        )
    try:
        content, rest = read(ChunkedBody(Limits()), bytes(octets), data.draw(st.integers(1, len(octets))))
    except ClientError:
        return
    if rest is not None:
        assert by_h11(bytes(octets)) == (content, rest)
