"""All that can be answered, and how it is found."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import takewhile
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.arrangement import NEAR, Neighbours
from replayproxy.core.canonical import canonical
from replayproxy.core.errors import UsageError
from replayproxy.core.exchange import Cassette, Headers, Interaction, Origin, Request, Response
from replayproxy.core.library import LONGEST_REMEMBERED, REMEMBERED, Library
from replayproxy.core.provider import MatchRules, Provider, Providers, RedactRule, Selector
from replayproxy.core.redaction import Redactor

HOST = "api.example.test"
ORIGIN = Origin("https", HOST, 443)
TYPED: Headers = (("Content-Type", "application/json"),)
PERSONAL = Provider(name="p", hosts=(HOST,), redact=(RedactRule(at=Selector.parse("json:$.email")),))


def ask(
    target: str = "/a", method: str = "GET", headers: Headers = (), body: bytes = b"", origin: Origin = ORIGIN
) -> Request:
    """A request."""
    return Request(method=method, origin=origin, target=target, headers=headers, body=body)


def tape(*requests: Request, name: str = "tape", salt: str = "", providers: Providers = Providers()) -> Cassette:  # noqa: B008
    """A cassette of REQUESTS, each answered 200, masked by SALT where there is one."""
    found = tuple(
        Interaction(id=f"{name}{order}", order=order, request=request, response=Response(status=200))
        for order, request in enumerate(requests)
    )
    if salt:
        redactor = Redactor(salt, lambda host: providers.of(host).redact, ())
        found = tuple(redactor.redact(one) for one in found)
    return Cassette(name=name, interactions=found, salt=salt)


def build(*cassettes: Cassette, providers: Providers = Providers()) -> Library:  # noqa: B008
    """A library for debugging."""
    return Library.build(cassettes, providers, purpose="local-debug")


def found(library: Library, request: Request) -> list[str]:
    """The ids of what is recorded under the key of REQUEST."""
    series = library.question(request).series
    return [one.id for one in series.recordings] if series else []


def test_a_question_finds_its_key_and_no_other() -> None:
    """Exact look-up; the nearest recording is never an answer."""
    library = build(tape(ask("/a"), ask("/b"), ask("/a")))
    assert found(library, ask("/a")) == ["tape0", "tape2"]
    assert found(library, ask("/a/")) == []
    assert found(library, ask(origin=Origin("https", "other.example.test", 443))) == []


def test_an_empty_library_answers_nothing() -> None:
    """It still has a digest and a way to mask."""
    library = build()
    assert library.hosts == frozenset()
    assert library.recorded_us == 0
    assert library.question(ask()).series is None
    assert library.nearest(library.shown(ask())) is None
    assert len(library.digest) == 64


def test_an_unknown_purpose_is_refused_whatever_is_recorded() -> None:
    """Also where nothing is recorded that could be judged."""
    with pytest.raises(UsageError, match="nonsense"):
        Library.build([], purpose="nonsense")


def test_recorded_hosts_and_ports() -> None:
    """Each host with every port that was recorded."""
    other = Origin("http", HOST, 8080)
    library = build(tape(ask(), ask(origin=other)), tape(ask(origin=Origin("http", "b.test", 80)), name="b"))
    assert library.ports == {HOST: frozenset({443, 8080}), "b.test": frozenset({80})}
    assert library.hosts == {HOST, "b.test"}


@pytest.mark.parametrize(("recorded", "started", "earliest"), [(0, 0, 0), (5, 0, 5), (5, 3, 3), (0, 7, 7), (5, 9, 5)])
def test_the_earliest_moment_of_recording(recorded: int, started: int, earliest: int) -> None:
    """Zero means that it is not known."""
    cassette = tape(ask())
    (one,) = cassette.interactions
    cassette = replace(cassette, recorded_us=recorded, interactions=(replace(one, started_us=started),))
    assert build(cassette).recorded_us == earliest


def test_what_was_asked_is_remembered_within_bounds() -> None:
    """The same question is worked out once; many others, and long ones, push nothing out of memory."""
    library = build(tape(ask("/a")))
    first = library.question(ask("/a"))
    assert library.question(ask("/a")) is first
    long = ask("/a", "POST", body=b"a" * (LONGEST_REMEMBERED + 1))
    assert library.question(long) is not library.question(long)
    for number in range(REMEMBERED):
        library.question(ask(f"/{number}"))
    again = library.question(ask("/a"))
    assert again is not first
    assert again == first


# -- masks ------------------------------------------------------------------------------------------

SECRET = ask("/me", headers=(("Authorization", "Bearer sk-live-0123456789abcdefghij"),))
MAIL = ask("/users", "POST", TYPED, b'{"email": "ada@example.test"}')


def test_a_masked_recording_is_found_by_what_was_masked() -> None:
    """The request is masked as the recording was; another value is another request."""
    providers = Providers((PERSONAL,))
    library = build(tape(MAIL, salt="00ff", providers=providers), providers=providers)
    assert b"ada@example.test" not in library.recordings[0].interaction.request.body  # type: ignore[operator]
    assert found(library, MAIL) == ["tape0"]
    assert found(library, replace(MAIL, body=b'{"email": "bob@example.test"}')) == []


def test_cassettes_of_several_salts_are_one_series() -> None:
    """A value that each cassette masks in its own way is still one question."""
    providers = Providers((PERSONAL,))
    library = build(
        tape(MAIL, name="b", salt="00ff", providers=providers),
        tape(MAIL, name="a", salt="ff00", providers=providers),
        tape(ask("/users", "POST", TYPED, b'{"email": "eve@example.test"}'), name="c"),
        providers=providers,
    )
    assert found(library, MAIL) == ["b0", "a0"]
    other_client = replace(MAIL, headers=(*TYPED, ("User-Agent", "other")))
    assert library.question(MAIL).series is library.question(other_client).series
    assert found(library, replace(MAIL, body=b'{"email": "eve@example.test"}')) == ["c0"]
    assert found(library, replace(MAIL, body=b'{"email": "bob@example.test"}')) == []


def test_a_credential_has_a_preference_under_every_salt() -> None:
    """Whoever recorded with it prefers those recordings, whichever cassette they are in."""
    library = build(tape(SECRET, name="a", salt="00ff"), tape(SECRET, name="b", salt="ff00"))
    preferences = {one.preference for one in library.recordings}
    assert len(preferences) == 2
    assert library.question(SECRET).preferences == preferences
    assert found(library, ask("/me")) == ["a0", "b0"]


@pytest.mark.parametrize("salt", ["", "00ff"])
def test_what_is_shown_holds_no_secret(salt: str) -> None:
    """Also where no cassette has a salt."""
    shown = build(tape(ask(), salt=salt)).shown(SECRET)
    assert "sk-live" not in repr(shown)
    assert shown.url == SECRET.url


# -- the nearest ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recorded", "asked", "nearest", "parts"),
    [
        (["/a?page=1", "/a?page=1&size=2", "/b"], "/a?page=3", "tape0", ["query.page"]),
        (["/users/1", "/orders/1"], "/users/2", "tape0", ["path"]),
        (["/b", "/a/1"], "/a/2", "tape1", ["path"]),
        (["/x"], "/y", "tape0", ["path"]),
    ],
)
def test_the_nearest_is_of_the_same_place_or_host(
    recorded: list[str], asked: str, nearest: str, parts: list[str]
) -> None:
    """Same place first, then the path that begins most alike; with what differs."""
    result = build(tape(*map(ask, recorded))).nearest(ask(asked))
    assert result is not None
    assert (result.recording.id, result.cassette) == (nearest, "tape")
    assert [one.part for one in result.differences] == parts


def test_the_nearest_among_many_is_found_by_looking_at_few() -> None:
    """However many there are, and wherever in the cassette the nearest is."""
    library = build(tape(*(ask(f"/items?page={number}") for number in range(10_000))))
    with patch("replayproxy.core.library.canonical", wraps=canonical) as looked_at:
        result = library.nearest(ask("/items?page=7777x"))
        assert library.nearest(ask("/lost/7777")) is not None
    assert looked_at.call_count <= 2 * (NEAR + 2)
    assert result is not None
    assert result.recording.interaction.request.target.startswith("/items?page=777")


@given(st.lists(st.text("ab/", min_size=1, max_size=6).map("/".__add__), min_size=1, max_size=80), st.text("ab/"))
def test_what_begins_most_alike_is_always_near(targets: list[str], rest: str) -> None:
    """Whatever number there is, one of those that share the longest beginning is among the NEAR that are compared."""
    asked = f"/{rest}"
    firsts = build(tape(*map(ask, dict.fromkeys(targets)))).recordings
    found = Neighbours.of(firsts).around(asked)
    assert len(found) == min(NEAR, len(firsts))

    def shared(target: str) -> int:
        pairs = zip(target, asked, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    best = max(map(shared, targets))
    assert max(shared(one.interaction.request.target) for one in found) == best


def test_what_differs_is_told_masked() -> None:
    """Also of a cassette that others made, with credentials in it, and where nothing else differs."""
    key, mail, other = "sk-live-0123456789abcdefghij", "ada@example.test", "eve@example.test"

    def note(value: str, key: str) -> Request:
        return ask(f"/users?api_key={key}", "POST", TYPED, json.dumps({"email": value}).encode())

    library = build(tape(note(mail, key)), providers=Providers((PERSONAL,)))
    assert found(library, note(mail, key)) == ["tape0"]
    result = library.nearest(library.shown(note(other, "sk-live-9876543210abcdefghij")))
    assert result is not None
    (difference,) = result.differences
    assert difference.part == "body.$.email"
    assert difference.recorded != difference.asked
    told = f"{difference} {result.recording.url} {result.recording}"
    assert "/users?api_key=" in told
    assert not [value for value in (key, mail, other) if value in told]


def test_what_we_masked_is_compared_as_it_was_masked() -> None:
    """Under the salt of its cassette, so that a value that is equal is no difference."""
    providers = Providers((PERSONAL,))
    library = build(tape(MAIL, salt="00ff", providers=providers), providers=providers)
    result = library.nearest(library.shown(replace(MAIL, target="/users?page=2")))
    assert result is not None
    assert [(one.part, one.recorded, one.asked) for one in result.differences] == [("query.page", None, "2")]


def test_the_nearest_of_another_method() -> None:
    """The same method is preferred among those that are equally alike."""
    many = [ask(f"/a/{number}", "PUT") for number in range(NEAR)]
    result = build(tape(*many, ask("/a/x"))).nearest(ask("/a/y"))
    assert result is not None
    assert result.recording.interaction.request.method == "GET"


def test_rules_of_an_unrecorded_host() -> None:
    """A provider's rules hold for hosts that no cassette knows."""
    rules = MatchRules(sequence="once")
    providers = Providers((Provider(name="p", hosts=("*.example.test",), match=rules),))
    library = build(tape(ask(origin=Origin("https", "b.test", 443))), providers=providers)
    assert library.rules_of(HOST) is rules
    assert library.rules_of("b.test") == MatchRules()


