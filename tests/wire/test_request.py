"""What the fields of a request mean."""

from __future__ import annotations

import pytest

from replayproxy.wire.fault import ClientError
from replayproxy.wire.request import meaning, proxy_user, trailer_fields, without

HOST = (b"Host", b"a")


def test_fields_are_told_apart() -> None:
    """End-to-end fields stay in order and case, white space at the end of values does not."""
    fields = [(b"b", b"1 \t"), HOST, (b"Keep-Alive", b"5"), (b"B", b"2"), (b"Content-Length", b"3 ")]
    found = meaning(fields, "1.1")
    assert found.headers == (("b", "1"), ("Host", "a"), ("B", "2"), ("Content-Length", "3"))
    assert (found.hosts, found.length, found.keep_alive, found.expects, found.upgrade) == (("a",), 3, True, False, "")


@pytest.mark.parametrize(
    ("fields", "version", "status"),
    [
        ([], "1.1", 400),
        ([HOST, HOST], "1.0", 400),
        ([HOST, (b"Content-Length", b"1"), (b"Transfer-Encoding", b"chunked")], "1.1", 400),
        ([HOST, (b"Content-Length", b"1"), (b"content-length", b"1")], "1.1", 400),
        ([HOST, (b"Content-Length", "²".encode("latin-1"))], "1.1", 400),
        ([HOST, (b"Content-Length", b"")], "1.1", 400),
        ([HOST, (b"Transfer-Encoding", b"chunked")], "1.0", 400),
        ([HOST, (b"Transfer-Encoding", b"gzip"), (b"Transfer-Encoding", b"chunked")], "1.1", 501),
        ([HOST, (b"Expect", b"100-continue, x")], "1.1", 417),
    ],
)
def test_doubt_is_refused(fields: list[tuple[bytes, bytes]], version: str, status: int) -> None:
    """Also what httptools would have refused: two belts against smuggled requests."""
    with pytest.raises(ClientError) as caught:
        meaning(fields, version)
    assert caught.value.status == status


def test_connection_takes_away_what_it_lists() -> None:
    """RFC 9110 section 7.6.1, but for the fields without which the request means something else."""
    headers = (("Host", "a"), ("Content-Length", "1"), ("X-A", "b"), ("Y", "c"))
    assert without(headers, {"host", "content-length", "x-a"}) == (("Host", "a"), ("Content-Length", "1"), ("Y", "c"))


def test_an_upgrade_must_be_listed() -> None:
    """RFC 9110 section 7.8; HTTP/1.0 has none."""
    fields = [HOST, (b"Upgrade", b"a"), (b"Upgrade", b"b")]
    listed = [*fields, (b"Connection", b"Upgrade")]
    assert meaning(fields, "1.1").upgrade == ""
    assert meaning(listed, "1.1").upgrade == "a, b"
    assert meaning(listed, "1.0").upgrade == ""


def test_trailers_hold_no_framing() -> None:
    """RFC 9110 section 6.5.1."""
    fields = [(b"X", b"1 "), HOST, (b"Content-Length", b"9"), (b"Connection", b"x"), (b"x", b"2")]
    assert trailer_fields(fields) == (("X", "1"), ("x", "2"))


def test_a_user_that_cannot_be_read_is_nobody() -> None:
    """Not anybody: the host would take None for the default."""
    assert [proxy_user(value) for value in ("Basic YTpi", "Basic YQ==", "Basic", "Digest x", "")] == [
        "a",
        "a",
        "",
        "",
        "",
    ]
