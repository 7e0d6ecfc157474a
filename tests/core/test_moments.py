"""Which parts of a recording are times."""

import pytest

from replayproxy.core.exchange import Blob, Body, Headers, Interaction, Origin, Request, Response
from replayproxy.core.moments import moments


def answer(headers: Headers = (), body: Body = b"") -> Interaction:
    """An interaction with that answer."""
    request = Request(method="GET", origin=Origin.of("http", "api.test"), target="/")
    return Interaction(id="a", order=0, request=request, response=Response(status=200, headers=headers, body=body))


DEEP = b"[" * 40 + b'"2026-01-01T00:00:00Z"' + b"]" * 40


@pytest.mark.parametrize(
    ("headers", "body", "places"),
    [
        ((), b"", ()),
        ((("Date", "x"), ("X-A", "1")), b"", ("header:date",)),
        ((("Set-Cookie", "a=1; Expires=x"), ("Set-Cookie", "b=1")), b"", ("header:set-cookie",)),
        ((), b'{"a": "2026-01-02T03:04:05Z", "n": 1767229200}', ("json:$.a",)),
        ((), b'[{"d": "Tue, 01 Jan 2019 00:00:07 GMT"}, "2026-01-02"]', ("json:$[0].d",)),
        ((), b'{"a": "2026-01-02 03:04:05.123+02:00"}', ("json:$.a",)),
        ((), b"{not json", ()),
        ((), b"2026-01-02T03:04:05Z", ()),
        ((), DEEP, ()),
        ((), b"[" * 100_000, ()),
        ((), Blob("0" * 64, 9), ()),
    ],
)
def test_places(headers: Headers, body: Body, places: tuple[str, ...]) -> None:
    """Times are found by field name and by form; numbers are not guessed at."""
    assert moments(answer(headers, body)) == places
