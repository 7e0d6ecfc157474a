"""The values that a selector names."""

from __future__ import annotations

import pytest

from replayproxy.core.canonical.values import Value, form_fields, json_leaves, text_value, values
from replayproxy.core.exchange import Origin, Request
from replayproxy.core.provider import Selector

FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
JSON = (("Content-Type", "application/json"),)
MULTI = (("Content-Type", "multipart/form-data; boundary=b"),)
PARTS = (
    b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n'
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\nfile\r\n--b--'
)


def request(target: str = "/", headers: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> Request:
    """A POST."""
    return Request(method="POST", origin=Origin.of("https", "api.test"), target=target, headers=headers, body=body)


@pytest.mark.parametrize(
    ("selector", "sent", "expected"),
    [
        ("header:X-Id", request(headers=(("x-id", "1"), ("X-ID", "2"))), ["1", "2"]),
        ("query:q", request("/?q=a+b&r=1&q"), ["a b", ""]),
        ("form:f", request(headers=FORM, body=b"f=%20&g=1&f"), [" ", ""]),
        ("form:f", request(headers=MULTI, body=PARTS), ["x"]),
        ("form:f", request(headers=JSON, body=b"f=1"), []),
        ("path:/u/([^/]+)", request("/u/a%20b/c?d"), ["a b"]),
        ("path:[0-9]+", request("/u/17/18"), ["17", "18"]),
        ("path:/(a)|/(b)", request("/b"), ["", "b"]),
        ("json:$.id", request(body=b"\xff"), []),
        ("json:$.id", request(body=b"{"), []),
    ],
)
def test_values_of_places_without_types(selector: str, sent: Request, expected: list[str]) -> None:
    """Decoded text, in the request's order."""
    assert values(sent, Selector.parse(selector)) == [text_value(text) for text in expected]


def test_values_in_json() -> None:
    """They keep their token and their path."""
    sent = request(headers=JSON, body=b'{"id": 1.0, "a": [{"id": "\\u0041"}]}')
    assert values(sent, Selector.parse("json:$..id")) == [
        Value("1.0", "1.0", "number", ("id",)),
        Value("A", '"\\u0041"', "string", ("a", 0, "id")),
    ]
    assert len(json_leaves(sent)) == 2


def test_a_multipart_body_that_is_none() -> None:
    """What cannot be taken apart has no fields."""
    assert form_fields(request(headers=MULTI, body=b"x")) == []
