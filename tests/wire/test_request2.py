"""What the head of an HTTP/2 request means."""

from __future__ import annotations

import pytest

from replayproxy.wire.events import Via
from replayproxy.wire.fault import ClientError
from replayproxy.wire.limits import Limits
from replayproxy.wire.request2 import kept, request

VIA = Via("https", "a.test", 443)
GET = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"A.test"), (b":path", b"/x?y")]


def test_pseudo_fields_are_the_request_line() -> None:
    """`:authority` is told as Host, first; a Host field beside it is not told twice."""
    told = request(1, [*GET, (b"x", b"\xe9"), (b"host", b"A.test")], VIA, Limits(), has_body=False)
    assert (told.method, str(told.origin), told.target) == ("GET", "https://a.test", "/x?y")
    assert told.headers == (("Host", "A.test"), ("x", "é"))


def test_an_expectation_needs_a_body() -> None:
    """RFC 9110 section 10.1.1."""
    for has_body in (True, False):
        told = request(1, [*GET, (b"expect", b"100-Continue")], VIA, Limits(), has_body=has_body)
        assert told.expects_continue is has_body


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ([(b":method", b"CONNECT"), (b":authority", b"a.test:443")], 501),
        ([], 400),
        ([*GET[:3], (b":path", b"http://b/")], 400),
        ([*GET[:3], (b":path", b"/" + b"x" * 40_000)], 414),
        ([*GET[:2], (b":authority", b"b.test"), GET[3]], 421),
    ],
)
def test_faults(raw: list[tuple[bytes, bytes]], status: int) -> None:
    """Each with the status that HTTP/1 gives it."""
    with pytest.raises(ClientError) as caught:
        request(1, raw, VIA, Limits(), has_body=False)
    assert caught.value.status == status


def test_kept() -> None:
    """Framing and hop-by-hop fields are not told; the length is."""
    assert [kept(name) for name in ("accept", "content-length", "proxy-x", "te", "host")] == [
        True,
        True,
        False,
        False,
        False,
    ]
