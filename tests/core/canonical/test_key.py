"""The key: which requests are one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical import canonical, is_conditional
from replayproxy.core.exchange import Headers, Origin, Request
from replayproxy.core.provider import MatchRules, Selector

ORIGIN = Origin.of("https", "api.test")
BASE = Request(method="GET", origin=ORIGIN, target="/a/b?x=1")
BEARER = ("Authorization", "Bearer one")


def with_headers(*headers: tuple[str, str]) -> Request:
    """The base with HEADERS."""
    return replace(BASE, headers=headers)


def ignoring(text: str) -> MatchRules:
    """Rules that leave one place out."""
    return MatchRules(ignore=(Selector.parse(text),))


def targets(one: str, other: str) -> tuple[Request, Request]:
    """Two requests that differ in their target."""
    return replace(BASE, target=one), replace(BASE, target=other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BASE, replace(BASE, origin=Origin.of("HTTPS", "API.TEST.", 443))),
        (BASE, replace(BASE, version="HTTP/2")),
        (BASE, replace(BASE, trailers=(("a", "b"),))),
        targets("", "/"),
        targets("?x=1", "/?x=1"),
        targets("/t?", "/t"),
        (with_headers(("Range", "bytes=0-3")), with_headers(("range", " bytes=0-3 "))),
        (with_headers(("a", "1"), ("Range", "bytes=0-3")), with_headers(("Range", "bytes=0-3"), ("b", "2"))),
    ],
    ids=["host", "version", "trailers", "empty-path", "query-without-path", "empty-query", "case", "order"],
)
def test_one_question(one: Request, other: Request) -> None:
    """What does not matter gives the same key."""
    assert canonical(one).key == canonical(other).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BASE, replace(BASE, method="HEAD")),
        (BASE, replace(BASE, method="get")),
        (BASE, replace(BASE, origin=Origin.of("http", "api.test", 443))),
        (BASE, replace(BASE, origin=Origin.of("https", "api2.test"))),
        (BASE, replace(BASE, origin=Origin.of("https", "api.test", 8443))),
        (BASE, replace(BASE, body=b"x")),
        targets("/a%2Fb", "/a/b"),
        targets("/a%2fb", "/a%2Fb"),
        targets("/a//b", "/a/b"),
        targets("/a/./b", "/a/b"),
        targets("/a;v=1", "/a;v=2"),
        targets("/a", "/a/"),
        targets("/a", "/A"),
        targets("*", "/"),
        targets("/a?x=1", "/a"),
        (BASE, with_headers(("Range", "bytes=0-3"))),
        (with_headers(("Range", "bytes=0-3")), with_headers(("Range", "bytes=4-7"))),
        (with_headers(("X-Amz-Target", "A.Get")), with_headers(("X-Amz-Target", "A.Put"))),
        (with_headers(("SOAPAction", '"a"')), with_headers(("SOAPAction", '"b"'))),
        (BASE, with_headers(("X-HTTP-Method-Override", "PATCH"))),
    ],
)
def test_another_question(one: Request, other: Request) -> None:
    """A difference in one field of the key gives another key."""
    assert canonical(one).key != canonical(other).key


def test_names_for_people() -> None:
    """The parts of a request."""
    found = canonical(replace(BASE, headers=(("Range", "bytes=0-3"), ("User-Agent", "x"))))
    assert found.parts == (
        ("method", "GET"),
        ("scheme", "https"),
        ("host", "api.test"),
        ("port", "443"),
        ("path", "/a/b"),
        ("query.x", "1"),
        ("header.range", "bytes=0-3"),
    )
    assert found.dropped == (("telemetry", "header:user-agent"),)
    assert len(found.key) == len(found.preference) == 32


@pytest.mark.parametrize(
    ("rules", "one", "other"),
    [
        (ignoring("path:/v[0-9]+/"), "/v1/a", "/v2/a"),
        (ignoring("path:/u/([^/]+)/p/([^/]+)"), "/u/1/p/2", "/u/3/p/4"),
        (ignoring("path:/(a)|/(b)"), "/a", "/a"),
        (ignoring("query:ts"), "/a?ts=1", "/a"),
    ],
)
def test_what_the_user_leaves_out(rules: MatchRules, one: str, other: str) -> None:
    """Groups of a path, or the whole match; a field with its name; and it is told."""
    found = [canonical(each, rules) for each in targets(one, other)]
    assert found[0].key == found[1].key
    assert found[0].dropped[0][0] == "match.ignore"


def test_only_what_is_named_is_left_out() -> None:
    """The rest of the path still counts, and so does a path that the expression does not find."""
    rules = ignoring("path:/u/([^/]+)/p")
    keys = [canonical(replace(BASE, target=target), rules).key for target in ("/u/1/p", "/u/2/p", "/u/1/q", "/w/1/p")]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


@pytest.mark.parametrize("on", ["other-header", "header:x-version"])
def test_a_header_taken_back(on: str) -> None:
    """It counts, by its id or at its place."""
    rules = MatchRules(on=(on,))
    one, other = (canonical(with_headers(("X-Version", value)), rules) for value in "12")
    assert one.key != other.key
    assert ("header.x-version", "1") in one.parts


def test_a_key_header_left_out() -> None:
    """`match.ignore` reaches the headers of the key too."""
    found = canonical(with_headers(("Range", "bytes=0-3")), ignoring("header:Range"))
    assert found.key == canonical(BASE).key
    assert found.dropped == (("match.ignore", "header:range"),)


def test_a_credential_taken_back_is_not_shown() -> None:
    """It counts by its digest."""
    found = canonical(with_headers(BEARER), MatchRules(on=("header:authorization",)))
    assert found.key != canonical(BASE).key
    assert "one" not in str(found.parts)


def test_a_content_type_taken_back() -> None:
    """It counts without its boundary, unless that rule is taken back too."""
    kinds = [with_headers(("Content-Type", f"multipart/x; boundary={name}; a=b")) for name in "12"]
    place, rule = MatchRules(on=("header:content-type",)), MatchRules(on=("boundary", "content-type"))
    assert canonical(kinds[0], place).key == canonical(kinds[1], place).key != canonical(BASE).key
    assert canonical(kinds[0], rule).key != canonical(kinds[1], rule).key


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((BEARER,), (BEARER,), True),
        ((BEARER,), (("Authorization", "Bearer two"),), False),
        ((BEARER,), (), False),
        ((("If-None-Match", '"a"'),), (), False),
        ((("If-None-Match", '"a"'),), (("If-Modified-Since", "x"),), True),
        ((("Authorization", "AWS4-HMAC-SHA256 a"),), (("Authorization", "AWS4-HMAC-SHA256 b"),), True),
        ((BEARER, ("User-Agent", "a")), (("User-Agent", "b"), BEARER), True),
    ],
)
def test_preference(one: Headers, other: Headers, same: bool) -> None:
    """Credentials and whether a request is conditional choose among recordings of one key; signatures do not."""
    found = [canonical(with_headers(*headers)) for headers in (one, other)]
    assert found[0].key == found[1].key
    assert (found[0].preference == found[1].preference) is same


@pytest.mark.parametrize("name", ["If-None-Match", "if-match", "If-Range", "If-Modified-Since", "IF-UNMODIFIED-SINCE"])
def test_conditional_requests(name: str) -> None:
    """The five fields of RFC 9110 section 13.1."""
    assert is_conditional(with_headers((name, "x")))
    assert not is_conditional(with_headers(("X-" + name, "x")))


FIELDS = st.lists(
    st.tuples(st.sampled_from(["Range", "Accept", "Date", "X-A", "SOAPAction"]), st.text("ab", max_size=2)), max_size=5
)


@given(FIELDS, st.data())
def test_header_order(fields: list[tuple[str, str]], data: st.DataObject) -> None:
    """Headers of different names may come in any order, repeats in theirs."""
    by_name = {name: [value for key, value in fields if key == name] for name, _ in fields}
    mixed = [(name, by_name[name].pop(0)) for name in data.draw(st.permutations([name for name, _ in fields]))]
    one, other = canonical(with_headers(*fields)), canonical(with_headers(*mixed))
    assert one.key == other.key
    assert sorted(one.dropped) == sorted(other.dropped)


@given(st.text(st.characters(max_codepoint=255), max_size=30), st.binary(max_size=20))
def test_any_request(target: str, body: bytes) -> None:
    """No target and no body makes it fail; it is a function of the request alone."""
    request = replace(BASE, target=target, body=body)
    assert canonical(request) == canonical(replace(request))
