"""Bodies by content type."""

from __future__ import annotations

import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.body import add_body, request_content
from replayproxy.core.canonical.draft import BUILT_IN, CREDENTIAL, Draft, plan_of
from replayproxy.core.exchange import Blob, Body, Origin, Request
from replayproxy.core.provider import MatchRules, Selector

ORIGIN = Origin.of("https", "api.test")


def request(kind: str | None, body: Body, **headers: str) -> Request:
    """A POST of BODY."""
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    typed = (("Content-Type", kind),) if kind is not None else ()
    return Request(method="POST", origin=ORIGIN, target="/", headers=typed + fields, body=body)


def parts(kind: str | None, body: Body, rules: MatchRules = BUILT_IN, **headers: str) -> list[tuple[str, str]]:
    """The parts of a body."""
    draft = Draft(plan_of(rules))
    add_body(draft, request(kind, body, **headers))
    return draft.parts


def multipart(boundary: str, *contents: bytes, head: str = 'Content-Disposition: form-data; name="f"') -> bytes:
    """A multipart body."""
    pieces = [f"--{boundary}\r\n{head}\r\n\r\n".encode() + content + b"\r\n" for content in contents]
    return b"".join(pieces) + f"--{boundary}--\r\n".encode()


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "text/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.api+json",
        "application/x-amz-json-1.1",
        "application/json-rpc",
    ],
)
def test_json_types(kind: str) -> None:
    """These types are JSON."""
    assert parts(kind, b'{ "a": 1 }') == [("body.$.a", "1")]


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/octet-stream", "application/x-ndjson", "x+jsonx"]
)
def test_nothing_is_guessed(kind: str | None) -> None:
    """JSON under another type, or none, counts octet for octet."""
    assert parts(kind, b'{ "a": 1 }') == [("body.text", '{ "a": 1 }')]


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("application/json", b"{broken", [("body.text", "{broken")]),
        ("application/x-www-form-urlencoded", b"b=2&a", [("form", "a"), ("form.b", "2")]),
        ("application/graphql", b"{ a , b }", [("body.graphql", "{ a b }")]),
        ("application/graphql", b"select", [("body.text", "select")]),
        ("application/graphql", b"\xff", [("body.sha256", hashlib.sha256(b"\xff").hexdigest())]),
        ("text/plain", b"caf\xc3\xa9", [("body.text", "café")]),
        ("text/plain", b"caf\xe9", [("body.sha256", hashlib.sha256(b"caf\xe9").hexdigest())]),
        ("text/plain", b"x" * 1025, [("body.sha256", hashlib.sha256(b"x" * 1025).hexdigest())]),
        ("application/json", b"", []),
        ("application/json", Blob("ab" * 32, 5), [("body.sha256", "ab" * 32)]),
        ("multipart/form-data", b"x", [("body.text", "x")]),
        ("multipart/form-data; boundary=b", b"x", [("body.text", "x")]),
    ],
)
def test_kinds(kind: str, body: Body, expected: list[tuple[str, str]]) -> None:
    """Each kind of body, and what cannot be read as its type claims."""
    assert parts(kind, body) == expected


def test_content_coding_is_undone() -> None:
    """A coded body is the body; a claim that does not hold leaves the octets."""
    plain = b'{"a":1}'
    assert parts("application/json", gzip.compress(plain), content_encoding="gzip") == [("body.$.a", "1")]
    assert parts("application/json", plain, content_encoding="gzip") == [("body.$.a", "1")]
    assert parts("text/plain", b"x", content_encoding="no-such") == [("body.text", "x")]


def test_aws_chunked() -> None:
    """The payload counts, its coding undone; taken back, the octets of the wire do."""
    payload = gzip.compress(b"hello")
    body = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:AA==\r\n\r\n" % (len(payload), payload)
    kind, coding = "text/plain", "aws-chunked,gzip"
    assert parts(kind, body, content_encoding=coding) == [("body.text", "hello")]
    whole = [("body.sha256", hashlib.sha256(body).hexdigest())]
    assert parts(kind, body, MatchRules(on=("aws-chunked",)), content_encoding=coding) == whole
    assert parts(kind, b"x", content_encoding="aws-chunked") == [("body.text", "x")]
    assert request_content(request(kind, Blob("00" * 32, 1))) == b""


