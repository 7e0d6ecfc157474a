"""From cassettes to recordings in one order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replayproxy.core.arrangement import Judge, arrange, digest_of, unique_ids
from replayproxy.core.exchange import (
    Blob,
    Cassette,
    Chunk,
    Coding,
    Fault,
    Interaction,
    Interim,
    Origin,
    Request,
    Response,
)
from replayproxy.core.provider import MatchRules, Provider, Providers, Selector
from replayproxy.core.rights import Permission, Tag, preset

HOST = "api.example.test"
ORIGIN = Origin("https", HOST, 443)
JUDGE = Judge(purpose="local-debug")
NONE = Providers()


def interaction(order: int, method: str = "GET", target: str = "/a", **more: object) -> Interaction:
    """An interaction that answers 200."""
    request = Request(method=method, origin=ORIGIN, target=target)
    made = Interaction(id=f"i{order}", order=order, request=request, response=Response(status=200))
    return replace(made, **more)  # type: ignore[arg-type]


def cassette(*interactions: Interaction, name: str = "one", rights: Tag = Tag()) -> Cassette:  # noqa: B008
    """A cassette of INTERACTIONS."""
    return Cassette(name=name, interactions=interactions, rights=rights)


def test_cassettes_do_not_interleave() -> None:
    """All of the first stands before all of the second, each in the order of its requests."""
    first = cassette(interaction(5), interaction(1), name="first")
    second = cassette(replace(interaction(0), id="j0"), name="second")
    found = arrange([first, second], NONE, JUDGE).recordings
    assert [(one.id, one.position, one.cassette) for one in found] == [("i1", 0, 0), ("i5", 1, 0), ("j0", 2, 1)]


def test_recordings_of_one_key_are_one_series() -> None:
    """Across cassettes too, and in order."""
    arranged = arrange([cassette(interaction(0), interaction(1, target="/b")), cassette(interaction(0))], NONE, JUDGE)
    assert [list(one.positions) for one in arranged.series.values()] == [[0, 2], [1]]


def test_urls_of_cassettes_that_we_did_not_mask_are_masked_to_be_told() -> None:
    """The recording itself stays as it is, since it is matched by what it holds."""
    theirs = cassette(interaction(0, target="/a?key=1"))
    ours = replace(cassette(interaction(1, target="/a?key=1"), name="two"), salt="00ff")
    found = arrange([theirs, ours], NONE, JUDGE, None, lambda request: replace(request, target="/a?key=*")).recordings
    assert [one.url for one in found] == [f"https://{HOST}/a?key=*", f"https://{HOST}/a?key=1"]
    assert {one.interaction.request.target for one in found} == {"/a?key=1"}
    assert str(found[0]) == f"i0 GET https://{HOST}/a?key=*"


@pytest.mark.parametrize(
    ("names", "ids", "unique"),
    [
        (["a", "b"], [["1", "2"], ["3"]], ["1", "2", "3"]),
        (["a", "b"], [["1", "2"], ["1"]], ["a:1", "2", "b:1"]),
        (["a", "a"], [["1"], ["1"]], ["a:1", "a:1.2"]),
        (["a", "a", "a"], [["1"], ["1"], ["1"]], ["a:1", "a:1.2", "a:1.3"]),
        (["a", "b"], [["1", "b:1"], ["1"]], ["a:1", "b:1", "b:1.2"]),
    ],
)
def test_ids_are_unique_in_a_library(names: list[str], ids: list[list[str]], unique: list[str]) -> None:
    """An id stays as it is where no other cassette has it."""
    cassettes = [
        cassette(*(replace(interaction(order), id=one) for order, one in enumerate(own)), name=name)
        for name, own in zip(names, ids, strict=True)
    ]
    assert list(unique_ids(cassettes)) == unique


def test_reads_are_covered_by_the_writes_around_them() -> None:
    """What a write names, and those under it; a series of writes is covered by none."""
    arranged = arrange(
        [
            cassette(
                interaction(0, "POST", "/items"),
                interaction(1, "PUT", "/items/1"),
                interaction(2, target="/items/1"),
                interaction(3, target="/items?page=2"),
                interaction(4, target="/other"),
            )
        ],
        NONE,
        JUDGE,
    )
    covered = {
        one.recordings[0].id: [f"i{position}" for writes in one.covering for position in writes.positions]
        for one in arranged.series.values()
    }
    assert covered == {"i0": [], "i1": [], "i2": ["i0", "i1"], "i3": ["i0"], "i4": []}


def test_resources_that_rules_join_are_covered_together() -> None:
    """Where a rule leaves a part of the path out, the writes to each of the joined resources count."""
    provider = Provider(
        name="p", hosts=(HOST,), match=MatchRules(ignore=(Selector.parse("path:/items/([0-9]+)"),), sequence="once")
    )
    tape = cassette(
        interaction(0, target="/items/1"), interaction(1, "PUT", "/items/2"), interaction(2, target="/items/2")
    )
    read, write = arrange([tape], Providers((provider,)), JUDGE).series.values()
    assert list(read.positions) == [0, 2]
    assert [list(one.positions) for one in read.covering] == [[1]]
    assert write.rule == read.rule == "once"


def test_a_provider_says_what_only_reads() -> None:
    """`read_only` makes a POST a read."""
    rules = MatchRules(read_only=("POST /a",))
    providers = Providers((Provider(name="p", hosts=(HOST,), match=rules),))
    (one,) = arrange([cassette(interaction(0, "POST"))], providers, JUDGE).recordings
    assert not one.write


def test_bodies_in_files_are_read_to_be_understood() -> None:
    """A request whose body lies in a file has the key of one that holds it."""
    body = b'{"model": "m", "messages": []}'
    typed = (("Content-Type", "application/json"),)
    inline = Request(method="POST", origin=ORIGIN, target="/v1/chat", headers=typed, body=body)
    filed = replace(inline, body=Blob("0" * 64, len(body)))
    tape = cassette(interaction(0, request=inline), interaction(1, request=filed))
    (series,) = arrange([tape], NONE, JUDGE, lambda _, blob: body[: blob.size]).series.values()
    assert [one.write for one in series.recordings] == [False, False]
    assert len(arrange([tape], NONE, JUDGE).series) == 2


# -- rights -----------------------------------------------------------------------------------------

FORBIDDEN = Tag(permissions=(("replay", Permission("forbidden")),))
GRANTED = preset("own-synthetic")


@pytest.mark.parametrize(
    ("purpose", "own", "base", "provided", "code"),
    [
        ("local-debug", None, Tag(), None, None),
        ("ship-to-customer", None, Tag(), None, "RP031"),
        ("ship-to-customer", None, GRANTED, None, None),
        ("local-debug", FORBIDDEN, GRANTED, None, "RP030"),
        ("local-debug", None, GRANTED, FORBIDDEN, "RP030"),
        ("local-debug", None, FORBIDDEN, GRANTED, "RP030"),
        ("local-debug", GRANTED, FORBIDDEN, None, "RP011"),
        ("local-debug", None, Tag(expires="2026-01-01"), None, "RP020"),
    ],
)
def test_every_level_may_only_tighten(
    purpose: str, own: Tag | None, base: Tag, provided: Tag | None, code: str | None
) -> None:
    """An interaction's tag over its cassette's; a provider's can forbid, never allow."""
    providers = Providers((Provider(name="p", hosts=(HOST,), rights=provided),))
    tape = cassette(interaction(0, rights=own), interaction(1, rights=own), rights=base)
    found = arrange([tape], providers, Judge(purpose=purpose, today="2026-06-01")).recordings
    codes = [one.forbidden.code if one.forbidden else None for one in found]
    assert codes == [code, code]