# -- facts ------------------------------------------------------------------------------------------


def test_titles_and_ids_in_order() -> None:
    """Of every recording, as they are told."""
    library = build(tape(ask("/a"), ask("/b", "POST")))
    assert list(library.titles()) == [(0, f"tape0 GET https://{HOST}/a"), (1, f"tape1 POST https://{HOST}/b")]
    assert list(library.ids()) == ["tape0", "tape1"]


def test_what_was_spoken_to_by_http2() -> None:
    """By host and port."""
    library = build(tape(replace(ask(), version="HTTP/2.0"), ask(origin=Origin("http", "b.test", 80))))
    assert library.over_http2 == {(HOST, 443)}


def test_heads_that_were_answered_alone() -> None:
    """All recordings at such a place that a head can ask for, by the series that it finds; none elsewhere."""
    upload = ask("/up", "PUT", body=b"whole")
    cassette = tape(ask("/up", "PUT"), upload, ask("/other", "PUT"), ask("/up"))
    early, *others = cassette.interactions
    early = replace(early, response=Response(status=401, before_body=True))
    library = build(replace(cassette, interactions=(early, *others)))
    series = library.question(ask("/up", "PUT")).series
    assert series is not None
    assert library.heads == {series.mark: (0, 1)}


def test_heads_that_find_nothing_are_left_out() -> None:
    """What was recorded with a body is not found by the head alone, where nothing was answered to it."""
    (one,) = tape(ask("/up", "PUT", TYPED, b'{"a": 1}')).interactions
    early = replace(one, response=Response(status=401, before_body=True))
    assert build(Cassette(name="tape", interactions=(early,))).heads == {}


