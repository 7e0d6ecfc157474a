"""JSON bodies by value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.draft import BUILT_IN, CREDENTIAL, LEFT_OUT, Draft, plan_of
from replayproxy.core.canonical.json_body import add_json
from replayproxy.core.provider import MatchRules, Selector

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln"


def parts(data: bytes | str, rules: MatchRules = BUILT_IN) -> list[tuple[str, str]] | None:
    """The parts of a body; None where it is no JSON."""
    draft = Draft(plan_of(rules))
    done = add_json(draft, data.encode() if isinstance(data, str) else data, "body")
    return draft.parts if done else None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }'),
        ('{"a":1.0}', '{"a":1e0}'),
        ('"\\u00e9"', '"é"'),
        ('{"query":"{a b}"}', '{"query":"{ a, b }"}'),
        ('[{"query":"{a b}","variables":{"x":1}}]', '[{"variables":{"x":1},"query":"{ a\\n b }"}]'),
        ('{"jsonrpc":"2.0","method":"m","id":1}', '{"jsonrpc":"2.0","method":"m","id":"x"}'),
    ],
)
def test_one_value(one: str, other: str) -> None:
    """Texts of one value are one body."""
    assert parts(one) == parts(other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":null}', "{}"),
        ('{"a":[]}', '{"a":{}}'),
        ('{"a":"{}"}', '{"a":{}}'),
        ("[1,2]", "[2,1]"),
        ("[[1],2]", "[1,[2]]"),
        ('{"0":1}', "[1]"),
        ('{"a":{"b":1}}', '{"a.b":1}'),
        ('{"a":1,"a":2}', '{"a":2,"a":1}'),
        ('{"a":1,"a":2}', '{"a":2}'),
        ('{"a":{"x":1},"a":{"y":2}}', '{"a":{"x":1,"y":2}}'),
        ('{"a#2":1}', '{"a":1}'),
        ("true", '"true"'),
        ('{"a":9007199254740993}', '{"a":9007199254740992}'),
        ('{"query":"a  b"}', '{"query":"a b"}'),
        ('{"query":"{a b}","limit":1}', '{"query":"{a  b}","limit":1}'),
        ('{"query":"{a(x:\\"b  c\\")}"}', '{"query":"{a(x:\\"b c\\")}"}'),
        ('{"query":"{a}","variables":{"x":1}}', '{"query":"{a}","variables":{"x":2}}'),
        (
            '{"query":"query A{a} query B{a}","operationName":"A"}',
            '{"query":"query A{a} query B{a}","operationName":"B"}',
        ),
        ('{"jsonrpc":"2.0","method":"m","id":1}', '{"jsonrpc":"2.0","method":"m"}'),
        ('{"jsonrpc":"2.0","method":"m","id":1}', '{"jsonrpc":"2.0","method":"n","id":1}'),
        ('{"jsonrpc":"1.0","method":"m","id":1}', '{"jsonrpc":"1.0","method":"m","id":2}'),
        ('{"jsonrpc":"2.0","id":1,"result":1}', '{"jsonrpc":"2.0","id":2,"result":1}'),
    ],
)
def test_another_value(one: str, other: str) -> None:
    """Types, order of items, repeats and every digit count."""
    assert parts(one) != parts(other)


def test_names_for_people() -> None:
    """Leaves are named by their paths."""
    assert parts('{"b":[{"c d":null}],"a":"x","e":[],"f":{},"g":false}') == [
        ("body.$.a", '"x"'),
        ("body.$.b[0]['c d']", "null"),
        ("body.$.e", "[]"),
        ("body.$.f", "{}"),
        ("body.$.g", "false"),
    ]
    assert parts("5") == [("body.$", "5")]


@pytest.mark.parametrize("data", [b"", b"{", b"[NaN]", b'"\xff"', b"[" * 300 + b"]" * 300, b"[" * 100_000])
def test_what_is_no_json(data: bytes) -> None:
    """It is left to be matched octet for octet, nested too deeply included."""
    assert parts(data) is None


def test_as_deep_as_allowed() -> None:
    """Depth has one limit, whatever the stack."""
    assert parts(b"[" * 199 + b"1" + b"]" * 199) is not None
    assert parts(b"[" * 200 + b"1" + b"]" * 200) is None


@pytest.mark.parametrize(
    ("text", "rules", "expected"),
    [
        ('{"a":1,"ts":5}', MatchRules(ignore=(Selector("json", "$.ts"),)), [("body.$.a", "1")]),
        ('{"m":{"id":1}}', MatchRules(bind=(Selector("json", "$..id"),)), [("body.$.m", "{}")]),
        ("[1,2]", MatchRules(ignore=(Selector("json", "$[*]"),)), [("body.$", "[]")]),
        ('{"password":"x"}', BUILT_IN, [("body.$.password", CREDENTIAL)]),
        ('{"api_key":["x",5,null,""]}', BUILT_IN, None),
        ('{"max_tokens":5}', BUILT_IN, [("body.$.max_tokens", "5")]),
        ('"<credential>"', BUILT_IN, [("body.$", '"<credential>"')]),
        ('{"t":"say sk_test_0123456789"}', BUILT_IN, [("body.$.t", '"say <credential>"')]),
        (f'{{"assertion":"{JWT}"}}', BUILT_IN, [("body.$.assertion", '["jwt","RS256",{"iss":"x"}]')]),
        ('{"assertion":"short"}', BUILT_IN, [("body.$.assertion", '"short"')]),
        ('{"jsonrpc":"2.0","method":"m","id":5}', BUILT_IN, None),
        ('{"query":"{a}"}', BUILT_IN, [("body.$.query", '"{ a }"')]),
        ('{"query":"{a}"}', MatchRules(on=("graphql-layout",)), [("body.$.query", '"{a}"')]),
    ],
)
def test_rules(text: str, rules: MatchRules, expected: list[tuple[str, str]] | None) -> None:
    """What the user's rules and the built-in ones leave of a body."""
    if "api_key" in text:
        items = [CREDENTIAL, CREDENTIAL, "null", '""']
        expected = [(f"body.$.api_key[{n}]", value) for n, value in enumerate(items)]
    if "jsonrpc" in text:
        expected = [("body.$.id", LEFT_OUT), ("body.$.jsonrpc", '"2.0"'), ("body.$.method", '"m"')]
    assert parts(text, rules) == expected


