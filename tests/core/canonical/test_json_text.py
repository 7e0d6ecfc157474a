"""Where the leaves of a JSON text stand."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.json_text import leaves

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=10,
)


def at(document: object, path: tuple[str | int, ...]) -> object:
    """What PATH leads to."""
    for step in path:
        document = document[step]  # type: ignore[index]
    return document


@given(VALUES, st.booleans(), st.sampled_from([None, 1]), st.text(max_size=3))
def test_each_leaf_stands_where_it_says(value: object, ascii_only: bool, indent: int | None, before: str) -> None:
    """The token at its place spells the value at its path; nothing but structure is between leaves."""
    text = before + json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = leaves(text, len(before))
    assert found is not None
    for leaf in found:
        assert text[leaf.start : leaf.end] == leaf.token
        assert json.loads(leaf.token) == at(value, leaf.path)
    assert [leaf.start for leaf in found] == sorted(leaf.start for leaf in found)


def test_kinds_and_texts() -> None:
    """A leaf tells its kind, and the text of a string without its escapes."""
    found = leaves(' {"a":["x\\u0041\\"", -1.50], "b":{"c":true,"d":{}}, "e":null, "f":[]} ')
    assert found is not None
    assert [(leaf.path, leaf.kind, leaf.text) for leaf in found] == [
        (("a", 0), "string", 'xA"'),
        (("a", 1), "number", "-1.50"),
        (("b", "c"), "literal", "true"),
        (("e",), "literal", "null"),
    ]


def test_repeated_names_are_leaves_of_their_own() -> None:
    """Both members of one name are there."""
    found = leaves('{"a":1,"a":2}')
    assert found is not None
    assert [(leaf.path, leaf.token) for leaf in found] == [(("a",), "1"), (("a",), "2")]


def test_no_json_has_no_leaves() -> None:
    """Text that is no JSON document is told apart from a document without leaves."""
    assert leaves("{]") is None
    assert leaves("[]") == []
