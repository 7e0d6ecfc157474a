"""Where the scalars of a JSON text stand, nearly JSON too, and which names it could have."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.jsonpath import JsonPath, Path, spelled
from replayproxy.core.redaction.jsontext import is_json, is_veiled, names, scalars, selects

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


def leaves(value: object, path: Path = ()) -> list[tuple[Path, object]]:
    """The scalars of a JSON value, in order."""
    if isinstance(value, dict):
        return [leaf for name, one in value.items() for leaf in leaves(one, (*path, name))]
    if isinstance(value, list):
        return [leaf for index, one in enumerate(value) for leaf in leaves(one, (*path, index))]
    return [(path, value)]


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_scalar_is_seen_where_it_stands(value: object, ascii_only: bool, indent: int | None) -> None:
    """The path, and the text between the quotes, of each scalar of any document, in any spelling."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass").decode("latin-1")
    found = [(scalar.path, text[scalar.start : scalar.end], scalar.quoted) for scalar in scalars(text, 0, len(text))]
    said = [(path, json.loads(f'"{source}"' if quoted else source)) for path, source, quoted in found]
    wanted = [
        (
            path,
            one.encode("utf-8", "surrogatepass").decode("latin-1") if isinstance(one, str) and not ascii_only else one,
        )
        for path, one in leaves(value)
    ]
    assert said == wanted


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"a":1}{"b":"x"}', [("$.a", "1"), ("$.b", "x")], id="two documents"),
        pytest.param('{"a":{"b":"x","c', [("$.a.b", "x")], id="cut off"),
        pytest.param('{"a":[1,{"b":2},"x"]}', [("$.a[0]", "1"), ("$.a[1].b", "2"), ("$.a[2]", "x")], id="nested"),
        pytest.param('{"a":"x', [("$.a", "x")], id="cut off in a value"),
        pytest.param('{"a":"x\\', [("$.a", "x")], id="cut off in an escape"),
        pytest.param('}]"x":,"y"', [("$", "x"), ("$", "y")], id="marks that fit nowhere"),
        pytest.param('{"caf\\u00e9":"x"}', [("$['café']", "x")], id="a name under an escape"),
        pytest.param('{"caf\xc3\xa9":"x"}', [("$['café']", "x")], id="a name in UTF-8"),
        pytest.param('{"caf\xe9":"x"}', [("$['café']", "x")], id="a name that is no UTF-8"),
        pytest.param('{:"x"}', [], id="a value taken for a name"),
        pytest.param('{1:"x"}', [("$['']", "1")], id="a name that is no string"),
        pytest.param("NaN", [("$", "NaN")], id="no JSON"),
    ],
)
def test_what_is_nearly_json(text: str, found: list[tuple[str, str]]) -> None:
    """A reader of traffic takes what comes; a place that cannot be told is named as well as it can."""
    assert [(spelled(one.path), text[one.start : one.end]) for one in scalars(text, 0, len(text))] == found


def test_a_part_of_a_text() -> None:
    """Only what lies between the two places is read; places are those of the whole text."""
    text = 'x={"a":"b"};{"c":"d"}'
    assert [(one.start, one.end) for one in scalars(text, 2, 11)] == [(8, 9)]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('{"a":1}', True),
        (' \n{ "a"', True),
        ("{}", True),
        ("[1]", True),
        ('["a"]', True),
        ("[]", True),
        ("[[1]]", True),
        ("[true]", True),
        ("{a:1}", False),
        ("[x]", False),
        ("1", False),
        ("", False),
        ("text {", False),
    ],
)
def test_what_begins_as_json(text: str, is_one: bool) -> None:
    """An object or array is told by its first characters, also later in a text."""
    assert is_json(text) is is_one
    assert is_json(f"12{text}", 2) is is_one


def test_names_without_escapes() -> None:
    """Names are told without reading the whole; what may be one is one."""
    assert names('{"a": 1, "b c":\n{"d" : "e"}, "f": "g", "h\\"": 2}') == {"a", "b c", "d", "f"}


@pytest.mark.parametrize(
    ("text", "veiled"),
    [
        ('{"pass\\u0077ord":"x"}', True),
        ('{"body":"{\\"a\\":1}"}', True),
        ('{"body":"\\n [\\n {\\"a\\":1}]"}', True),
        ('{"body":" [ \\"a\\"]"}', True),
        ('{"a":"line\\nline \\"quoted\\""}', False),
        ('{"html":"\\u003cb\\u003e"}', False),
        ('{"a":"b"}', False),
    ],
)
def test_names_that_are_under_an_escape(text: str, veiled: bool) -> None:
    """JSON inside a string, and names with an escaped letter, are told without reading the whole."""
    assert is_veiled(text) is veiled


@pytest.mark.parametrize(
    ("path", "place", "selected"),
    [
        ("$.a", ("a",), True),
        ("$.a", ("a", 0, "b"), True),
        ("$.a", ("b",), False),
        ("$.a.b", ("a",), False),
        ("$", ("a", 1), True),
    ],
)
def test_what_a_path_selects(path: str, place: Path, selected: bool) -> None:
    """A place that the path names, and all that lies in it."""
    assert selects(JsonPath.parse(path), place) is selected
