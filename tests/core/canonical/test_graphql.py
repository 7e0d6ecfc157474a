"""Which differences between GraphQL documents mean nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.graphql import is_envelope, tokens, without_layout

SAME = [
    ("{a b}", "{\n  a\n  b\n}\n"),
    ("{a,b}", "{a b}"),
    ("query Q($x:Int=1){a(x:$x)}", "query Q ( $x : Int = 1 ) {\r\n a(x: $x,)\t}"),
    ("{a # why\n b}", "{a b}"),
    ("{...F} fragment F on T{a}", "{ ... F }\nfragment F on T { a }"),
    ("\ufeff{a}", "{a}"),
]
DIFFERENT = [
    ("{ab}", "{a b}"),
    ('{a(x:"b  c")}', '{a(x:"b c")}'),
    ('{a(x:"#b")}', '{a(x:"")}'),
    ('{a(x:"""b\n c""")}', '{a(x:"""b c""")}'),
    ("{a(x:1.0)}", "{a(x:1)}"),
    ("{a b}", "{b a}"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_layout_means_nothing(one: str, other: str) -> None:
    """White space, commas, comments and a byte order mark do not matter."""
    assert without_layout(one) == without_layout(other) is not None


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_all_else_does(one: str, other: str) -> None:
    """Names, order and the inside of strings matter."""
    assert without_layout(one) != without_layout(other)


@pytest.mark.parametrize("text", ["", "# only", "select * from t", "a {b}", "{a", "query", "{a ; b}", '{"a'])
def test_what_is_no_operation(text: str) -> None:
    """Text of another language, or broken, is left as it is."""
    assert without_layout(text) is None


@given(st.lists(st.sampled_from(["{", "}", "a", "query", '"s"', '""', '"""b"""', "...", "1", "-2.5e3", "$", "@"])))
def test_without_layout_is_final(words: list[str]) -> None:
    """What has no layout any more stays as it is."""
    once = without_layout(" ".join(["{", *words, "}"]))
    assert once is None or without_layout(once) == once


@pytest.mark.parametrize(
    ("names", "is_request"),
    [({"query"}, True), ({"query", "variables", "x"}, True), ({"query", "limit"}, False), ({"query", "id"}, True)],
)
def test_envelopes(names: set[str], is_request: bool) -> None:
    """An object with foreign members and no variables has a query of some other language."""
    assert is_envelope(names) is is_request


def test_tokens() -> None:
    """The lexer gives every token that means something, or None."""
    assert tokens("query A{a}") == ["query", "A", "{", "a", "}"]
    assert tokens("a ? b") is None
