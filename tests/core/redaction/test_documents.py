"""Secrets in the fields of bodies, of every kind that names its fields; and all that is no secret as it is."""

from __future__ import annotations

import base64
import json

import pytest

from replayproxy.core.provider import RedactRule, Selector
from replayproxy.core.redaction.documents import anywhere, body, known, pairs
from replayproxy.core.redaction.edits import apply, settle
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.text import USER, Search
from replayproxy.core.redaction.vault import Vault

SALT = "ef" * 16
SECRET = "AT-live-0001"
STANDS = placeholder(SALT, SECRET)
JSON = "application/json; charset=utf-8"
FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=xyz"


def search(*rules: RedactRule, sent: bool = True) -> Search:
    """A search that knows nothing yet."""
    return Search(Vault(SALT), rules, sent)


def masked(text: str, kind: str, seeking: Search | None = None) -> tuple[str, set[str]]:
    """TEXT masked once, and the places."""
    edits = settle(body(seeking or search(), text, kind, "b"))
    return apply(text, edits), {edit.at for edit in edits}


def part(name: str, value: str, more: str = "") -> str:
    """A part of a form, and the end."""
    return f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n--xyz--\r\n'


BODIES = {
    "JSON": (JSON, '{"a": [{"api_key": "S"}]}', "b:$.a[0].api_key"),
    "JSON that says it is text": ("text/plain", '{"api_key": "S"}', "b:$.api_key"),
    "JSON, name escaped": (JSON, '{"api\\u005fkey": "S"}', "b:$.api_key"),
    "JSON in JSON": (JSON, json.dumps({"a": json.dumps({"api_key": "S"})}), "b:$.a"),
    "JSON list in JSON": (JSON, json.dumps({"a": json.dumps([{"api_key": "S"}])}), "b:$.a"),
    "JSON list with numbers in JSON": (JSON, json.dumps({"a": json.dumps([1, {"api_key": "S"}])}), "b:$.a"),
    "JSON, authorization": (JSON, '{"headers": {"Authorization": "Bearer S"}}', "b:$.headers.Authorization"),
    "list under a name": (JSON, '{"access_token": ["S"]}', "b:$.access_token[0]"),
    "lines": ("application/x-ndjson", '{"a": 1}\n{"api_key": "S"}\n', "b:$.api_key"),
    "events": ("text/event-stream", 'event: x\ndata: {"api_key": "S"}\n\ndata: [DONE]\n\n', "b:$.api_key"),
    "events over lines": ("text/event-stream", 'data: {\ndata:  "api_key": "S"\ndata: }\n\n', "b"),
    "form": (FORM, "a=1&client_secret=S&b=2", "b:client_secret"),
    "form, opaque": (FORM, "grant_type=authorization_code&code=S0123456789", "b:code"),
    "parts": (PARTS, part("password", "S"), "b:password"),
    "parts, bare name": (PARTS, part("x", "S").replace('"x"', "password"), "b:password"),
    "parts, JSON": (PARTS, part("meta", '{"api_key": "S"}'), "b:$.api_key"),
    "parts of many": (PARTS, f"--xyz\r\n\r\nnone\r\n--xyz\r\nx\r\n{part('password', 'S')}", "b:password"),
    "XML": ("text/xml", "<r xmlns:a='b'><a:SecretAccessKey x='1'>S</a:SecretAccessKey></r>", "b:SecretAccessKey"),
    "XML attribute": ("application/soap+xml", '<r a="1" password="S"/>', "b:password"),
    "XML without a type": ("", "<?xml version='1.0'?><password>S</password>", "b:password"),
    "script": ("text/html", "<script>var x = {'api_key': 'S'};</script>", "b"),
    "script, JSON guard": (JSON, ')]}\'\n{"api_key": "S"}', "b"),
}


@pytest.mark.parametrize(("kind", "text", "at"), BODIES.values(), ids=BODIES)
def test_named_fields_are_masked(kind: str, text: str, at: str) -> None:
    """Whatever the kind of the body: the value of the field, and nothing else."""
    secret = "S0123456789" if "S0123456789" in text else "S"
    real = "AT-live-0001-0002" if secret != "S" else SECRET
    source = mark(text, secret, real)
    assert masked(source, kind) == (mark(text, secret, placeholder(SALT, real)), {at})


def mark(text: str, secret: str, value: str) -> str:
    """TEXT with VALUE where the mark of a secret stands by itself."""
    at = max(text.rfind(f"{before}{secret}") + len(before) for before in ('"', "'", "=", ">", " ", "\n"))
    return text[:at] + value + text[at + len(secret) :]


QUIET = {
    "JSON": (JSON, '{"api_key": "", "token": "Hello", "password": null, "secret": true, "a": "\\n"}'),
    "JSON, prose": (JSON, '{"password": "must have a digit", "authorization": "not needed"}'),
    "JSON, numbers": (JSON, '{"api_key": 12345678, "a": [1, 2]}'),
    "JSON, nested prose": (JSON, json.dumps({"text": "{not json \\n", "more": '["a\\n"]'})),
    "events": ("text/event-stream", "data: [DONE]\n\n: comment\n\n"),
    "form": (FORM, "a&b=1&password=&=x&token=abc&\xff=1&pass word=123456"),
    "parts": (PARTS, part("file", "x", '; filename="a.txt"') + part("note", "x")),
    "parts, file of a telling name": (PARTS, part("password", "some text", '; filename="a.txt"')),
    "parts, broken": (PARTS, "--xyz\r\nContent-Disposition: form-data; name=password"),
    "parts, empty": (PARTS, part("password", "")),
    "parts without a boundary": ("multipart/form-data", "--xyz"),
    "XML": ("text/xml", "<password> </password><secret/><a b='1'>x</a><password>required</password>"),
    "script": ("text/html", '"token": "Hello", "page_token": "abcdefgh12345678"'),
    "octets": ("application/octet-stream", "\x00\x01\xff\xfe%%\\\\&&"),
}


