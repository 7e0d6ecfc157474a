"""Which requests write."""

from __future__ import annotations

import gzip
import json

import pytest

from replayproxy.core.effect import READING, graphql_operations, is_write, method_of, reading
from replayproxy.core.exchange import Blob, Headers, Origin, Request
from replayproxy.core.provider import MatchRules

ORIGIN = Origin("https", "api.example.test", 443)
JSON = (("Content-Type", "application/json; charset=utf-8"),)
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


def post(target: str, body: object = b"", headers: Headers = JSON, method: str = "POST") -> Request:
    """A request with BODY, as JSON where it is not octets already."""
    data = body if isinstance(body, bytes | Blob) else json.dumps(body).encode()
    return Request(method=method, origin=ORIGIN, target=target, headers=headers, body=data)


QUERY = 'query A($x: [In!] = [{a: 1}]) @mutation(if: true) { a(s: "{") { b } } fragment F on T { c }'
MUTATION = "mutation { pay { id } }"

READS = {
    "get": post("/a", method="GET"),
    "head": post("/a", method="HEAD"),
    "options": post("/a", method="OPTIONS"),
    "trace": post("/a", method="TRACE"),
    "override": post("/a", headers=(("X-HTTP-Method-Override", " get "),)),
    "token form": post("/oauth/token", b"grant_type=client_credentials&scope=", FORM),
    "token json": post("/oauth/token", {"grant_type": "client_credentials"}),
    "sentry path": post("/api/42/envelope/", b"{}\n{}", (("Content-Type", "text/plain"),)),
    "sentry type": post("/x", b"{}\n{}", (("Content-Type", "application/x-sentry-envelope"),)),
    "otlp protobuf": post("/v1/traces", b"\n\x01", (("Content-Type", "application/x-protobuf"),)),
    "otlp json": post("/collect", {"resourceSpans": []}),
    "graphql": post("/graphql", {"query": "{ me { id } }"}),
    "graphql named": post("/graphql", {"query": QUERY, "operationName": "A"}),
    "graphql chosen": post("/graphql", {"query": f"query A {{ a }} {MUTATION}", "operationName": "A"}),
    "graphql batch": post("/graphql", [{"query": "{a}"}, {"query": "query B {b}"}]),
    "graphql text": post("/graphql", b"{ me { id } }", (("Content-Type", "application/graphql"),)),
    "chat": post("/v1/chat/completions", {"model": "m", "messages": []}),
    "completion": post("/v1/completions", {"model": "m", "prompt": "a"}),
    "embedding": post("/v1/embeddings", {"model": "m", "input": ["a"]}),
    "gemini": post("/v1beta/models/gemini-x:generateContent", {"contents": []}),
    "bedrock": post("/model/vendor.m-v1%3A0/invoke", {"anything": 1}),
    "coded": post(
        "/v1/chat/completions",
        gzip.compress(b'{"model":"m","messages":[]}'),
        (*JSON, ("Content-Encoding", "gzip")),
    ),
}
WRITES = {
    "put": post("/a", method="PUT"),
    "patch": post("/a", method="PATCH"),
    "delete": post("/a", method="DELETE"),
    "own method": post("/a", method="PURGE"),
    "override": post("/a", headers=(("X-HTTP-Method-Override", "DELETE"),)),
    "override on a put": post("/a", headers=(("X-HTTP-Method-Override", "GET"),), method="PUT"),
    "json": post("/items", {"name": "a"}),
    "empty": post("/items"),
    "octets": post("/items", b"\xff\xfe"),
    "deep": post("/items", b"[" * 100_000),
    "empty batch": post("/graphql", []),
    "mutation": post("/graphql", {"query": MUTATION}),
    "mutation chosen": post(
        "/graphql",
        {"query": f"query A {{ a }} {MUTATION[:8]} B {MUTATION[8:]}", "operationName": "B"},
    ),
    "mutation among queries": post("/graphql", {"query": f"query A {{ a }} {MUTATION}"}),
    "unknown operation": post("/graphql", {"query": "query A {a} query B {b}", "operationName": "C"}),
    "batch with a mutation": post("/graphql", [{"query": "{a}"}, {"query": MUTATION}]),
    "subscription": post("/graphql", {"query": "subscription { a }"}),
    "persisted query": post("/graphql", {"extensions": {"persistedQuery": {"sha256Hash": "a"}}}),
    "another query language": post("/query", {"query": "SELECT 1"}),
    "only a fragment": post("/graphql", {"query": "fragment F on T { c }"}),
    "unbalanced": post("/graphql", {"query": "{ a { b }"}),
    "half a document": post("/graphql", {"query": "query A"}),
    "model without a question": post("/v1/fine_tuning/jobs", {"model": "m", "training_file": "f"}),
    "question without a model": post("/v1/threads/1/messages", {"input": "a"}),
    "otlp elsewhere": post("/v2/traces", b"\n\x01", (("Content-Type", "application/x-protobuf"),)),
    "a file that is not at hand": post("/v1/chat/completions", Blob("0" * 64, 100_000)),
    "a coding that does not hold": post("/v1/c", b"{}", (*JSON, ("Content-Encoding", "gzip"))),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name: str) -> None:
    """Safe methods read, and so do the POSTs that only ask."""
    assert not is_write(READS[name])


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    """Whatever is not known to read writes."""
    assert is_write(WRITES[name])


@pytest.mark.parametrize(
    ("pattern", "writes"),
    [("POST /search*", False), ("* /search/*", False), ("PUT /search/a", True), ("POST /Search/a", True)],
)
def test_a_provider_declares_more(pattern: str, writes: bool) -> None:
    """`read_only` holds globs of method and path, without the query."""
    assert is_write(post("/search/a?q=1", {"q": 1}), MatchRules(read_only=(pattern,))) is writes


def test_only_a_post_is_excused() -> None:
    """A PUT of what looks like a prompt stores it."""
    assert is_write(post("/v1/prompts/1", {"model": "m", "prompt": "a"}, method="PUT"))


def test_each_exception_has_an_id_and_is_told() -> None:
    """The table's ids are unique and each has a case above."""
    ids = [one.id for one in READING]
    assert len(set(ids)) == len(ids)
    assert {reading(request) for request in READS.values()} == {*ids, None}


@pytest.mark.parametrize(
    ("headers", "method"),
    [((), "POST"), ((("X-HTTP-Method", ""),), "POST"), ((("X-Method-Override", "patch"),), "PATCH")],
)
def test_method_of(headers: Headers, method: str) -> None:
    """An empty override names no method."""
    assert method_of(post("/a", headers=headers)) == method


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("{a}", [("query", "")]),
        (QUERY, [("query", "A")]),
        ("query ($x: Int) {a} mutation M {b}", [("query", ""), ("mutation", "M")]),
        ("", []),
        ("\x00", []),
        ("a b", []),
        ("{a}}", []),
    ],
)
def test_graphql_operations(text: str, operations: list[tuple[str, str]]) -> None:
    """Strings, defaults, directives and fragments are no operations."""
    assert graphql_operations(text) == operations
