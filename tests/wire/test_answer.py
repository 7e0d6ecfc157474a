"""Heads of answers: framing anew, the rest as recorded."""

from __future__ import annotations

import pytest

from replayproxy.wire.answer import answer_head, chunk, framing_of, joined, last_chunk


@pytest.mark.parametrize(
    ("method", "status", "length", "modern", "framing"),
    [
        ("GET", 200, 5, True, "length"),
        ("GET", 200, 0, False, "length"),
        ("GET", 200, None, True, "chunked"),
        ("GET", 200, None, False, "close"),
        ("HEAD", 200, 5, True, "none"),
        ("GET", 204, 0, True, "none"),
        ("GET", 304, None, True, "none"),
        ("GET", 101, None, True, "none"),
    ],
)
def test_framing(method: str, status: int, length: int | None, modern: bool, framing: str) -> None:
    """RFC 9112 section 6.3."""
    assert framing_of(method, status, length, modern) == framing


def test_the_first_framing_field_is_restated_and_others_go() -> None:
    """In its place and case."""
    headers = (("content-LENGTH", "1"), ("A", "b"), ("Content-Length", "2"), ("Transfer-Encoding", "chunked"))
    assert answer_head(200, "OK", headers, "length", 3, "") == b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 3\r\nA: b\r\n\r\n"
    assert answer_head(200, "OK", headers, "chunked", None, "close") == (
        b"HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )


def test_a_list_in_connection_takes_fields_away() -> None:
    """RFC 9110 section 7.6.1 holds for answers too."""
    headers = (("Connection", "X-A, close"), ("x-a", "1"), ("B", "2"))
    assert answer_head(200, "", headers, "none", None, "") == b"HTTP/1.1 200 \r\nB: 2\r\n\r\n"


@pytest.mark.parametrize("line", ["a\nb", "a\rb", "a\r\nb", "a\0b"])
def test_a_line_is_one_line(line: str) -> None:
    """What is recorded cannot begin another field, head or body."""
    with pytest.raises(ValueError, match="line end"):
        joined(["HTTP/1.1 200 OK", line])


def test_chunks() -> None:
    """RFC 9112 section 7.1."""
    assert chunk(b"x" * 17) == b"11\r\n" + b"x" * 17 + b"\r\n"
    assert last_chunk(()) == b"0\r\n\r\n"
    assert last_chunk((("X", "1"), ("Host", "a"), ("Content-Length", "1"))) == b"0\r\nX: 1\r\nHost: a\r\n\r\n"