def test_a_place_taken_back() -> None:
    """A selector takes a rule back at its place only."""
    rules = MatchRules(on=("json:$.assertion", "json:$.a.password"))
    found = dict(parts(f'{{"assertion":"{JWT}","a":{{"password":"x"}},"password":"x"}}', rules) or [])
    assert found["body.$.password"] == CREDENTIAL
    assert found["body.$.a.password"].startswith("<credential sha256:")
    assert found["body.$.assertion"] == f'"{JWT}"'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_order_of_members_and_layout(value: object, ascii_only: bool) -> None:
    """Any order of members and any layout give the same parts."""
    one = json.dumps(value, ensure_ascii=ascii_only)
    other = json.dumps(turned(value), indent=1, ensure_ascii=not ascii_only)
    assert parts(one.encode("utf-8", "surrogatepass")) == parts(other.encode("utf-8", "surrogatepass"))


def turned(value: object) -> object:
    """VALUE with the members of every object in opposite order."""
    if isinstance(value, dict):
        return {name: turned(child) for name, child in reversed(value.items())}
    return [turned(child) for child in value] if isinstance(value, list) else value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "1", "{}", "null"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "a.b", "0"]), inner, max_size=2),
    max_leaves=5,
)


@given(VALUES, VALUES)
def test_different_values_differ(one: object, other: object) -> None:
    """Parts are equal if and only if the values are."""
    texts = [json.dumps(each, sort_keys=True) for each in (one, other)]
    assert (parts(texts[0]) == parts(texts[1])) == (texts[0] == texts[1])
