"""Queries and forms: which spellings are one."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.draft import BUILT_IN, CREDENTIAL, Draft, plan_of
from replayproxy.core.canonical.fields import add_fields, decoded, fields_of, octets
from replayproxy.core.provider import MatchRules, Selector

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln"


def parts(text: str, kind: Literal["query", "form"] = "query", rules: MatchRules = BUILT_IN) -> list[tuple[str, str]]:
    """The parts of a query or form."""
    draft = Draft(plan_of(rules))
    add_fields(draft, kind, text, kind)
    return draft.parts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a=1&b=2", "b=2&a=1"),
        ("a=x+y", "a=x%20y"),
        ("a=%e2%82%ac", "a=%E2%82%AC"),
        ("a=\xe2\x82\xac", "a=%E2%82%AC"),
        ("%61=1", "a=1"),
        ("a=1&&b=2&", "a=1&b=2"),
        ("a=~", "a=%7E"),
        ("a=b=c", "a=b%3Dc"),
    ],
)
def test_one_question(one: str, other: str) -> None:
    """Spellings of the same fields are one."""
    assert parts(one) == parts(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a=1&a=2", "a=2&a=1"),
        ("a=1&a=2&a=3", "a=1"),
        ("a=", "a"),
        ("a&b=1", "a=&b=1"),
        ("a=x+y", "a=x%2By"),
        ("a=%zz", "a=%25zz"),
        ("a=%", "a=%25"),
        ("a=%ff", "a=%fe"),
        ("a=%ff", "a=%C3%BF"),
        ("a=1;b=2", "a=1&b=2"),
        ("a=A", "a=a"),
        ("a=1&b=2", "a=1%26b=2"),
        ("a=%00", "a="),
        ("a.b=1", "a=b.1"),
    ],
)
def test_another_question(one: str, other: str) -> None:
    """Repeats, their order, emptiness and every octet count."""
    assert parts(one) != parts(other)


def test_names_for_people() -> None:
    """Parts are sorted by name; a field without `=` goes by its name."""
    assert parts("b=2&a=1&c&b=1") == [("query.a", "1"), ("query.b", "2"), ("query.b", "1"), ("query", "c")]


def test_octets_that_are_no_utf_8() -> None:
    """A binary form is kept (c067)."""
    assert fields_of("\xff\xd8\xff=&") == [("\udcff\udcd8\udcff", "")]
    assert decoded("%E2%82") == "\udce2\udc82"
    assert octets("€\udcff") == "€".encode() + b"\xff"


@given(st.text())
def test_any_text_survives(text: str) -> None:
    """What a client encodes is what takes part, whichever way it encodes."""
    plain = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert decoded(quote_plus(plain)) == decoded(quote(plain, safe="")) == plain


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_different_octets_differ(one: bytes, other: bytes) -> None:
    """No two escaped octet strings fall together."""
    assert (decoded(quote(one)) == decoded(quote(other))) == (one == other)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=6), st.randoms())
def test_order_of_different_names(fields: list[tuple[str, int]], random: object) -> None:
    """Any order that keeps repeats in theirs gives the same parts."""
    by_name = {name: [value for key, value in fields if key == name] for name, _ in fields}
    order = [name for name, _ in fields]
    random.shuffle(order)  # type: ignore[attr-defined]
    mixed = [(name, by_name[name].pop(0)) for name in order]
    assert parts("&".join(f"{n}={v}" for n, v in mixed)) == parts("&".join(f"{n}={v}" for n, v in fields))


@pytest.mark.parametrize(
    ("text", "kind", "rules", "expected"),
    [
        ("a=1&ts=5", "query", MatchRules(ignore=(Selector("query", "ts"),)), [("query.a", "1")]),
        ("a=1&ts", "query", MatchRules(bind=(Selector("query", "ts"),)), [("query.a", "1")]),
        ("ts=5", "form", MatchRules(ignore=(Selector("query", "ts"),)), [("form.ts", "5")]),
        ("api_key=x", "query", BUILT_IN, [("query.api_key", CREDENTIAL)]),
        ("api_key=", "query", BUILT_IN, [("query.api_key", "")]),
        ("sk_test_0123456789", "query", BUILT_IN, [("query", CREDENTIAL)]),
        ("sig=a&sv=1", "query", BUILT_IN, [("query.sv", "1")]),
        ("sig=a&sv=1", "query", MatchRules(on=("query:sig",)), [("query.sig", "a"), ("query.sv", "1")]),
        (f"assertion={JWT}", "form", BUILT_IN, [("form.assertion", '["jwt","RS256",{"iss":"x"}]')]),
        ("assertion=short", "form", BUILT_IN, [("form.assertion", "short")]),
        (f"assertion={JWT}", "query", BUILT_IN, [("query.assertion", JWT)]),
    ],
)
def test_rules(text: str, kind: Literal["query", "form"], rules: MatchRules, expected: list[tuple[str, str]]) -> None:
    """What the user's rules and the built-in ones leave of the fields."""
    assert parts(text, kind, rules) == expected


def test_an_assertion_taken_back() -> None:
    """Its signature counts again."""
    rules = MatchRules(on=("jwt-assertion", "credential"))
    assert parts(f"assertion={JWT}", "form", rules) != parts(f"assertion={JWT}x", "form", rules)
