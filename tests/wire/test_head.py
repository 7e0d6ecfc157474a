"""Heads and trailer sections are found whole, whatever the pieces they come in."""

from __future__ import annotations

import pytest

from replayproxy.wire.fault import ClientError
from replayproxy.wire.head import TRAILER_START, HeadReader
from replayproxy.wire.limits import Limits

HEAD = b"POST /x?y HTTP/1.1\r\nHost: a\r\nX-A: \r\nX-B:  b \t\r\nContent-Length: 3\r\n\r\n"


def read(reader: HeadReader, octets: bytes, step: int) -> bytes | None:
    """Feeds OCTETS in pieces of STEP; what is left once the head is whole."""
    for at in range(0, len(octets), step):
        rest = reader.feed(octets[at : at + step])
        if rest is not None:
            return rest + octets[at + step :]
    return None


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("before", [b"", b"\r\n", b"\r\n\r\n\r\n"])
def test_what_follows_a_head_is_left(step: int, before: bytes) -> None:
    """The reader gives back every octet that is not the head's, and is ready for the next one."""
    reader = HeadReader(Limits())
    octets = before + HEAD + b"abc" + b"LIST / HTTP/1.0\r\n\r\n"
    rest = read(reader, octets, step)
    assert rest == b"abcLIST / HTTP/1.0\r\n\r\n"
    assert (reader.method, reader.target, reader.version) == (b"POST", b"/x?y", "1.1")
    assert reader.fields == [(b"Host", b"a"), (b"X-A", b""), (b"X-B", b"b \t"), (b"Content-Length", b"3")]
    assert read(reader, rest[3:], step) == b""
    assert (reader.method, reader.target, reader.version, reader.fields) == (b"LIST", b"/", "1.0", [])


def test_begun_says_whether_octets_wait_for_more() -> None:
    """Empty lines before a request are nothing."""
    reader = HeadReader(Limits())
    begun = [reader.begun]
    for piece in (b"\r\n", b"G", b"ET / HTTP/1.1\r\n", b"\r\n"):
        reader.feed(piece)
        begun.append(reader.begun)
    assert begun == [False, False, True, True, False]


@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize(
    ("octets", "fields"),
    [(b"\r\n", []), (b"X: 1\r\nY: 2 \r\n\r\n", [(b"X", b"1"), (b"Y", b"2 ")])],
)
def test_a_trailer_section_is_read_like_fields(octets: bytes, fields: list[tuple[bytes, bytes]], step: int) -> None:
    """RFC 9112 section 7.1.2; an empty one is one empty line."""
    reader = HeadReader(Limits(), TRAILER_START, 100)
    assert read(reader, octets + b"rest", step) == b"rest"
    assert reader.fields == fields


@pytest.mark.parametrize("octets", [b"X: 1\n\r\n", b"\rX", b" X: 1\r\n\r\n", b"X 1\r\n\r\n", b"X: " + b"x" * 100])
def test_a_malformed_trailer_section_is_refused(octets: bytes) -> None:
    """By the same parser, at the octet that makes it sure."""
    with pytest.raises(ClientError):
        HeadReader(Limits(), TRAILER_START, 100).feed(octets)


@pytest.mark.parametrize(
    ("octets", "refused_at"),
    [
        (b"GET / HTTP/1.1\nX", len(b"GET / HTTP/1.1\n")),
        (b"G@T / HTTP/1.1", len(b"G@")),
        (b"GET  /", len(b"GET  ")),
        (b"GET / HTTP/1.1\r\nA b: c\r\n", len(b"GET / HTTP/1.1\r\nA ")),
        (b"GET /" + b"x" * 20, len(b"GET /" + b"x" * 10)),
    ],
)
def test_faults_come_as_soon_as_they_are_sure(octets: bytes, refused_at: int) -> None:
    """A client that waits behind a fault is not left waiting."""
    reader = HeadReader(Limits(target_octets=10))
    for at in range(refused_at - 1):
        assert reader.feed(octets[at : at + 1]) is None
    with pytest.raises(ClientError):
        reader.feed(octets[refused_at - 1 : refused_at])
