"""Cassettes that VCR.py wrote are read: what its bodies are is told from their octets."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest
import yaml

from replayproxy.core.errors import CassetteError
from replayproxy.core.exchange import Headers, Interaction, Origin
from replayproxy.format import dump, load, read

GZIPPED = gzip.compress(b'{"ok":true}', mtime=0)


def interaction(**parts: Any) -> dict[str, Any]:
    """An interaction as VCR.py writes it, with PARTS of its response (or `request`) replaced."""
    request = {"body": None, "headers": {"Accept": ["*/*"]}, "method": "GET", "uri": "http://a.test/s?x=1"}
    response = {"body": {"string": "hi"}, "headers": {}, "status": {"code": 200, "message": "OK"}}
    request.update(parts.pop("request", {}))
    return {"request": request, "response": {**response, **parts}}


def loaded(value: dict[str, Any] | None = None, **top: Any) -> Interaction:
    """The only interaction of the cassette that holds VALUE."""
    text = yaml.safe_dump({"interactions": [value or interaction()], "version": 1, **top})
    (found,) = load(text.encode(), "x.yaml").interactions
    return found


def test_the_plain_case() -> None:
    """A request, a response, text for UTF-8."""
    found = loaded(interaction(body={"string": "é"}, request={"method": "POST", "body": "a=1"}))
    assert (found.request.method, found.request.origin, found.request.target) == (
        "POST",
        Origin.of("http", "a.test"),
        "/s?x=1",
    )
    assert (found.request.body, found.request.headers) == (b"a=1", (("Accept", "*/*"),))
    assert (found.response.status, found.response.reason, found.response.body) == (200, "OK", "é".encode())
    assert (found.order, len(found.id), found.started_us) == (0, 12, 0)


FIELDS: dict[str, tuple[Any, Headers]] = {
    "lists": ({"A": ["1", "2"], "B": ["3"]}, (("A", "1"), ("A", "2"), ("B", "3"))),
    "text, as older versions wrote": ({"A": "1"}, (("A", "1"),)),
    "none": (None, ()),
    "empty list": ({"A": []}, ()),
    "beyond Latin-1": ({"A": ["€"]}, (("A", "\xe2\x82\xac"),)),
    "octets": ({"A": [b"caf\xe9"]}, (("A", "caf\xe9"),)),
    "length restated": ({"Content-Length": ["99"]}, (("Content-Length", "2"),)),
}


@pytest.mark.parametrize(("written", "headers"), FIELDS.values(), ids=FIELDS.keys())
def test_fields(written: Any, headers: Headers) -> None:
    """Fields are text or lists of text; a length that is not the body's is put right."""
    assert loaded(interaction(headers=written)).response.headers == headers


def test_a_length_without_a_body_stays() -> None:
    """The length in an answer to HEAD, and in a 304, is that of what was not sent (RFC 9110 section 8.6)."""
    fields = {"Content-Length": ["99"]}
    head = interaction(headers=fields, body={"string": ""}, request={"method": "HEAD"})
    assert loaded(head).response.headers == (("Content-Length", "99"),)
    unchanged = interaction(headers=fields, body={"string": ""}, status={"code": 304, "message": "Not Modified"})
    assert loaded(unchanged).response.headers == (("Content-Length", "99"),)


def test_chunked_stays_chunked() -> None:
    """What came in chunks is replayed in chunks."""
    found = loaded(interaction(headers={"Transfer-Encoding": ["chunked"]})).response
    assert (found.framing, found.headers) == ("chunked", (("Transfer-Encoding", "chunked"),))


CODED = {
    "gzip": ("gzip", GZIPPED),
    "gzip in capitals": ("GZIP", GZIPPED),
    "deflate": ("deflate", zlib.compress(b'{"ok":true}')),
}


@pytest.mark.parametrize(("name", "body"), CODED.values(), ids=CODED.keys())
def test_coded_bodies_are_decoded(name: str, body: bytes) -> None:
    """The octets are coded as the field says."""
    found = read(yaml.safe_dump(_coded(name, body)).encode(), "x.yaml")
    (one,) = found.cassette.interactions
    assert one.response.body == b'{"ok":true}'
    assert one.response.coding is not None
    assert one.response.coding.names == (name.lower(),)
    assert (("Content-Encoding", name) in one.response.headers, found.warnings) == (True, ())


@pytest.mark.parametrize(("name", "body"), [("gzip", '{"ok":true}'), ("br", '{"ok":true}'), ("gzip", b"\x1f\x8bno")])
def test_a_field_left_over_from_a_decoded_body_goes(name: str, body: str | bytes) -> None:
    """VCR.py decoded the body (or something broke it) and left the field: it is dropped, and told."""
    found = read(yaml.safe_dump(_coded(name, body)).encode(), "x.yaml")
    (one,) = found.cassette.interactions
    octets = body.encode() if isinstance(body, str) else body
    assert (one.response.body, one.response.coding) == (octets, None)
    assert one.response.headers == (("Content-Length", str(len(octets))),)
    assert len(found.warnings) == 1
    assert f"Content-Encoding: {name}" in found.warnings[0]


