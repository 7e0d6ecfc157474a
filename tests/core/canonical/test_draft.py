"""The canonical request in the making."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.draft import (
    BUILT_IN,
    CREDENTIAL,
    SHOWN,
    Draft,
    merged,
    plan_of,
    quoted,
    replaced,
    sha256_of,
)
from replayproxy.core.provider import MatchRules, Selector

KEY = "sk_test_0123456789abcdef"


def rules(*, ignore: str = "", bind: str = "", on: tuple[str, ...] = ()) -> MatchRules:
    """Rules of at most one selector each."""
    left, bound = ((Selector.parse(text),) if text else () for text in (ignore, bind))
    return MatchRules(ignore=left, bind=bound, on=on)


def test_what_the_user_leaves_out() -> None:
    """A place is left out by the list that names it."""
    plan = plan_of(rules(ignore="query:ts", bind="json:$.a[*].id"))
    assert (plan.left_out("query:ts"), plan.left_out("form:ts")) == ("match.ignore", "")
    assert (plan.json_left_out(("a", 3, "id")), plan.json_left_out(("a",))) == ("match.bind", "")
    assert plan_of(BUILT_IN).left_out("query:ts") == ""


def test_what_is_taken_back() -> None:
    """A rule everywhere by its id, or at one place by a selector."""
    plan = plan_of(rules(on=("date", "header:accept", "json:$..id")))
    assert plan.keeps("date", "header:date")
    assert plan.keeps("negotiation", "header:accept")
    assert not plan.keeps("negotiation", "header:te")
    assert plan.keeps("jsonrpc-id", "json:$[0].id", (0, "id"))
    assert not plan.keeps("jsonrpc-id", "json:$[0].x", (0, "x"))


@pytest.mark.parametrize("text", ["dates", "header", "json:id"])
def test_what_is_no_rule(text: str) -> None:
    """An id that nobody knows is refused rather than without effect."""
    with pytest.raises(ValueError, match="not a"):
        plan_of(rules(on=(text,)))


def test_credentials_never_take_part() -> None:
    """A constant takes part; where the rule is taken back a digest; the value is never shown."""
    draft = Draft(plan_of(BUILT_IN))
    assert draft.concealed("query:key", KEY) == CREDENTIAL
    assert draft.without_shapes(f"a {KEY} b", "query:q") == f"a {CREDENTIAL} b"
    assert draft.dropped == [("credential", "query:key"), ("credential", "query:q")]
    assert draft.secrets == [("query:key", KEY), ("query:q", KEY)]
    kept = Draft(plan_of(rules(on=("credential",))))
    one, other = kept.concealed("query:key", KEY), kept.without_shapes(KEY + "0", "query:q")
    assert one != other
    assert KEY not in one + other
    assert (kept.dropped, kept.secrets) == ([], [])


def test_text_without_keys_stays() -> None:
    """Short text and ordinary text take part as they are."""
    draft = Draft(plan_of(BUILT_IN))
    for text in ("", "short", "an ordinary sentence"):
        assert draft.without_shapes(text, "query:q") == text
    assert draft.dropped == []
    draft.drop("date", "header:date")
    assert draft.dropped == [("date", "header:date")]


def test_long_values_by_digest() -> None:
    """Long values that differ anywhere differ, and their parts stay short."""
    parts = []
    for text in ("a" * SHOWN, "a" * SHOWN + "b", "a" * SHOWN + "c"):
        draft = Draft(plan_of(BUILT_IN))
        draft.part("x", text)
        parts += draft.parts
    assert parts[0] == ("x", "a" * SHOWN)
    assert len({value for _, value in parts}) == 3
    assert max(len(value) for _, value in parts) == SHOWN


@given(st.lists(st.tuples(st.text(), st.text()), max_size=3), st.lists(st.tuples(st.text(), st.text()), max_size=3))
def test_one_key_means_the_same_parts(one: list[tuple[str, str]], other: list[tuple[str, str]]) -> None:
    """The key is equal if and only if the parts are."""
    drafts = Draft(plan_of(BUILT_IN)), Draft(plan_of(BUILT_IN))
    drafts[0].parts, drafts[1].parts = one, other
    assert (drafts[0].key() == drafts[1].key()) == (one == other)


@pytest.mark.parametrize(
    ("spans", "whole", "text"),
    [
        ([], [], "abcdef"),
        ([(1, 2)], [(1, 2)], "a*cdef"),
        ([(3, 5), (0, 1)], [(0, 1), (3, 5)], "*bc*f"),
        ([(1, 3), (1, 5), (2, 4)], [(1, 5)], "a*f"),
        ([(1, 3), (2, 6)], [(1, 6)], "a*"),
    ],
)
def test_spans(spans: list[tuple[int, int]], whole: list[tuple[int, int]], text: str) -> None:
    """Spans that overlap are replaced as one, so that no end of a key stays."""
    assert merged(spans) == whole
    assert replaced("abcdef", [(start, end, "*") for start, end in whole]) == text


def test_spellings() -> None:
    """A quoted string is no constant of ours; lone surrogates have a digest."""
    assert quoted(CREDENTIAL) != CREDENTIAL
    assert len(sha256_of(["\udcff", True])) == 32
