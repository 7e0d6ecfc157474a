"""A library that lies in an index answers as one in memory does; what was damaged is refused, and no miss."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.clock import RECORDED, Clock
from replayproxy.core.episode import Episode
from replayproxy.core.errors import IntegrityError, UsageError
from replayproxy.core.exchange import Blob, Cassette, Headers, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.library import Library
from replayproxy.core.provider import MatchRules, Provider, Providers, RedactRule, Selector
from replayproxy.core.redaction import Redactor
from replayproxy.core.replayer import Missed, Refused, Served, answer
from replayproxy.core.rights import Permission, Tag, preset
from replayproxy.core.sequence import Scope
from replayproxy.store import Blobs, Loaded
from replayproxy.store.index_reading import Index, Kept
from replayproxy.store.index_writing import write_index

HOST = "api.example.test"
ORIGINS = (Origin("https", HOST, 443), Origin("http", "b.test", 8080))
FORBIDDEN = Tag(permissions=(("replay", Permission("forbidden")),))
TYPED: Headers = (("Content-Type", "application/json"),)
PROVIDERS = (
    Providers(),
    Providers((Provider(name="p", hosts=(HOST,), match=MatchRules(sequence="once")),)),
    Providers(
        (
            Provider(
                name="p",
                hosts=("*",),
                match=MatchRules(sequence="cycle", ignore=(Selector.parse("path:/items/([0-9]+)"),)),
                redact=(RedactRule(at=Selector.parse("json:$.email")),),
            ),
        )
    ),
)

requests = st.builds(
    Request,
    method=st.sampled_from(["GET", "GET", "GET", "PUT", "POST"]),
    origin=st.sampled_from([ORIGINS[0], ORIGINS[0], ORIGINS[1]]),
    target=st.sampled_from(["/", "/items", "/items/1", "/items/2", "/items/1?page=1", "/items/1?page=2", "/other"]),
    headers=st.sampled_from(
        [
            (),
            (("If-None-Match", '"a"'),),
            (("Authorization", "Bearer sk-live-0123456789abcdefghij"),),
            (("Authorization", "Bearer sk-live-9876543210abcdefghij"),),
        ]
    ),
    body=st.just(b""),
    version=st.sampled_from(["HTTP/1.1", "HTTP/2.0"]),
) | st.builds(
    Request,
    method=st.just("POST"),
    origin=st.just(ORIGINS[0]),
    target=st.just("/users"),
    headers=st.just(TYPED),
    body=st.sampled_from([b'{"email": "ada@example.test"}', b'{"email": "eve@example.test"}', b"\x00"]),
)
responses = st.builds(
    Response, status=st.sampled_from([200, 200, 201, 304]), body=st.binary(max_size=3), before_body=st.booleans()
)


@st.composite
def tapes(draw: st.DrawFn, name: str, providers: Providers) -> Cassette:
    """A cassette that was masked with one of two salts, or by nobody."""
    asked = draw(st.lists(st.tuples(requests, responses, st.sampled_from([None, None, FORBIDDEN])), max_size=8))
    salt = draw(st.sampled_from(["", "00ff", "ff00"]))
    found = [
        Interaction(
            id=interaction_id(order, request), order=order, request=request, response=response, rights=rights,
            started_us=order,
        )
        for order, (request, response, rights) in enumerate(asked)
    ]  # fmt: skip
    if salt:
        redactor = Redactor(salt, lambda host: providers.of(host).redact, ())
        found = [redactor.redact(one) for one in found]
    return Cassette(name=name, interactions=tuple(found), salt=salt, rights=preset("own-synthetic"))


@st.composite
def plays(draw: st.DrawFn) -> tuple[Providers, list[Cassette], list[Request]]:
    """Settings, cassettes, and what is asked."""
    providers = draw(st.sampled_from(PROVIDERS))
    cassettes = [draw(tapes(name, providers)) for name in draw(st.sampled_from(["a", "ab", "aab"]))]
    return providers, cassettes, draw(st.lists(requests, max_size=20))


def loaded(cassettes: Sequence[Cassette]) -> list[Loaded]:
    """CASSETTES as if they had been read."""
    return [
        Loaded(one, Path(f"{one.name}.yaml"), Blobs(one.name, []), (f"{one.name}.yaml: told",)) for one in cassettes
    ]


def in_memory(cassettes: Sequence[Cassette], providers: Providers = PROVIDERS[0]) -> Library:
    """Their library, in memory."""
    return Library.build(cassettes, providers, purpose="local-debug")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where an index goes."""
    return tmp_path / "made.index"


def indexed(path: Path, cassettes: Sequence[Cassette], providers: Providers = PROVIDERS[0]) -> Library:
    """Their library, in an index at PATH."""
    write_index(path, "identity", in_memory(cassettes, providers), loaded(cassettes))
    return Index(path, "identity").library(providers, purpose="local-debug", today=None)


