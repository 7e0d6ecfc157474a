"""Secrets in running text, and when a field's value can be the credential that its name promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.credentials import Where
from replayproxy.core.provider import RedactRule, Selector
from replayproxy.core.redaction.edits import Edit, Mask, apply
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.text import OPAQUE, USER, Search, lifted, pattern_spans
from replayproxy.core.redaction.vault import Vault
from replayproxy.core.redaction.views import JSON, PERCENT, view

SALT = "5a" * 16
KEY = "ghp_" + "a1B2" * 9
OTHER = "a1b2c3d4e5f6a7b8"


@pytest.mark.parametrize(
    ("name", "value", "where", "sent", "rule"),
    [
        ("Authorization", "anything goes", "header", True, "authorization"),
        ("X-Api-Key", "string", "header", False, "key"),
        ("api_key", "abc", "json", True, "key"),
        ("api_key", "two words", "json", True, None),
        ("password", "two words", "form", True, "password"),
        ("password", "two words", "json", False, None),
        ("password", "required", "json", False, None),
        ("password", "required", "json", True, "password"),
        ("private_key", "-----BEGIN PRIVATE KEY-----\nx", "json", False, "key"),
        ("api_key", "Bearer abc", "json", False, "key"),
        ("authorization", "Bearer abc", "json", False, "authorization"),
        ("authorization", "not needed here", "json", True, None),
        ("token", OTHER, "json", False, OPAQUE),
        ("TOKEN", OTHER, "query", True, OPAQUE),
        ("token", "Hello", "json", False, None),
        ("code", OTHER, "form", True, OPAQUE),
        ("code", OTHER, "json", True, None),
        ("page", OTHER, "query", True, None),
        ("x-tenant", "a", "header", True, USER),
        ("X-Tenant", "a", "header", True, USER),
        ("user", "a", "query", True, USER),
        ("User", "a", "query", True, None),
    ],
)
def test_which_rule_names_a_value(name: str, value: str, where: Where, sent: bool, rule: str | None) -> None:
    """The user's, a certain name with a credible value, or a doubtful name with an opaque one."""
    rules = (RedactRule(at=Selector.parse("header:X-Tenant")), RedactRule(at=Selector.parse("query:user")))
    search = Search(Vault(SALT), (*rules, RedactRule(pattern="x")), sent)
    assert search.named(name, value, where) == rule
    assert search.may_name(name, where) or rule is None
    assert search.patterns == ["x"]


def test_a_value_is_masked_under_its_escape() -> None:
    """In place, in its spelling; a placeholder needs no edit."""
    search = Search(Vault(SALT))
    stands = placeholder(SALT, "AT/live1")
    (edit,) = search.conceal("x=AT%2Flive1;", (2, 12), "key", "b", PERCENT)
    assert edit == Edit(2, 12, stands.replace("/", "%2F"), (Mask("key", stands),), "b")
    (plain,) = search.conceal("AT-live2", (0, 8), "key", "b")
    assert plain.new == placeholder(SALT, "AT-live2")
    assert list(search.conceal(stands, (0, 8), "key", "b", PERCENT)) == []


def test_known_values_shapes_and_patterns() -> None:
    """The user's patterns come first, then shapes, then what is known; patterns only outermost."""
    search = Search(Vault(SALT), (RedactRule(pattern="acme-[0-9]+"),))
    search.vault.conceal("AT-live-0001", "key")
    text = f"AT-live-0001 {KEY} acme-7777"
    assert [(edit.start, edit.masks[0].rule) for edit in search.text(text, "b")] == [
        (54, USER),
        (13, "github-token"),
        (0, "known-value"),
        (54, "known-value"),
        (13, "known-value"),
    ]
    fresh = Search(Vault(SALT), search.rules)
    assert fresh.text("acme-7777", "b", depth=1) == []


def test_a_shape_inside_a_placeholder_stays() -> None:
    """What stands for a secret may look like one."""
    search = Search(Vault(SALT, [f"x-{KEY}"]))
    assert search.text(f"see x-{KEY}, there", "b") == []
    found = search.text(f"see x-{KEY}, or {KEY}", "b")
    assert [(edit.start, edit.masks[0].rule) for edit in found][:1] == [(51, "github-token")]


def test_a_shape_under_an_escape_is_read() -> None:
    """A parameter's value is spelled in percent, and stays so."""
    text = "https://a.test/?access_token=AT%2Flive-0001"
    (edit,) = Search(Vault(SALT)).text(text, "b")
    assert (
        apply(text, [edit]) == f"https://a.test/?access_token={placeholder(SALT, 'AT/live-0001').replace('/', '%2F')}"
    )


def test_what_a_text_spells() -> None:
    """Escapes are read where there are any; `+` as a space only where a known secret has one."""
    search = Search(Vault(SALT))
    assert [seen.text for seen in search.views("a%41+b\\u0042&amp;")] == ["aA+bB&"]
    assert list(search.views("a+b")) == []
    assert list(search.views("100% & more")) == []
    search.vault.conceal("correct horse 1", "password")
    assert [seen.text for seen in search.views("a+b")] == ["a b"]
    assert [seen.text for seen in search.views("a+%41")] == ["a+A", "a A"]


def test_edits_of_a_view_become_edits_of_its_source() -> None:
    """In the spelling of the source."""
    seen = view(r"x\/ab", JSON)
    assert seen is not None
    assert list(lifted(seen, [Edit(1, 3, "/z", (), "b")])) == [Edit(1, 4, r"\/z", (), "b")]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b+", "abba b", ["bb", "b"]),
        ("x(b+)", "xbb b xb", ["bb", "b"]),
        ("b*", "ab", ["b"]),
        ("(b)?c", "c bc", ["b"]),
        ("é.", "aéb é", ["éb"]),
        ("[а-я]+", "x пароль y", ["пароль"]),
    ],
)
def test_a_pattern_of_the_user(pattern: str, text: str, found: list[str]) -> None:
    """Its first group or all of it, never nothing, over the characters that the octets spell."""
    octets = text.encode().decode("latin-1")
    spans = pattern_spans(pattern, octets)
    assert [octets[start:end].encode("latin-1").decode() for start, end in spans] == found


def test_a_pattern_over_octets_that_are_no_text() -> None:
    """Each octet is a character."""
    assert list(pattern_spans("a+", "\xff\xfeaa")) == [(2, 4)]


@given(st.text(max_size=30))
def test_spans_are_those_of_the_octets(text: str) -> None:
    """Whatever the text: a pattern over its characters gives whole characters of its octets."""
    octets = text.encode("utf-8", "surrogatepass").decode("latin-1")
    pieces = [octets[start:end] for start, end in pattern_spans(r"(?s).", octets)]
    assert "".join(pieces) == octets
