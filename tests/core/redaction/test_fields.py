"""Header fields and targets: what in them is secret, and all else as it is."""

from __future__ import annotations

import base64

import pytest

from replayproxy.core.provider import RedactRule, Selector
from replayproxy.core.redaction.edits import apply, settle
from replayproxy.core.redaction.fields import header, target
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.text import Search
from replayproxy.core.redaction.vault import Vault

SALT = "ab" * 16
SECRET = "SID-live-0003"
STANDS = placeholder(SALT, SECRET)


def search(*rules: RedactRule) -> Search:
    """A search that knows nothing yet."""
    return Search(Vault(SALT), rules)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Bearer {}"),
        ("authorization", "{}"),
        ("X-API-Key", "{}"),
        ("Cookie", "sid={}"),
        ("Cookie", 'a=1; sid="{}"; theme=1'),
        ("Set-Cookie", "sid={}; Path=/; HttpOnly"),
        ("Set-Cookie", 'sid="{}"; Path=/'),
        ("Location", "https://a.test/cb?access_token={}&state=1#top"),
        ("Location", "/cb?a=1&api_key={}"),
        ("Link", '<https://a.test/?page=2&api_key={}>; rel="next"'),
        ("X-Link", "https://user:{}@a.test/"),
    ],
)
def test_the_secret_of_a_field_is_masked(name: str, value: str) -> None:
    """The name and everything around the secret stay."""
    source = value.format(SECRET)
    edits = settle(header(search(), name, source, "request.header"))
    assert apply(source, edits).replace("=0", "=1") == value.format(STANDS).replace("=0", "=1")
    assert all(edit.at.startswith(f"request.header:{name.lower()}") for edit in edits)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", ""),
        ("Set-Cookie", "sid=; Max-Age=0"),
        ("Set-Cookie", "nonsense"),
        ("Cookie", "nonsense"),
        ("Set-Cookie", ""),
        ("Location", "/next?page=2"),
        ("Content-Type", "text/plain; charset=utf-8"),
        ("User-Agent", "client/1.0 (linux; x86_64)"),
        ("ETag", '"d41d8cd98f00b204e9800998ecf8427e"'),
        ("Idempotency-Key", "a8098c1a-f86e-11da-bd1a-00112444be1e"),
        ("WWW-Authenticate", 'Bearer realm="api", error="invalid_token"'),
    ],
)
def test_a_field_without_a_secret_needs_no_edit(name: str, value: str) -> None:
    """Ordinary fields stay."""
    assert header(search(), name, value, "response.header") == []


def test_words_of_the_protocol_are_not_searched() -> None:
    """A number that is a password elsewhere is no password in Content-Length."""
    seeking = search()
    seeking.vault.conceal("123456", "password")
    assert header(seeking, "Content-Length", "123456", "response.header") == []
    assert header(seeking, "X-Count", "123456", "response.header")


def test_json_under_base64_in_a_field() -> None:
    """What a field packs is read by its names."""
    packed = base64.b64encode(b'{"password": "hunter-2-x"}').decode()
    (edit,) = header(search(), "X-Context", packed, "request.header")
    assert base64.b64decode(edit.new) == b'{"password": "%s"}' % placeholder(SALT, "hunter-2-x").encode()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("/x?api_key={}&a=1", "request.query:api_key"),
        ("/x?a&api%5Fkey={}", "request.query:api_key"),
        ("/users/{}/x", "request.path"),
        ("/a?next=http://u:{}@x/", "request.target"),
    ],
)
def test_a_target_is_masked_in_place(text: str, at: str) -> None:
    """The path by the user's rule, the query by its names, and known shapes anywhere; and where is told."""
    rule = RedactRule(at=Selector.parse("path:^/users/([^/]+)"))
    source = text.format(SECRET)
    edits = settle(target(search(rule, RedactRule(pattern="never")), source, "request"))
    assert apply(source, edits) == text.format(STANDS)
    assert [edit.at for edit in edits] == [at]


@pytest.mark.parametrize("text", ["/", "*", "/x?", "/x?page=2&token_type=bearer&=&a", "/password/api_key?q=password"])
def test_a_target_without_a_secret_stays(text: str) -> None:
    """Names of credentials in a path or a value are no credentials."""
    assert target(search(), text, "request") == []