@pytest.mark.parametrize(("kind", "text"), QUIET.values(), ids=QUIET)
def test_the_rest_stays(kind: str, text: str) -> None:
    """Empty values, prose, names of types, files, and what is broken."""
    assert masked(text, kind, search(sent=False)) == (text, set())


def test_what_a_client_sends_may_be_prose() -> None:
    """A passphrase that is sent is masked; one that an answer talks about is none."""
    assert masked('{"password": "correct horse 1"}', JSON)[1] == {"b:$.password"}
    assert masked('{"password": "required"}', JSON)[1] == {"b:$.password"}


def test_a_plus_in_a_form() -> None:
    """In a password it is a space; in a token it is itself."""
    space, plus = placeholder(SALT, "abc def 1"), placeholder(SALT, "abc+def+1")
    assert masked("password=abc+def+1", FORM)[0] == f"password={space.replace(' ', '+')}"
    assert masked("client_secret=abc+def+1", FORM)[0] == f"client_secret={plus}"


@pytest.mark.parametrize("safe", [False, True])
def test_json_under_base64(*, safe: bool) -> None:
    """Its fields tell; alphabet and padding stay."""
    for pad in range(3):
        plain = json.dumps({"a": ">>>???" + "x" * pad, "api_key": SECRET})
        coded = (base64.urlsafe_b64encode if safe else base64.b64encode)(plain.encode()).decode()
        coded = coded.rstrip("=") if safe else coded
        made, _ = masked(f"context {coded} end", "text/plain")
        again = made.removeprefix("context ").removesuffix(" end")
        assert len(again) == len(coded)
        padded = again + "=" * (-len(again) % 4)
        assert (base64.urlsafe_b64decode if safe else base64.b64decode)(padded).decode() == plain.replace(
            SECRET, STANDS
        )


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b'{"a": 1, "b": "nothing to see"}').decode(),
        base64.b64encode(b'{"a": "\xff\xfe\xfd\xfc\xfb"}').decode(),
        "eyJhbGciOiJIUzI1NiJ9.x",
        "they eye Wyoming W3C ewe",
        "eyeeyeeyeeyeeyeeyeeye",
        "eyeeyeeyeeyeeyeeyeeyee=",
    ],
)
def test_base64_without_a_secret(text: str) -> None:
    """What is no JSON, or holds no secret, stays."""
    assert anywhere(search(), text, "b") == []


def test_nesting_has_an_end() -> None:
    """What lies deeper than a few levels is not looked into: no input takes unbounded time."""
    coded = SECRET
    text = json.dumps({"api_key": coded})
    for _ in range(5):
        text = json.dumps({"x": base64.b64encode(text.encode()).decode()})
    assert masked(text, JSON) == (text, set())
    spelled = json.dumps({"api_key": SECRET})
    for _ in range(6):
        spelled = json.dumps({"x": spelled})
    assert masked(spelled, JSON)[1] == set()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('{"x": "acme"}', f'{{"x": "{placeholder(SALT, "acme")}"}}'),
        ('{"x": {"y": ["acme"]}}', f'{{"x": {{"y": ["{placeholder(SALT, "acme")}"]}}}}'),
        ('{"x": -12345.5}', f'{{"x": -{placeholder(SALT, "12345")}.5}}'),
        ('{"x": 123}', '{"x": 111}'),
        ('{"x": 11}', '{"x": 11}'),
        ('{"x": 0}', '{"x": 0}'),
        ('{"x": 000}', '{"x": 000}'),
        ('{"x": true}', '{"x": true}'),
        ('{"y": "acme"}', '{"y": "acme"}'),
        ('{"x": ""}', '{"x": ""}'),
    ],
)
def test_a_path_of_the_user(text: str, made: str) -> None:
    """Strings and numbers there are masked, and stay strings and numbers."""
    rule = RedactRule(at=Selector.parse("json:$.x"))
    edits = settle(body(search(rule), text, JSON, "b"))
    assert apply(text, edits) == made
    assert {mask.rule for edit in edits for mask in edit.masks} <= {USER}


def test_a_field_of_the_user() -> None:
    """In forms and parts by name, in texts by pattern."""
    rules = (RedactRule(at=Selector.parse("form:user")), RedactRule(pattern="acme-[0-9]+"))
    stands = placeholder(SALT, "acme-1")
    assert masked("user=acme-1", FORM, search(*rules))[0] == f"user={stands}"
    assert masked(part("user", "acme-1"), PARTS, search(*rules))[0] == part("user", stands)
    assert masked("to acme-1.", "text/plain", search(*rules))[0] == f"to {stands}."


def test_pairs_stay_in_their_span() -> None:
    """What is before and after it is not read."""
    text = f"?api_key={SECRET}&a=1#api_key={SECRET}"
    (edit,) = pairs(search(), text, (1, text.index("#")), "query", "b")
    assert (edit.start, edit.end, edit.at) == (9, 21, "b:api_key")


def test_what_is_known_is_found_in_what_a_text_spells() -> None:
    """Level by level; names and shapes say nothing here."""
    seeking = search()
    seeking.vault.conceal("AT/live1", "key")
    stands = placeholder(SALT, "AT/live1").replace("/", "%2F")
    text = 'AT%2Flive1 AT%252Flive1 "api_key": "x-12345678"'
    edits = settle(known(seeking, text, "b"))
    assert apply(text, edits) == f'{stands} {stands.replace("%", "%25")} "api_key": "x-12345678"'