def told(library: Library, asked: Sequence[Request]) -> Iterator[object]:
    """All that an episode says and does when it is ASKED."""
    episode = Episode("default", 1, library, Clock.parse(RECORDED, library.recorded_us))
    for request in asked:
        decision = answer(episode, request)
        if isinstance(decision, Served):
            yield decision.response, decision.recording.id
        elif isinstance(decision, Missed | Refused):
            yield decision.problem.to_dict(), decision.problem.hint
    yield [line.to_dict() for line in episode.journal]
    yield episode.state()


def facts(library: Library) -> list[object]:
    """All that a library says of itself."""
    return [
        library.facts,
        list(library.recordings),
        [one.interaction for one in library.recordings],
        [one.interaction for one in library.recordings[::-1]],
        list(library.titles()),
        list(library.ids()),
        {scope: (list(one.positions), list(one.cassettes), list(one.ranks)) for scope, one in library.writes.items()},
        {key: (one.mark, list(one.heads), one.covering, one.rule) for key, one in library.arrangement.series.items()},
        (len(library.writes), len(library.arrangement.series)),
    ]


@settings(deadline=None, max_examples=150)
@given(plays())
def test_an_index_answers_as_memory_does(play: tuple[Providers, list[Cassette], list[Request]]) -> None:
    """The same decisions, problems, journals, digests and facts, whatever is recorded and asked."""
    providers, cassettes, asked = play
    with tempfile.TemporaryDirectory() as folder:
        library = indexed(Path(folder) / "made.index", cassettes, providers)
        memory = in_memory(cassettes, providers)
        assert facts(library) == facts(memory)
        assert list(told(library, asked)) == list(told(memory, asked))


def one(target: str = "/a", *, order: int = 0, body: bytes = b"answer", rights: Tag | None = None) -> Interaction:
    """A recorded GET."""
    request = Request(method="GET", origin=ORIGINS[0], target=target)
    return Interaction(
        id=interaction_id(order, request), order=order, request=request, response=Response(status=200, body=body),
        rights=rights,
    )  # fmt: skip


def tape(*interactions: Interaction, rights: Tag = preset("own-synthetic")) -> Cassette:  # noqa: B008 - frozen
    """A cassette of them."""
    return Cassette(name="tape", interactions=interactions, rights=rights, salt="00ff")


MANY = tape(*(one(f"/{order % 700}", order=order, body=b"x" * 20_000) for order in range(2_000)))


def test_little_is_held_of_what_was_read(path: Path) -> None:
    """However much is asked for, and what comes back is the same."""
    library = indexed(path, [MANY])
    for recording, interaction in zip(library.recordings, MANY.interactions, strict=True):
        assert recording.interaction == interaction
        series = library.question(interaction.request).series
        assert series is not None
        assert recording.position in series.positions
    assert library.recordings[5].interaction == MANY.interactions[5]
    kept = library.recordings._interactions._kept  # type: ignore[attr-defined]
    assert len(kept) < 250
    with pytest.raises(IndexError):
        library.recordings[2_000]
    assert library.recordings[-1] == library.recordings[1_999]


def test_what_was_used_last_is_kept() -> None:
    """Within a weight; what weighs more than all is kept until the next comes."""
    kept = Kept[str, int](3)
    kept.put("a", 1)
    kept.put("b", 2)
    kept.put("c", 3)
    assert kept.get("a") == 1
    kept.put("d", 4)
    assert [kept.get(key) for key in "abcd"] == [1, None, 3, 4]
    kept.put("e", 5, 9)
    assert [kept.get(key) for key in "acde"] == [None, None, None, 5]
    kept.put("f", 6)
    assert (kept.get("e"), kept.get("f"), len(kept)) == (None, 6, 1)


def test_the_nearest_is_found_in_an_index(path: Path) -> None:
    """Of the same place, of the same host, and none for text that is on no wire."""
    cassette = tape(*(one(f"/items?page={order}", order=order) for order in range(100)))
    library, memory = indexed(path, [cassette]), in_memory([cassette])
    for target in ("/items?page=5x", "/items", "/lost", "/zzz"):
        asked = Request(method="GET", origin=ORIGINS[0], target=target)
        assert library.nearest(asked) == memory.nearest(asked)
    assert library.nearest(Request(method="GET", origin=ORIGINS[0], target="/\ud800")) is None