# -- the digest -------------------------------------------------------------------------------------

RICH = Response(
    status=200,
    reason="OK",
    headers=(("A", "1"),),
    body=b"a",
    trailers=(("T", "1"),),
    interim=(Interim(status=103),),
    chunks=(Chunk(1, 0),),
    coding=Coding(names=("gzip",)),
    fault=Fault(kind="reset", phase="body"),
)
BASE = interaction(0, response=RICH, started_us=1, first_ms=2, ended_ms=3)
CHANGES = {
    "id": replace(BASE, id="other"),
    "method": replace(BASE, request=replace(BASE.request, method="HEAD")),
    "target": replace(BASE, request=replace(BASE.request, target="/a?x")),
    "request header": replace(BASE, request=replace(BASE.request, headers=(("A", "1"),))),
    "request body": replace(BASE, request=replace(BASE.request, body=b"a")),
    "status": replace(BASE, response=replace(RICH, status=201)),
    "reason": replace(BASE, response=replace(RICH, reason="Fine")),
    "header": replace(BASE, response=replace(RICH, headers=(("a", "1"),))),
    "body": replace(BASE, response=replace(RICH, body=b"b")),
    "body in a file": replace(BASE, response=replace(RICH, body=Blob("0" * 64, 1))),
    "trailer": replace(BASE, response=replace(RICH, trailers=())),
    "interim": replace(BASE, response=replace(RICH, interim=())),
    "chunk": replace(BASE, response=replace(RICH, chunks=(Chunk(1, 0), Chunk(0, 1)))),
    "coding": replace(BASE, response=replace(RICH, coding=None)),
    "fault": replace(BASE, response=replace(RICH, fault=None)),
}
TIMES = replace(BASE, started_us=7, first_ms=8, ended_ms=9, response=replace(RICH, chunks=(Chunk(1, 5),)))


def digest(one: Interaction) -> str:
    """The digest of a library of ONE."""
    return digest_of(arrange([cassette(one)], NONE, JUDGE).recordings)


def test_the_digest_covers_what_is_asked_and_answered() -> None:
    """Each change gives another digest; times give none."""
    digests = [digest(BASE), *map(digest, CHANGES.values())]
    assert len(set(digests)) == len(digests)
    assert digest(TIMES) == digest(BASE)
