"""Every value that is written is read again, by libyaml and by PyYAML's own loader."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replayproxy.format.document import parse
from replayproxy.format.writer import Flow, write

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    alphabet=" \n\t\r'\":#-?!&*|>%@`,[]{}~=<\x00\x7f\x85\u2028\ufeff\uffff😀éa1.eE_+", max_size=20
)
leaves = st.none() | st.booleans() | st.integers() | texts | st.binary(max_size=90) | st.floats(allow_nan=False)
trees = st.dictionaries(
    texts,
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(texts, inner, max_size=4)
            | st.lists(texts | st.integers(), max_size=4).map(Flow)
        ),
        max_leaves=12,
    ),
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(trees)
@example({"a": [[], {}, [[1]], [{"b": []}], [["x"], ["y", ["z"]]]]})
@example({"a": [b"", b"x" * 200, {"k": b"y"}]})
@example({"x" * 2000: {"y" * 130: ["z"], "": {"\n": 1}}})
def test_round_trip(value: dict[str, Any]) -> None:
    """Our reader gives back what was written."""
    assert parse(write(value), "x.yaml").value == value


STRINGS = [
    *("", " ", "a ", " a", "a\n", "\na", "a\nb", "a\n\n", "a\n\nb\n\n\n", "a \nb", "a\t\nb", "a\n b", "a\n\tb"),
    *("\n", "\n\n", "a\r\nb", "\ufeffa", "a\x85b", "a\u2028b", "\u2029", "a\x7f", "\x00", "\ufffe", "😀\n😀"),
    *("null", "Null", "~", "yes", "No", "on", "y", "true", "12", "1.5", "1e3", "0x1f", "1:30", "2026-01-01", "="),
    *("<<", "- a", "a: b", "a:b", "a:", ":a", "a #b", "a#b", "#a", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">"),
    *("[a]", "{a}", "a, b", "'", "''", '"', "\\", "it's", "---", "...", "--- a\nb", "...\nb", "?", "? a", "-"),
    *("http://a.test/?x=1&y=%20", "a::b", "a: ", "application/json; charset=utf-8", "*/*", ".inf", "_1", "é"),
]


@pytest.mark.parametrize("text", STRINGS)
def test_text_in_every_place(text: str) -> None:
    """As key, value, item and in a flow list, for our reader, libyaml and PyYAML's own scanner alike."""
    value = {"k": text, "l": [text, [text], {text: text}], "f": Flow([text, Flow([text])]), "end": {text: 1}}
    data = write(value)
    assert parse(data, "x.yaml").value == value
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        if text != "<<":  # which PyYAML takes for a merge key, even in quotes
            assert yaml.load(data, Loader=loader) == value  # noqa: TID251


FORMS = {
    "plain": ("one", "one"),
    "url": ("http://api.example.test/v1/pay?a=b", "http://api.example.test/v1/pay?a=b"),
    "json": ('{"amount":5}', "'{\"amount\":5}'"),
    "number in quotes": ("5", "'5'"),
    "apostrophe": ("it's", "'it''s'"),
    "lines": ("a\nb\n", "|\n  a\n  b"),
    "lines without an end": ("a\nb", "|-\n  a\n  b"),
    "events": ("data: 1\n\ndata: 😀\n\n", "|+\n  data: 1\n\n  data: 😀\n"),
    "trailing space in a line": ("a \nb", '"a \\nb"'),
    "escapes": ('\x00\x85\u2028\ufeff"\\\r\t', '"\\x00\\x85\\u2028\\ufeff\\"\\\\\\r\\t"'),
    "octets": (b"\x00\x01", "!!binary |\n  AAE="),
    "float": (1e20, "1.0e+20"),
    "infinity": (float("-inf"), "-.inf"),
    "none": (None, "null"),
    "flow": (Flow([1, "a", Flow(["b", "c: d"])]), "[1, a, [b, 'c: d']]"),
}


@pytest.mark.parametrize(("value", "text"), FORMS.values(), ids=FORMS.keys())
def test_forms(value: Any, text: str) -> None:
    """The form that each kind of value has, which must not change: it is what a version control system compares."""
    assert write({"k": value}).decode() == f"k: {text}\n"


def test_half_a_surrogate_pair_is_refused() -> None:
    """UTF-8 cannot hold it, and nothing may be written instead of it."""
    with pytest.raises(ValueError, match="surrogate"):
        write({"a": "\ud800"})


def test_what_has_no_form_is_refused() -> None:
    """An object is a mistake of the caller's, not text."""
    with pytest.raises(TypeError, match="no YAML form"):
        write({"a": object()})


def test_nothing() -> None:
    """The empty mapping is a document too."""
    assert parse(write({}), "x.yaml").value == {}
