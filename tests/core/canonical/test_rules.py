"""The table of built-in rules: unique, documented, and each with a request that it leaves something out of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from replayproxy.core.canonical.key import canonical
from replayproxy.core.canonical.rules import (
    CONDITIONAL_HEADERS,
    KEY_HEADERS,
    RULE_IDS,
    RULES,
    header_rule,
    signed_fields,
)
from replayproxy.core.exchange import Headers, Origin, Request
from replayproxy.core.provider import MatchRules

DOCS = Path(__file__).parents[3] / "docs" / "matching.md"
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
JSON = (("Content-Type", "application/json"),)
JWT = "grant_type=jwt&assertion=eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOj{}.c2ln"


def request(target: str = "/", headers: Headers = (), body: bytes = b"") -> Request:
    """A POST."""
    return Request(method="POST", origin=Origin.of("https", "api.test"), target=target, headers=headers, body=body)


def with_header(name: str, one: str = "1", other: str = "2") -> tuple[Request, Request]:
    """Two requests that differ in one header."""
    return request(headers=((name, one),)), request(headers=((name, other),))


def upload(boundary: str) -> Request:
    """A file, uploaded."""
    content = f'--{boundary}\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n--{boundary}--\r\n'.encode()
    return request(headers=(("Content-Type", f"multipart/form-data; boundary={boundary}"),), body=content)


AMZ = "/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date={0}&X-Amz-Expires=60&X-Amz-Credential=A%2F{0}&X-Amz-Signature={0}"
STREAM = (("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),)
CASES = {
    "credential": [
        with_header("Authorization", "Bearer one", "Bearer two"),
        with_header("Api-Key"),
        with_header("Cookie", "a=1", "a=2"),
        (request("/?api_key=one"), request("/?api_key=two")),
        (request(headers=FORM, body=b"client_secret=a"), request(headers=FORM, body=b"client_secret=b")),
        (request(headers=JSON, body=b'{"password":"a"}'), request(headers=JSON, body=b'{"password":"b"}')),
        (request("/x/sk_test_0123456789ab/y"), request("/x/sk_test_9876543210ba/y")),
    ],
    "aws-signature": [
        (request(AMZ.format(1)), request(AMZ.format(2))),
        with_header("X-Amz-Date"),
        with_header("x-amz-content-sha256"),
    ],
    "gcs-signature": [
        (
            request("/k?X-Goog-Date=1&X-Goog-Credential=a&X-Goog-Signature=a"),
            request("/k?X-Goog-Date=2&X-Goog-Credential=b&X-Goog-Signature=b"),
        )
    ],
    "url-signature": [
        (
            request("/k?AWSAccessKeyId=A&Signature=a&Expires=1"),
            request("/k?AWSAccessKeyId=A&Signature=b&Expires=2"),
        ),
        (
            request("/k?GoogleAccessId=A&Signature=a&Expires=1"),
            request("/k?GoogleAccessId=A&Signature=b&Expires=2"),
        ),
        (request("/k?Key-Pair-Id=A&Signature=a&Policy=1"), request("/k?Key-Pair-Id=A&Signature=b&Policy=2")),
    ],
    "azure-sas": [
        (request("/k?sv=1&sp=r&sig=a&se=1&st=1"), request("/k?sv=1&sp=r&sig=b&se=2&st=2")),
    ],
    "oauth1-signature": [
        (
            request("/?oauth_signature=a&oauth_nonce=1&oauth_timestamp=1"),
            request("/?oauth_signature=b&oauth_nonce=2&oauth_timestamp=2"),
        ),
        (
            request(headers=FORM, body=b"x=1&oauth_signature=a&oauth_nonce=1"),
            request(headers=FORM, body=b"x=1&oauth_signature=b&oauth_nonce=2"),
        ),
    ],
    "jwt-assertion": [
        (
            request(headers=FORM, body=JWT.format("F9").encode()),
            request(headers=FORM, body=JWT.format("J9").encode()),
        ),
        (
            request(headers=JSON, body=b'{"assertion":"eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjF9.c2ln"}'),
            request(headers=JSON, body=b'{"assertion":"eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjJ9.b3Ro"}'),
        ),
    ],
    "idempotency-key": [with_header("Idempotency-Key")],
    "request-id": [with_header("x-ms-client-request-id"), with_header("X-Request-ID")],
    "jsonrpc-id": [
        (
            request(headers=JSON, body=b'{"jsonrpc":"2.0","id":1,"method":"m"}'),
            request(headers=JSON, body=b'{"jsonrpc":"2.0","id":"a","method":"m"}'),
        ),
        (
            request(headers=JSON, body=b'[{"jsonrpc":"2.0","id":1,"method":"m"}]'),
            request(headers=JSON, body=b'[{"jsonrpc":"2.0","id":2,"method":"m"}]'),
        ),
    ],
    "trace": [with_header("traceparent"), with_header("X-B3-TraceId")],
    "telemetry": [with_header("User-Agent"), with_header("X-Stainless-Arch"), with_header("amz-sdk-request")],
    "telemetry-body": [
        (
            request("/v1/traces", headers=(("Content-Type", "application/x-protobuf"),), body=b"1"),
            request("/v1/traces", headers=(("Content-Type", "application/x-protobuf"),), body=b"2"),
        ),
        (
            request("/collect", headers=JSON, body=b'{"resourceSpans":[1]}'),
            request("/collect", headers=JSON, body=b'{"resourceSpans":[2]}'),
        ),
        (request("/api/7/envelope/", body=b"{}"), request("/api/7/envelope/", body=b"{1}")),
    ],
    "date": [with_header("Date")],
    "conditional": [with_header(name) for name in sorted(CONDITIONAL_HEADERS)],
    "caching": [with_header("Cache-Control")],
    "negotiation": [with_header("Accept-Encoding", "gzip", "br"), with_header("Accept", "*/*", "text/html")],
    "timeout": [with_header("grpc-timeout", "7980m", "7981m")],
    "websocket-key": [with_header("Sec-WebSocket-Key")],
    "framing": [with_header("Expect"), with_header("Content-MD5"), with_header("Content-Length")],
    "content-type": [with_header("Content-Type", "text/plain", "text/csv")],
    "boundary": [(upload("a1"), upload("b2"))],
    "aws-chunked": [
        (
            request(headers=STREAM, body=b"1;chunk-signature=a\r\nx\r\n0;chunk-signature=b\r\n\r\n"),
            request(headers=STREAM, body=b"1;chunk-signature=c\r\nx\r\n0;chunk-signature=d\r\n\r\n"),
        )
    ],
    "graphql-layout": [
        (
            request(headers=JSON, body=b'{"query":"{ a, b }"}'),
            request(headers=JSON, body=b'{"query":"{\\n a # why\\n b}"}'),
        ),
        (
            request(headers=(("Content-Type", "application/graphql"),), body=b"{a b}"),
            request(headers=(("Content-Type", "application/graphql"),), body=b"{ a  b }"),
        ),
    ],
    "other-header": [with_header("X-Anything")],
}
ROWS = [(rule, pair) for rule, pairs in CASES.items() for pair in pairs]


@pytest.mark.parametrize(("rule", "pair"), ROWS, ids=[rule for rule, _ in ROWS])
def test_what_a_rule_leaves_out(rule: str, pair: tuple[Request, Request]) -> None:
    """Two requests that differ in nothing else have one key, the rule is named; taken back, they have two."""
    one, other = (canonical(each) for each in pair)
    assert one.key == other.key
    assert rule in {name for name, _ in one.dropped}
    taken_back = MatchRules(on=(rule,))
    assert canonical(pair[0], taken_back).key != canonical(pair[1], taken_back).key
    assert rule not in {name for name, _ in canonical(pair[0], taken_back).dropped}


def test_every_rule_is_tested_once() -> None:
    """Ids are unique, and each has a case above."""
    assert [rule.id for rule in RULES] == list(CASES)
    assert len(RULE_IDS) == len(RULES)
    names = [name for rule in RULES for name in rule.headers]
    assert len(names) == len(set(names))
    assert all(rule.reason and rule.where for rule in RULES)


def test_the_documentation_shows_the_table() -> None:
    """docs/matching.md has a row for each rule, in order, word for word."""
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(rule.id, shown(rule.where, rule.headers), rule.reason) for rule in RULES]


def shown(where: str, headers: tuple[str, ...]) -> str:
    """Where a rule applies, as the table shows it."""
    return where.replace("headers", "headers " + ", ".join(headers), 1) if headers and "headers" in where else where


@pytest.mark.parametrize("name", KEY_HEADERS)
def test_headers_of_the_key(name: str) -> None:
    """No rule leaves these out."""
    assert header_rule(name) == ""


@pytest.mark.parametrize(
    ("names", "left_out"),
    [
        (["Signature", "Expires"], {}),
        (["X-Amz-Date"], {}),
        (["sig"], {}),
        (["sv", "sig", "sp"], {"sig": "azure-sas"}),
        (["x-amz-signature", "X-Amz-Date", "k"], {"x-amz-signature": "aws-signature", "x-amz-date": "aws-signature"}),
        (["oauth_nonce"], {}),
    ],
)
def test_signatures_are_known_by_their_marks(names: list[str], left_out: dict[str, str]) -> None:
    """`Expires` or `sig` alone may be real parameters, so nothing is left out without the mark."""
    assert signed_fields(names) == left_out