def test_identity_is_no_coding() -> None:
    """It is kept as it was sent, without a word."""
    found = read(yaml.safe_dump(_coded("identity", "hi")).encode(), "x.yaml")
    assert (("Content-Encoding", "identity") in found.cassette.interactions[0].response.headers, found.warnings) == (
        True,
        (),
    )


def _coded(name: str, body: str | bytes) -> dict[str, Any]:
    headers = {"Content-Encoding": [name], "Content-Length": ["31"]}
    return {"interactions": [interaction(headers=headers, body={"string": body})], "version": 1}


def test_unknown_keys_are_kept_and_told() -> None:
    """They are not ours to lose; written as ours they get the x- that such keys need."""
    value = interaction(url="http://a.test/")
    value["recorded_with"] = "mine"
    found = read(yaml.safe_dump({"interactions": [value], "version": 1, "metadata": {"a": 1}}).encode(), "x.yaml")
    assert found.cassette.foreign == "VCR.py"
    assert found.cassette.extensions == (("metadata", {"a": 1}),)
    assert found.cassette.interactions[0].extensions == (("recorded_with", "mine"), ("response.url", "http://a.test/"))
    assert len(found.warnings) == 3
    again = load(dump(found.cassette).text, "y.yaml")
    assert (again.foreign, again.extensions) == ("", (("x-metadata", {"a": 1}),))


def test_tags_of_older_versions() -> None:
    """Text of Python 2 is text; anything that would have to be built is refused."""
    text = "interactions:\n- request: {method: !!python/unicode GET, uri: 'http://a.test/', body: null, headers: {}}\n"
    text += "  response: {status: {code: 200, message: !!python/str OK}, headers: {}, body: {string: ''}}\nversion: 1\n"
    assert load(text.encode(), "x.yaml").interactions[0].response.reason == "OK"
    with pytest.raises(CassetteError, match=r"x\.yaml:2: the tag .*BytesIO"):
        load(text.replace("body: null", "body: !!python/object/new:_io.BytesIO {}").encode(), "x.yaml")


def test_anchors_that_pyyaml_writes() -> None:
    """Values that VCR.py shared are written once, with aliases."""
    headers = {"A": ["1"]}
    value = interaction(headers=headers, request={"headers": headers})
    assert "*id001" in yaml.safe_dump(value)
    found = loaded(value)
    assert found.request.headers == found.response.headers == (("A", "1"),)


WRONG = {
    "no request": ({"response": {}}, "interactions[0].request: is missing"),
    "interaction of text": ("x", "interactions[0]: must be a mapping"),
    "request of text": ({"request": "x", "response": {}}, "interactions[0].request: must be a mapping"),
    "no uri": (interaction(request={"uri": None}), "interactions[0].request.uri: must be text"),
    "relative uri": (interaction(request={"uri": "/a"}), "interactions[0].request.uri: not an absolute"),
    "method that is no token": (interaction(request={"method": "GET /"}), "request.method: must be a token"),
    "method of a number": (interaction(request={"method": 1}), "interactions[0].request.method: must be text"),
    "body of a mapping": (interaction(request={"body": {}}), "interactions[0].request.body: must be text or !!binary"),
    "no status": (interaction(status=None), "interactions[0].response.status: must be a mapping"),
    "code of text": (interaction(status={"code": "200"}), "interactions[0].response.status.code: must be a whole"),
    "message of a boolean": (
        interaction(status={"code": 200, "message": True}),
        "response.status.message: must be text",
    ),
    "no body": (interaction(body=None), "interactions[0].response.body: must be a mapping"),
    "string of a number": (interaction(body={"string": 5}), "interactions[0].response.body.string: must be text or"),
    "field of a number": (interaction(headers={"A": [5]}), "interactions[0].response.headers.A: must be text"),
    "fields of text": (interaction(headers="x"), "interactions[0].response.headers: must be a mapping"),
}


@pytest.mark.parametrize(("value", "why"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told_with_its_path(value: Any, why: str) -> None:
    """A broken cassette of VCR.py is refused like one of ours."""
    with pytest.raises(CassetteError) as caught:
        load(yaml.safe_dump({"interactions": [value], "version": 1}).encode(), "x.yaml")
    assert why in caught.value.what


def test_no_message() -> None:
    """Old stubs left the reason out."""
    assert loaded(interaction(status={"code": 200, "message": None})).response.reason == ""
    assert loaded(interaction(status={"code": 200, "message": "schön€"})).response.reason == "schön€".encode().decode(
        "latin-1"
    )
