"""Requests that only tell a vendor how the run went are known by type, path or document, and nothing else is."""

from __future__ import annotations

import gzip

import pytest

from replayproxy.core.canonical.key import canonical
from replayproxy.core.canonical.telemetry import is_telemetry
from replayproxy.core.exchange import Blob, Headers, Origin, Request

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
ORIGIN = Origin.of("https", "api.example.test")


def post(
    target: str, kind: str = JSON, body: bytes | Blob = b"{}", method: str = "POST", more: Headers = ()
) -> Request:
    """A request with BODY of KIND."""
    headers = (("Content-Type", kind), *more)
    return Request(method=method, origin=ORIGIN, target=target, headers=headers, body=body)


TELEMETRY = {
    "sentry envelope": post("/x", "application/x-sentry-envelope; charset=utf-8", b"{}\n{}"),
    "sentry path": post("/api/42/store/?sentry_key=a", "text/plain"),
    "browser": post("/reports", "application/reports+json", b"[]"),
    "openai agents": post("/v1/traces/ingest", body=b'{"data":[]}'),
    "otlp protobuf": post("/v1/metrics", PROTOBUF, b"\n\x01"),
    "otlp json": post("/v1/logs", body=b'{"resourceLogs": []}'),
    "otlp elsewhere": post("/collect", body=b' {"resourceSpans":[]}'),
    "in a file": post("/v1/traces", PROTOBUF, Blob("0" * 64, 100_000)),
}
OTHER = {
    "put": post("/v1/traces", PROTOBUF, b"\n\x01", method="PUT"),
    "protobuf elsewhere": post("/v2/traces", PROTOBUF, b"\n\x01"),
    "json at an otlp path": post("/v1/traces", body=b'{"name":"a"}'),
    "the word further down": post("/collect", body=b'{"a":{"resourceSpans":[]}}'),
    "the word in a list": post("/collect", body=b'["resourceSpans"]'),
    "the word in what is no JSON": post("/collect", body=b'"resourceSpans" {'),
    "too deep": post("/collect", body=b'{"resourceSpans":' + b"[" * 100_000),
    "sentry's own API": post("/api/0/projects/", body=b'{"name":"a"}'),
    "nothing": post("/", body=b""),
}


def content(request: Request) -> bytes:
    """The body, where it is at hand."""
    return request.body if isinstance(request.body, bytes) else b""


@pytest.mark.parametrize("name", TELEMETRY)
def test_telemetry(name: str) -> None:
    """Its body is left out of the key, and the rule is named."""
    request = TELEMETRY[name]
    assert is_telemetry(request, content(request))
    found = canonical(request)
    assert ("telemetry-body", "body") in found.dropped
    assert not [part for part, _ in found.parts if part.startswith("body")]


@pytest.mark.parametrize("name", OTHER)
def test_other_requests(name: str) -> None:
    """Whatever might be a resource of its own counts with its body."""
    assert not is_telemetry(OTHER[name], content(OTHER[name]))
    assert "telemetry-body" not in {rule for rule, _ in canonical(OTHER[name]).dropped}


def test_content_coding_hides_nothing() -> None:
    """Exporters compress what they send."""
    one, other = (
        canonical(post("/collect", body=gzip.compress(data), more=(("Content-Encoding", "gzip"),)))
        for data in (b'{"resourceSpans":[1]}', b'{"resourceSpans":[2]}')
    )
    assert one.key == other.key
