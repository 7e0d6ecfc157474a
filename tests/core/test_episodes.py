"""The episodes of one proxy."""

from __future__ import annotations

import pytest

from replayproxy.core.episodes import DEFAULT, Episodes
from replayproxy.core.errors import UsageError
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.core.journal import Kind
from replayproxy.core.library import Library
from replayproxy.core.replayer import Served, answer

ASK = Request(method="GET", origin=Origin("https", "api.example.test", 443), target="/a")
LIBRARY = Library.build(
    [
        Cassette(
            name="tape",
            recorded_us=1_000_000,
            interactions=tuple(
                Interaction(id=text, order=order, request=ASK, response=Response(status=200, body=text.encode()))
                for order, text in enumerate(["one", "two"])
            ),
        )
    ],
    purpose="local-debug",
)


@pytest.fixture
def episodes() -> Episodes:
    """Fresh ones, at the recorded moment."""
    return Episodes(LIBRARY, seed=0, clock="recorded")


def get(episodes: Episodes, user: str | None = None) -> bytes:
    """What the episode of USER answers."""
    episode = episodes.of_user(user)
    assert episode
    decision = answer(episode, ASK)
    assert isinstance(decision, Served)
    assert isinstance(decision.response.body, bytes)
    return decision.response.body


def test_the_default_episode_is_there_from_the_start(episodes: Episodes) -> None:
    """For clients without a proxy user, and by its name."""
    assert episodes.of_user(None) is episodes.of_user("default") is episodes.get(DEFAULT)
    assert episodes.of_user("nobody") is None
    assert episodes.get(DEFAULT).clock.now == "1970-01-01T00:00:01Z"
    with pytest.raises(UsageError, match="nobody"):
        episodes.get("nobody")


def test_the_same_seed_gives_the_same_digest(episodes: Episodes) -> None:
    """Whatever the episode did before; another seed gives another."""
    first = episodes.reset(7).digest
    assert get(episodes) == b"one"
    assert episodes.get(DEFAULT).digest != first
    assert episodes.reset(7).digest == first != episodes.reset(8).digest
    assert Episodes(LIBRARY, seed=0, clock="recorded").reset(7).digest == first


def test_without_a_seed_the_next_one(episodes: Episodes) -> None:
    """The first is that of the start."""
    assert [episodes.reset(seed).seed for seed in (None, None, 7, None)] == [0, 1, 7, 8]
    assert Episodes(LIBRARY, seed=5, clock="recorded").reset(None).seed == 5


def test_episodes_do_not_share_cursors(episodes: Episodes) -> None:
    """Each goes through the recordings on its own."""
    for name in ("left", "right"):
        assert episodes.reset(1, name).id == name
    assert [get(episodes, name) for name in ("left", "left", "right")] == [b"one", b"two", b"one"]
    assert [one.id for one in episodes.all()] == ["default", "left", "right"]


def test_whoever_holds_the_old_episode_goes_on_in_it(episodes: Episodes) -> None:
    """A request in flight while the episode is reset is not mixed into the fresh one."""
    old = episodes.get(DEFAULT)
    fresh = episodes.reset(1)
    answer(old, ASK)
    assert (len(old.journal), len(fresh.journal)) == (1, 0)
    assert episodes.resets == 1


@pytest.mark.parametrize(
    ("name", "clock"), [("a", "seed"), ("a", "noon"), ("", None), ("a:b", None), ("a b", None), ("a" * 65, None)]
)
def test_a_reset_that_cannot_be_meant_changes_nothing(episodes: Episodes, name: str, clock: str | None) -> None:
    """Neither the episode nor the seed that comes next."""
    with pytest.raises(UsageError):
        episodes.reset(3, name, clock)
    assert [one.id for one in episodes.all()] == ["default"]
    assert episodes.reset(None).seed == 0


def test_a_clock_of_its_own(episodes: Episodes) -> None:
    """For that reset only."""
    assert episodes.reset(1, clock="2040-01-01T00:00:00Z").clock.now == "2040-01-01T00:00:00Z"
    assert episodes.reset(1).clock.now == "1970-01-01T00:00:01Z"


def test_a_snapshot_can_be_restored_more_than_once(episodes: Episodes) -> None:
    """Cursors, clock and journal are those of the snapshot each time."""
    assert get(episodes) == b"one"
    before = episodes.get(DEFAULT).state()
    name = episodes.snapshot()
    for _ in range(2):
        assert get(episodes) == b"two"
        episodes.get(DEFAULT).advance(5)
        assert episodes.restore(name).state() == before
    assert get(episodes) == b"two"
    assert episodes.snapshot() != name


LOST = Request(method="GET", origin=ASK.origin, target="/lost")


def test_what_was_asked_stays_counted(episodes: Episodes) -> None:
    """Each request once: over resets, restores and forks, and however often the total is asked for."""
    default = episodes.get(DEFAULT)
    for request in (ASK, LOST):
        answer(default, request)
    default.refused(None, Kind("refused", None, "internal-error", 424, "GET", ""))
    assert str(episodes.total()) == "served 1, missed 1, refused 1"
    name = episodes.snapshot()
    answer(default, LOST)
    episodes.reset(1, "left")
    for _ in range(2):
        get(episodes, "left")
        answer(episodes.restore(name), ASK)
    episodes.reset(2)
    for _ in range(2):
        total = episodes.total()
        assert total.served == {0: 2, 1: 3}
        assert total.misses == {f"GET {LOST.url}": 2}
        assert total.refusals == {"GET ": 1}


def test_unknown_episodes_and_snapshots_are_told(episodes: Episodes) -> None:
    """By name, with what to do."""
    with pytest.raises(UsageError, match="nobody"):
        episodes.snapshot("nobody")
    with pytest.raises(UsageError, match="snapshot-9"):
        episodes.restore("snapshot-9")
