"""One run of an environment: what it has seen, and what it tells of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from replayproxy.core.clock import Clock
from replayproxy.core.digest import canonical_json
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.core.journal import Kind
from replayproxy.core.library import Library
from replayproxy.core.sequence import Recording

ORIGIN = Origin("https", "api.example.test", 443)
CLOCK = Clock.parse("2030-01-02T03:04:05Z", 0)


BROKEN = Kind("refused", None, "internal-error", 424, "GET", "")


def ask(target: str, method: str = "GET") -> Request:
    """A request."""
    return Request(method=method, origin=ORIGIN, target=target)


TAPE = [ask("/items/1"), ask("/items/1", "PUT"), ask("/items/1"), ask("/other"), ask("/items", "POST")]
LIBRARY = Library.build(
    [
        Cassette(
            name="tape",
            interactions=tuple(
                Interaction(id=f"i{order}", order=order, request=request, response=Response(status=200 + order))
                for order, request in enumerate(TAPE)
            ),
        )
    ],
    purpose="local-debug",
)


def episode(seed: int = 7, clock: Clock = CLOCK) -> Episode:
    """A fresh one."""
    return Episode("default", seed, LIBRARY, clock)


def play(one: Episode, *requests: Request) -> list[str]:
    """The ids of what answers REQUESTS, "" for a miss."""
    return [_play(one, request) for request in requests]


def _play(one: Episode, request: Request) -> str:
    question = LIBRARY.question(request)
    found = one.next(question.series, question, conditional=False) if question.series else None
    if isinstance(found, Recording):
        assert question.series is not None
        one.served(found, steady=question.series.steady is not None)
        return found.id
    one.missed(question.key.hex(), Kind("miss", None, "miss-unknown", 424, request.method, request.url))
    return ""


READ, WRITE, OTHER, LOST = ask("/items/1"), ask("/items/1", "PUT"), ask("/other"), ask("/lost")


def test_a_write_that_answers_is_seen_by_later_reads() -> None:
    """The episode makes the write that it serves."""
    assert play(episode(), READ, WRITE, READ) == ["i0", "i1", "i2"]


# -- state and digests ------------------------------------------------------------------------------


def test_state_tells_all_that_the_contract_names() -> None:
    """Sorted by whoever prints it, without a float, and digestible."""
    one = episode()
    play(one, READ, WRITE, READ, LOST)
    one.refused(LIBRARY.recordings[3], Kind("refused", 3, "RP030", 451, "GET", OTHER.url))
    state = one.state()
    assert canonical_json(state)
    assert (state["episode"], state["seed"], state["worlds"], state["running"]) == ("default", 7, 1, False)
    assert state["now"] == "2030-01-02T03:04:05Z"
    assert (state["served"], state["misses"], state["refusals"]) == (3, 1, 1)
    assert state["unused"] == ["i3 GET https://api.example.test/other", "i4 POST https://api.example.test/items"]
    assert state["cursors"] == {"i0": 1, "i1": 1, "i2": 1}
    assert re.fullmatch(r"[0-9a-f]{64}", one.digest)
    assert (state["digest"], state["world"]) == (one.digest, one.world)


def test_the_digest_does_not_depend_on_arrival_order() -> None:
    """The same independent requests in any order."""
    first, second = episode(), episode()
    play(first, READ, OTHER, LOST, OTHER)
    play(second, OTHER, LOST, OTHER, READ)
    assert first.digest == second.digest
    assert list(first.journal) != list(second.journal)


def test_the_digest_does_not_cover_the_episodes_id() -> None:
    """Two names for the same run."""
    assert episode().digest == Episode("other", 7, LIBRARY, CLOCK).digest


CHANGED: dict[str, Callable[[Episode], object]] = {
    "an answer": lambda one: play(one, OTHER),
    "a miss": lambda one: play(one, LOST),
    "a refusal": lambda one: one.refused(None, BROKEN),
}


@pytest.mark.parametrize("name", CHANGED)
def test_everything_that_happened_is_in_both_digests(name: str) -> None:
    """Each of them, and each time that it happened."""
    one = episode()
    digests = [(one.digest, one.world)]
    for _ in range(2):
        CHANGED[name](one)
        digests.append((one.digest, one.world))
    assert len({digest for digest, _ in digests}) == len({world for _, world in digests}) == 3


def test_the_world_leaves_out_seed_and_time() -> None:
    """The digest does not."""
    one, moved = episode(), episode(8)
    moved.advance(90)
    assert moved.clock.now == "2030-01-02T03:05:35Z"
    assert len({one.digest, moved.digest, episode(8).digest}) == 3
    assert one.world == moved.world


# -- journal ----------------------------------------------------------------------------------------


def test_the_journal_numbers_every_request() -> None:
    """What answered is told by its id, what did not by the request, masked by whoever tells it."""
    one = episode()
    play(one, OTHER, LOST)
    one.refused(LIBRARY.recordings[0], Kind("refused", 0, "RP030", 451, "GET", READ.url))
    one.refused(None, BROKEN)
    assert [entry.to_dict() for entry in one.journal] == [
        {"n": 1, "method": "GET", "url": OTHER.url, "decision": "served", "status": 203, "interaction": "i3"},
        {"n": 2, "method": "GET", "url": LOST.url, "decision": "miss", "status": 424, "code": "miss-unknown"},
        {
            "n": 3,
            "method": "GET",
            "url": READ.url,
            "decision": "refused",
            "status": 451,
            "interaction": "i0",
            "code": "RP030",
        },
        {"n": 4, "method": "GET", "url": "", "decision": "refused", "status": 424, "code": "internal-error"},
    ]


@pytest.mark.parametrize(
    ("steps", "overlapping"),
    [
        ("+read +write", ["read"]),
        ("+write +read", ["read"]),
        ("+collection +read", ["read"]),
        ("+write -write +read", []),
        ("+read -read +write", []),
        ("+write +other", []),
        ("+write +collection", []),
        ("+read +lost +write", ["read"]),
        ("+read -read -read +write", []),
    ],
)
def test_a_read_that_overlaps_a_write_to_what_it_reads_is_journalled(steps: str, overlapping: list[str]) -> None:
    """Whichever came first; `+` begins an exchange, `-` ends it."""
    requests = {"read": READ, "write": WRITE, "other": OTHER, "collection": ask("/items", "POST"), "lost": LOST}
    one = episode()
    lines: dict[str, int] = {}
    for step in steps.split():
        name = step[1:]
        if step[0] == "-":
            one.finish(lines[name])
            continue
        play(one, requests[name])
        last = one.journal[-1]
        lines[name] = last.n
        one.begin(last.n, last.recording, LIBRARY.question(requests[name]).series)
    assert [name for name, n in lines.items() if one.journal[n - 1].overlaps] == overlapping
    assert [name for name, n in lines.items() if "overlaps" in one.journal[n - 1].to_dict()] == overlapping


# -- forks ------------------------------------------------------------------------------------------


def test_a_fork_stands_where_the_episode_stood() -> None:
    """Cursors, clock, counts and journal; what is done to one is not done to the other."""
    one = episode()
    play(one, READ, WRITE, LOST)
    one.refused(None, BROKEN)
    one.advance(1)
    kept = one.fork()
    before = kept.state(), [entry.to_dict() for entry in kept.journal]
    assert before == (one.state(), [entry.to_dict() for entry in one.journal])
    assert play(one, READ, OTHER, LOST) == ["i2", "i3", ""]
    one.refused(None, BROKEN)
    one.advance(1)
    assert (kept.state(), [entry.to_dict() for entry in kept.journal]) == before
    assert [line.outcome[0] for line in one.take_lines()] == list("ssmrssmr")
    assert one.take_lines() == []
    assert kept.take_lines() == []
    assert play(kept, READ, OTHER) == ["i2", "i3"]
    assert [line.outcome for line in kept.take_lines()] == ["served", "served"]


def test_a_fork_keeps_the_lines_of_what_is_in_flight() -> None:
    """What overlaps the read later is told by the episode in which it does, not by the one that was kept."""
    one = episode()
    play(one, READ)
    one.begin(1, one.journal[-1].recording, LIBRARY.question(READ).series)
    kept = one.fork()
    play(one, WRITE)
    one.begin(2, one.journal[-1].recording, None)
    assert [one.journal[0].overlaps, kept.journal[0].overlaps] == [True, False]