def test_joined_series_are_remembered_within_bounds() -> None:
    """Many questions under several salts push the first out; the answer stays the same."""
    providers = Providers((PERSONAL,))
    mails = [replace(MAIL, body=json.dumps({"email": f"a{number}@example.test"}).encode()) for number in range(3)]
    with patch("replayproxy.core.library.REMEMBERED", 2):
        library = build(
            tape(*mails, name="b", salt="00ff", providers=providers),
            tape(*mails, name="a", salt="ff00", providers=providers),
            providers=providers,
        )
        assert [found(library, mail) for mail in [*mails, mails[0]]] == [
            ["b0", "a0"],
            ["b1", "a1"],
            ["b2", "a2"],
            ["b0", "a0"],
        ]
        assert len(library._joined) <= 2


def test_what_misses_are_compared_with_is_remembered_within_bounds() -> None:
    """The nearest stays the same, however often it is asked for."""
    with patch("replayproxy.core.library.REMEMBERED", 2):
        library = build(tape(*(ask(f"/v1/{number}") for number in range(3))))
        for number in (0, 0, 1, 2, 0):
            nearest = library.nearest(ask(f"/v1/{number}?more"))
            assert nearest is not None
            assert nearest.recording.interaction.request.target == f"/v1/{number}"
        assert len(library._forms) <= 2