@pytest.mark.parametrize(("today", "code"), [("2026-01-01", None), ("2026-01-02", "RP020"), (None, None)])
def test_rights_are_judged_when_an_index_is_opened(path: Path, today: str | None, code: str | None) -> None:
    """Under the day and the purpose of then, not of when it was made."""
    cassette = tape(one(), one("/b", order=1, rights=FORBIDDEN), rights=Tag(expires="2026-01-01"))
    write_index(path, "identity", in_memory([cassette]), loaded([cassette]))
    library = Index(path, "identity").library(PROVIDERS[0], purpose="local-debug", today=today)
    forbidden = library.recordings[0].forbidden
    assert (forbidden.code if forbidden else None) == code
    other = Index(path, "identity").library(PROVIDERS[0], purpose="ship-to-customer", today=today)
    assert other.recordings[0].forbidden is not None
    with pytest.raises(UsageError, match="nonsense"):
        Index(path, "identity").library(PROVIDERS[0], purpose="nonsense", today=today)


def test_a_provider_may_forbid_in_an_index_too(path: Path) -> None:
    """Its tag is kept with the others."""
    providers = Providers((Provider(name="p", hosts=(HOST,), rights=FORBIDDEN),))
    library = indexed(path, [tape(one())], providers)
    assert library.recordings[0].forbidden == in_memory([tape(one())], providers).recordings[0].forbidden is not None


def test_what_its_reader_is_told_and_its_files_are_in_an_index(path: Path) -> None:
    """Without the path that the cassette had then."""
    large = replace(one(), response=Response(status=200, body=Blob("0" * 64, 70_000)))
    cassettes = [tape(one()), tape(large)]
    indexed(path, cassettes)
    index = Index(path, "identity")
    assert index.warnings == [["told"], ["told"]]
    assert list(index.blobs()) == [(1, Blob("0" * 64, 70_000))]


# -- damage -----------------------------------------------------------------------------------------


def test_another_index_is_not_this_one(path: Path) -> None:
    """A file of another identity, of other tables, or of no tables at all."""
    indexed(path, [tape(one())])
    with pytest.raises(IntegrityError, match="not what was written"):
        Index(path, "other")
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(IntegrityError, match="not a database"):
        Index(path, "identity")
    path.unlink()
    with pytest.raises(IntegrityError, match="unable to open"):
        Index(path, "identity")


def test_an_index_with_code_in_it_is_refused(path: Path) -> None:
    """A trigger or a view is no part of one."""
    indexed(path, [tape(one())])
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW more AS SELECT 1")
    connection.close()
    with pytest.raises(IntegrityError, match="other tables"):
        Index(path, "identity")


COVERED = tape(
    Interaction(
        id="0" * 12, order=0, request=Request(method="PUT", origin=ORIGINS[0], target="/a"),
        response=Response(status=200),
    ),
    one(order=1),
)  # fmt: skip
WRITE, READ = (interaction.request for interaction in COVERED.interactions)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE interaction SET value = replace(value, 'answer', 'forged')",
        "UPDATE interaction SET value = (SELECT value FROM interaction WHERE position = 0)",
        "UPDATE interaction SET value = 7",
        "UPDATE recording SET value = replace(value, '200', '201')",
        "UPDATE series SET value = replace(value, '[1]', '[0]')",
        "UPDATE writes SET value = '[[1],[0]]'",
        "UPDATE named SET value = '[]'",
        "DELETE FROM interaction",
        "DELETE FROM recording",
        "DELETE FROM named",
    ],
)
def test_what_was_damaged_is_refused(path: Path, damage: str) -> None:
    """Whatever row it is, and however it was changed: nothing else is answered in its place."""
    write_index(path, "identity", in_memory([COVERED]), loaded([COVERED]))
    with sqlite3.connect(path) as connection:
        changed = connection.execute(damage).rowcount
    connection.close()
    library = Index(path, "identity").library(PROVIDERS[0], purpose="local-debug", today=None)
    episode = Episode("default", 1, library, Clock.parse(RECORDED, 0))
    decisions = [answer(episode, request) for request in (WRITE, READ)]
    assert changed
    refused = [decision for decision in decisions if isinstance(decision, Refused)]
    assert refused
    assert {type(decision.error) for decision in refused} == {IntegrityError}
    assert not [decision for decision in decisions if isinstance(decision, Missed)]


def test_writes_that_are_not_there_are_missing(path: Path) -> None:
    """As in any mapping."""
    library = indexed(path, [tape(one())])
    assert Scope(ORIGINS[0], ("a",)) not in library.writes
    assert list(library.writes) == []


def test_an_index_that_is_cut_off_while_it_serves_is_refused(path: Path) -> None:
    """The pages that are gone hold no answer."""
    library = indexed(path, [MANY])
    with path.open("r+b") as file:
        file.truncate(100_000)
    episode = Episode("default", 1, library, Clock.parse(RECORDED, 0))
    decision = answer(episode, MANY.interactions[1_999].request)
    assert isinstance(decision, Refused)
    assert isinstance(decision.error, IntegrityError)