def test_graphql_taken_back() -> None:
    """The document counts as it was laid out."""
    rules = MatchRules(on=("graphql-layout",))
    assert parts("application/graphql", b"{ a , b }", rules) == [("body.text", "{ a , b }")]


def test_multipart_without_boundary() -> None:
    """The same parts under another boundary are the same body; taken back, they are not."""
    one = parts("multipart/form-data; boundary=b1", multipart("b1", b"x", b"y"))
    assert one == parts("multipart/form-data; boundary=b2", multipart("b2", b"x", b"y"))
    assert one == [
        ("body[0].content-disposition", 'form-data; name="f"'),
        ("body[0].text", "x"),
        ("body[1].content-disposition", 'form-data; name="f"'),
        ("body[1].text", "y"),
    ]
    rules = MatchRules(on=("boundary",))
    assert parts("multipart/x; boundary=b1", multipart("b1", b"x"), rules)[0][0] == "body.text"


@pytest.mark.parametrize(
    ("head", "contents"),
    [
        ('Content-Disposition: form-data; name="f"', (b"y", b"x")),
        ('Content-Disposition: form-data; name="f"', (b"x",)),
        ('Content-Disposition: form-data; name="g"', (b"x", b"y")),
        ('Content-Disposition: form-data; name="f"; filename="a"', (b"x", b"y")),
        ('Content-Disposition: form-data; name="f"\r\nContent-Type: text/csv', (b"x", b"y")),
    ],
)
def test_what_counts_of_a_part(head: str, contents: tuple[bytes, ...]) -> None:
    """Order, number, names, file names and types of parts count."""
    base = parts("multipart/form-data; boundary=b", multipart("b", b"x", b"y"))
    assert parts("multipart/form-data; boundary=b", multipart("b", *contents, head=head)) != base


def test_parts_by_their_own_type() -> None:
    """A JSON part counts by value, a form part by field, a nested multipart without its own boundary."""
    kind = "multipart/related; boundary=b"
    found = parts(kind, multipart("b", b'{ "a": 1.0 }', head="Content-Type: application/json"))
    assert found == [("body[0].content-type", "application/json"), ("body[0].$.a", "1")]
    found = parts(kind, multipart("b", b"b=1", head="Content-Type: application/x-www-form-urlencoded"))
    assert found[1:] == [("body[0].form.b", "1")]
    nested = [
        parts(kind, multipart("b", multipart(inner, b"x"), head=f"Content-Type: multipart/mixed; boundary={inner}"))
        for inner in ("i1", "i2")
    ]
    assert nested[0] == nested[1]
    assert nested[0][-1] == ("body[0][0].text", "x")


def test_nesting_has_an_end() -> None:
    """Parts nested too deeply count octet for octet."""
    body, kind = b"x", "text/plain"
    for level in range(6):
        body = multipart(f"b{level}", body, head=f"Content-Type: {kind}")
        kind = f"multipart/mixed; boundary=b{level}"
    assert parts(kind, body)[-1][0] == "body[0][0][0][0].text"


def test_rules_for_form_fields_of_a_multipart_body() -> None:
    """Credentials and the user's selectors work there as in a urlencoded form; files are left alone."""
    kind = "multipart/form-data; boundary=b"
    secret = multipart("b", b"hunter2", head='Content-Disposition: form-data; name="password"')
    assert parts(kind, secret)[-1] == ("body[0].text", CREDENTIAL)
    rules = MatchRules(ignore=(Selector("form", "f"),))
    assert parts(kind, multipart("b", b"x"), rules) == []
    file = multipart("b", b"hunter2", head='Content-Disposition: form-data; name="password"; filename="p"')
    assert parts(kind, file)[-1] == ("body[0].text", "hunter2")
    long = multipart("b", b"x" * 2000, head='Content-Disposition: form-data; name="password"')
    assert parts(kind, long)[-1] == ("body[0].text", CREDENTIAL)


@given(
    st.binary(max_size=40),
    st.sampled_from(["application/json", "multipart/x; boundary=a", "text/x", "application/graphql"]),
)
def test_any_octets(body: bytes, kind: str) -> None:
    """No body makes it fail, and none vanishes."""
    assert bool(parts(kind, body)) == bool(body)
