"""Laws of the paths that selectors are written in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.jsonpath import JsonPath, Path, find, spelled, step_text

DOCUMENT = {"id": 1, "a": {"id": 2, "list": [{"id": 3}, {"x.y": 4}]}, "it's": [5]}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("$", [()]),
        ("$.id", [("id",)]),
        ("$['id']", [("id",)]),
        ('$["id"]', [("id",)]),
        ("$.a.id", [("a", "id")]),
        ("$.a.list[0].id", [("a", "list", 0, "id")]),
        ("$.a.list[*]", [("a", "list", 0), ("a", "list", 1)]),
        ("$.a.*", [("a", "id"), ("a", "list")]),
        ("$.a.list[1]['x.y']", [("a", "list", 1, "x.y")]),
        ("$['it\\'s'][0]", [("it's", 0)]),
        ("$..id", [("id",), ("a", "id"), ("a", "list", 0, "id")]),
        ("$..['x.y']", [("a", "list", 1, "x.y")]),
        ("$.a..id", [("a", "id"), ("a", "list", 0, "id")]),
        ("$.a.list['0']", []),
        ("$.nothing", []),
    ],
)
def test_what_a_path_names(text: str, paths: list[Path]) -> None:
    """A path names exactly these places, in the document's order."""
    assert list(find(DOCUMENT, JsonPath.parse(text))) == paths


@pytest.mark.parametrize("text", ["", "id", "$id", "$.", "$[x]", "$['a", "$.a b", "$[-1]", "$[?(@.a)]"])
def test_what_is_no_path(text: str) -> None:
    """Anything else is refused, with the text in the message."""
    with pytest.raises(ValueError, match="not a JSON path"):
        JsonPath.parse(text)


@pytest.mark.parametrize(
    ("text", "name"), [("$", ""), ("$[0]", ""), ("$.a.b", "b"), ("$.a[3]", "a"), ("$..ref[*]", "ref")]
)
def test_the_name_of_a_path(text: str, name: str) -> None:
    """The field's name is that of the last member."""
    assert JsonPath.parse(text).name == name


@given(st.lists(st.text(min_size=1, max_size=6) | st.integers(0, 99), max_size=4))
def test_a_spelled_path_names_itself(steps: list[str | int]) -> None:
    """What `spelled` writes, `parse` reads back as that very path."""
    path = tuple(steps)
    parsed = JsonPath.parse(spelled(path))
    assert parsed.matches(path)
    assert not parsed.matches((*path, "more"))


@given(st.text(max_size=6), st.text(max_size=6))
def test_steps_of_different_names_differ(one: str, other: str) -> None:
    """Two names give the same step only if they are the same name."""
    assert (step_text(one) == step_text(other)) == (one == other)


def test_members_of_an_array_are_positions() -> None:
    """A position is no name, not even where it looks equal."""
    document = json.loads('{"0": ["x"], "1": {"0": "y"}}')
    assert list(find(document, JsonPath.parse("$['0'][0]"))) == [("0", 0)]
    assert list(find(document, JsonPath.parse("$['1'][0]"))) == []
