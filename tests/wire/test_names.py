"""Field names that are treated apart."""

from __future__ import annotations

import pytest

from replayproxy.wire import names


@pytest.mark.parametrize(
    ("octets", "kind"),
    [
        (b"Accept", names.END_TO_END),
        (b"HOST", names.HOST),
        (b"content-length", names.LENGTH),
        (b"Transfer-Encoding", names.CODING),
        (b"Connection", names.CONNECTION),
        (b"Upgrade", names.UPGRADE),
        (b"expect", names.EXPECT),
        (b"Proxy-Authorization", names.CREDENTIALS),
        (b"Trailer", names.TRAILER),
        (b"Proxy-Connection", names.HOP),
        (b"Proxy-Anything", names.HOP),
        (b"TE", names.HOP),
        (b"Keep-Alive", names.HOP),
        (b"HTTP2-Settings", names.HOP),
        (b"Proxy", names.END_TO_END),
    ],
)
def test_kinds_in_requests(octets: bytes, kind: int) -> None:
    """In any case, and the name stays as it was."""
    assert names.request_name(octets) == (octets.decode(), kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ETag", names.END_TO_END),
        ("Host", names.END_TO_END),
        ("Expect", names.END_TO_END),
        ("Alt-Svc", names.HOP),
        ("Proxy-Authenticate", names.END_TO_END),
        ("proxy-status", names.HOP),
        ("Content-Length", names.LENGTH),
    ],
)
def test_kinds_in_answers(name: str, kind: int) -> None:
    """`Alt-Svc` leads past the proxy."""
    assert names.answer_name(name) == kind


@pytest.mark.parametrize("name", ["", "a b", "a:", "é", "a\r\n", "(a)"])
def test_what_is_no_name_is_refused(name: str) -> None:
    """RFC 9110 section 5.1: a field name is a token."""
    with pytest.raises(ValueError, match="field name"):
        names.answer_name(name)


def test_lists() -> None:
    """RFC 9110 section 5.6.1: empty members are nothing."""
    assert names.listed(" Close,, x-A ,") == {"close", "x-a"}
    assert names.listed("") == set()
