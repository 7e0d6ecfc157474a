"""The sequencing law, as docs/adr/0003 states it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core import provider
from replayproxy.core.exchange import Interaction, Origin, Request, Response
from replayproxy.core.rights import Finding
from replayproxy.core.sequence import Absent, Cursors, Recording, Scope, Series, Writes, choose, place

ORIGIN = Origin("https", "api.example.test", 443)


def recording(
    position: int,
    target: str = "/items/1",
    *,
    write: bool = False,
    cassette: int = 0,
    status: int = 200,
    conditional: bool = False,
    preference: bytes = b"",
) -> Recording:
    """A recording named by its position."""
    request = Request(method="PUT" if write else "GET", origin=ORIGIN, target=target)
    interaction = Interaction(id=str(position), order=position, request=request, response=Response(status=status))
    more = {"cassette": cassette, "write": write, "conditional": conditional, "preference": preference}
    return Recording.of(interaction, {position: interaction}, position, **more)


def arrange(
    recordings: Sequence[Recording], rule: provider.Sequence = "repeat-last"
) -> tuple[dict[str, Series], dict[Scope, Writes]]:
    """The series of RECORDINGS by method and target, and their writes by scope."""
    scopes = dict.fromkeys(one.scope for one in recordings if one.write)
    shelf = {one.position: one for one in recordings}
    of_scope = {scope: [one for one in recordings if one.write and one.scope == scope] for scope in scopes}
    writes = {scope: Writes.of(own, shelf) for scope, own in of_scope.items()}
    series: dict[str, Series] = {}
    for key in dict.fromkeys(map(key_of, recordings)):
        own = tuple(one for one in recordings if key_of(one) == key)
        around = () if own[0].write else tuple(own[0].scope.around())
        covering = tuple(writes[scope] for scope in around if scope in writes)
        series[key] = Series.of(own, covering, rule)
    return series, writes


def key_of(one: Recording) -> str:
    """What stands for the canonical key in these tests."""
    return f"{one.interaction.request.method} {one.interaction.request.target}"


class Player:
    """Asks by key and makes the writes that answer, as an episode does."""

    def __init__(self, recordings: Sequence[Recording], rule: provider.Sequence = "repeat-last") -> None:
        self.series, self.writes = arrange(recordings, rule)
        self.cursors = Cursors()

    def ask(self, key: str, *, conditional: bool = False, preference: bytes = b"") -> int | Absent:
        """The position of the answer, or why there is none."""
        found = self.cursors.next(self.series[key], conditional=conditional, preferences=frozenset([preference]))
        if isinstance(found, Absent):
            return found
        if found.write:
            self.cursors.make(found, self.writes[found.scope])
        return found.position

    def asks(self, *keys: str) -> list[int | None]:
        """The positions of the answers, None for a miss."""
        answers = map(self.ask, keys)
        return [None if isinstance(one, Absent) else one for one in answers]


READ, WRITE = "GET /items/1", "PUT /items/1"


# -- scopes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "read", "covered"),
    [
        ("/items", "/items", True),
        ("/items", "/items/", True),
        ("/items/", "/items?page=2", True),
        ("/items", "/items/1/parts", True),
        ("/items?draft=1", "/items/1", True),
        ("/items/1", "/items", False),
        ("/items/1", "/items/2", False),
        ("/items/1", "/items/10", False),
        ("/items", "/itemsets", False),
        ("/a%2Fb", "/a/b", False),
        ("/a", "/a;v=1", False),
        ("/a", "//a", False),
        ("/", "/anything/at/all", True),
        ("*", "*", True),
    ],
)
def test_a_write_covers_what_it_names_and_what_lies_under_it(write: str, read: str, covered: bool) -> None:
    """A scope is made of path segments; the query is no part of it."""
    scopes = [Scope.of(Request(method="GET", origin=ORIGIN, target=target)) for target in (write, read)]
    assert scopes[0].covers(scopes[1]) is covered
    assert (scopes[0] in set(scopes[1].around())) is covered


def test_another_origin_is_never_covered() -> None:
    """Two origins share no resources."""
    other = Origin("https", "other.example.test", 443)
    assert not Scope(ORIGIN, ()).covers(Scope(other, ("a",)))


# -- order and repetition ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        ("repeat-last", [0, 1, 2, 2, 2, 2, 2]),
        ("cycle", [0, 1, 2, 0, 1, 2, 0]),
        ("once", [0, 1, 2, None, None, None, None]),
    ],
)
def test_every_answer_comes_once_before_any_comes_again(rule: provider.Sequence, places: list[int | None]) -> None:
    """Recorded order, then what the provider's sequence says."""
    assert [place(given, 3, rule) for given in range(7)] == places
    player = Player([recording(at) for at in range(3)], rule)
    assert player.asks(*[READ] * 7) == places


def test_what_is_used_up_says_so() -> None:
    """`once` gives a miss of its own code."""
    player = Player([recording(0)], "once")
    player.ask(READ)
    assert player.ask(READ) == Absent("miss-exhausted")


# -- reads see writes -------------------------------------------------------------------------------

AROUND = [recording(0), recording(1, write=True), recording(2), recording(3, write=True), recording(4)]


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        ([READ, READ, READ], [0, 0, 0]),
        ([READ, WRITE, READ, READ, WRITE, READ], [0, 1, 2, 2, 3, 4]),
        ([WRITE, READ], [1, 2]),
        ([WRITE, WRITE, READ], [1, 3, 4]),
        ([WRITE, WRITE, WRITE, READ], [1, 3, 3, 4]),
    ],
)
def test_a_read_sees_the_writes_that_the_episode_made(asked: list[str], answers: list[int]) -> None:
    """After the latest write that was made, before the first that was not."""
    assert Player(AROUND).asks(*asked) == answers


def test_a_read_recorded_after_a_write_waits_for_it() -> None:
    """Before the write there is no answer, and the miss names the write."""
    player = Player([recording(0, write=True), recording(1)])
    assert player.ask(READ) == Absent("miss-unknown", awaits=player.series[WRITE].recordings[0])
    assert player.asks(WRITE, READ) == [0, 1]


def test_a_read_never_seen_after_a_write_is_a_miss() -> None:
    """What stood before the write is no answer after it, and the miss names the write."""
    player = Player([recording(0), recording(1, write=True)])
    assert player.asks(READ, WRITE) == [0, 1]
    assert player.ask(READ) == Absent("miss-unknown", passed=player.series[WRITE].recordings[0])


def test_a_read_waits_for_every_write_before_it() -> None:
    """Of two recorded writes only the second was made: nobody has seen that world."""
    tape = [
        recording(0, "/items/a", write=True),
        recording(1, "/items", write=True),
        recording(2, "/items/a"),
    ]
    player = Player(tape)
    assert player.asks("PUT /items", "GET /items/a") == [1, None]
    assert player.ask("GET /items/a") == Absent("miss-unknown", awaits=tape[0])
    assert player.asks("PUT /items/a", "GET /items/a") == [0, 2]


def test_writes_of_one_key_come_in_their_order_whatever_covers_them() -> None:
    """A write waits for no other write."""
    tape = [recording(0, "/items", write=True), recording(1, write=True), recording(2, write=True)]
    assert Player(tape).asks(WRITE, WRITE, "PUT /items", WRITE) == [1, 2, 0, 2]


def test_cassettes_stand_alone_until_they_write() -> None:
    """A second cassette does not wait for the writes of the first."""
    tape = [
        recording(0, "/items", write=True),
        recording(1, "/items/1"),
        recording(2, "/items/1", cassette=1),
        recording(3, "/items/9", cassette=1),
    ]
    player = Player(tape)
    assert player.asks("GET /items/9", READ, READ) == [3, 2, 2]
    assert player.asks("PUT /items", READ, READ, READ) == [0, 1, 2, 2]


def test_a_write_of_a_later_cassette_leaves_the_earlier_ones_behind() -> None:
    """All of the first cassette stands before all of the second."""
    tape = [
        recording(0),
        recording(1, write=True),
        recording(2),
        recording(3, cassette=1),
        recording(4, "/items", write=True, cassette=1),
        recording(5, cassette=1),
    ]
    assert Player(tape).asks(READ, READ, WRITE, READ, READ, "PUT /items", READ) == [0, 0, 1, 2, 3, 4, 5]
    assert Player(tape).asks("PUT /items", READ, WRITE, READ) == [4, 5, 1, 5]


# -- conditions and preferences ---------------------------------------------------------------------

TAPE = [
    recording(0),
    recording(1, conditional=True, status=304),
    recording(2),
    recording(3, conditional=True),
]


def test_a_recorded_304_answers_conditional_requests_only() -> None:
    """Either kind of request goes through what was asked in its way."""
    player = Player(TAPE)
    assert [player.ask(READ) for _ in range(3)] == [0, 2, 2]
    assert [player.ask(READ, conditional=True) for _ in range(3)] == [1, 3, 3]
    assert player.cursors.given == {"0": 3, "0~conditional": 3}


@pytest.mark.parametrize(
    ("tape", "conditional", "answer"),
    [
        ([recording(0)], True, 0),
        ([recording(0, conditional=True)], False, 0),
        ([recording(0, conditional=True, status=412)], False, None),
        ([recording(0, status=304)], False, None),
        ([recording(0, status=304)], True, 0),
        ([recording(0), recording(1, status=304)], True, 1),
    ],
)
def test_either_kind_makes_do_with_what_suits_it(tape: list[Recording], conditional: bool, answer: int | None) -> None:
    """A whole answer suits everyone; an answer to a condition only those who set one."""
    found = Player(tape).ask(READ, conditional=conditional)
    assert found == (Absent("miss-unknown") if answer is None else answer)


def test_the_callers_own_recordings_come_first() -> None:
    """Equal preference first; whoever has none there goes through all."""
    ann, bob = b"\x0a", b"\x0b"
    player = Player([recording(0, preference=ann), recording(1, preference=bob), recording(2, preference=ann)])
    assert [player.ask(READ, preference=bob) for _ in range(2)] == [1, 1]
    assert [player.ask(READ, preference=ann) for _ in range(3)] == [0, 2, 2]
    assert [player.ask(READ, preference=b"\x0c") for _ in range(4)] == [0, 1, 2, 2]
    assert player.cursors.given == {"0~own:1": 2, "0~own:0": 3, "0": 4}


def test_one_caller_has_a_preference_per_salt() -> None:
    """A credential is masked in each cassette by its own salt; its recordings are still in one order."""
    tape = [
        recording(0, preference=b"a"),
        recording(1, preference=b"z"),
        recording(2, preference=b"b", cassette=1),
    ]
    (series,) = arrange(tape)[0].values()
    cursors = Cursors()
    found = [cursors.next(series, preferences=frozenset([b"a", b"b"])) for _ in range(3)]
    assert found == [tape[0], tape[2], tape[2]]


def test_a_preference_that_all_share_is_no_choice() -> None:
    """The lane is that of everyone."""
    window = [recording(0, conditional=True, preference=b"\x0a")]
    lane = choose(window, conditional=True, preferences=frozenset([b"\x0a"]))
    assert lane is not None
    assert lane.name == "0~conditional"


def test_two_series_that_begin_alike_keep_their_choices_apart() -> None:
    """Cassettes of several salts are joined for some questions and not for others."""
    tape = [recording(0), recording(1, conditional=True), recording(2, conditional=True, status=304)]
    cursors = Cursors()
    short, long = Series.of(tuple(tape[:1])), Series.of(tuple(tape))
    mixed = Series.of((tape[0], tape[2]))
    found = [cursors.next(one, conditional=True) for one in (mixed, long, short)]
    assert [one.position for one in found if isinstance(one, Recording)] == [2, 2, 0]


def test_a_recording_is_told_by_id_method_and_url() -> None:
    """The form in which unused ones are listed."""
    assert str(recording(7)) == "7 GET https://api.example.test/items/1"


# -- forks ------------------------------------------------------------------------------------------


def test_a_fork_moves_apart() -> None:
    """Neither sees what the other does afterwards."""
    player = Player(AROUND)
    player.asks(READ, WRITE)
    kept = player.cursors.fork()
    assert player.asks(READ, WRITE, READ) == [2, 3, 4]
    player.cursors = kept
    assert player.asks(READ, WRITE, READ) == [2, 3, 4]


# -- the law, by its own words ----------------------------------------------------------------------

TARGETS = ["/", "/a", "/a/1", "/a/1/x", "/a/2", "/b"]
STEPS = st.tuples(st.sampled_from(TARGETS), st.booleans())


@st.composite
def tapes(draw: st.DrawFn) -> list[Recording]:
    """Recordings of up to three cassettes."""
    found: list[Recording] = []
    for cassette, steps in enumerate(draw(st.lists(st.lists(STEPS, max_size=7), min_size=1, max_size=3))):
        for target, write in steps:
            found.append(recording(len(found), target, write=write, cassette=cassette))
    return found


def by_the_law(tape: Sequence[Recording], key: str, made: Iterable[Recording]) -> list[int]:
    """The positions that docs/adr/0003 allows for a read of KEY after MADE, written down naively."""
    own = [one for one in tape if key_of(one) == key]
    covering = [one for one in tape if one.write and one.scope.covers(own[0].scope)]
    latest = max((one.position for one in covering if one in made), default=-1)
    for start in (one.position for one in own if one.position > latest):
        before = [one for one in covering if one.cassette == tape[start].cassette and one.position < start]
        if all(one in made for one in before):
            first = min((one.position for one in covering if one.position > start), default=len(tape))
            return [one.position for one in own if start <= one.position < first]
    return []


@settings(max_examples=150, deadline=None)
@given(tapes(), st.data())
def test_the_window_is_the_laws(tape: list[Recording], data: st.DataObject) -> None:
    """Counting gives the same windows as the law's own words, after any writes in any order."""
    series, writes = arrange(tape)
    made = data.draw(st.permutations([one for one in tape if one.write]).flatmap(some_of))
    cursors = Cursors()
    for write in made:
        cursors.make(write, writes[write.scope])
    for key, one in series.items():
        if one.recordings[0].write:
            continue
        start, end = cursors.window(one)
        allowed = by_the_law(tape, key, made)
        assert list(one.positions[start:end]) == allowed
        if not allowed:
            absent = cursors.next(one)
            assert isinstance(absent, Absent)
            assert absent.awaits or absent.passed
            assert absent.awaits not in made


def some_of(items: Sequence[Recording]) -> st.SearchStrategy[list[Recording]]:
    """A beginning of ITEMS."""
    return st.integers(0, len(items)).map(lambda count: list(items[:count]))


@settings(max_examples=100, deadline=None)
@given(tapes())
def test_a_run_that_repeats_the_recording_gets_the_recording(tape: list[Recording]) -> None:
    """The law that everything rests on: the same requests in the recorded order get the recorded answers."""
    player = Player(tape)
    assert player.asks(*map(key_of, tape)) == list(range(len(tape)))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.sampled_from(["", "/1"]), st.booleans()), max_size=5), min_size=1, max_size=3),
    st.lists(st.tuples(st.sampled_from(["/s", "/t"]), st.just(False)), max_size=6),
    st.data(),
)
def test_answers_do_not_depend_on_the_order_of_arrival(
    programs: list[list[tuple[str, bool]]], shared: list[tuple[str, bool]], data: st.DataObject
) -> None:
    """Clients whose reads overlap no covering write: the same answers per request, the same cursors.

    Each client writes and reads under a path of its own, and all of them read what nobody writes.
    """
    lines = [[(f"/client{number}{path}", write) for path, write in program] for number, program in enumerate(programs)]
    lines += [[step] for step in shared]
    flat = [step for line in lines for step in line]
    tape = [recording(at, target, write=write) for at, (target, write) in enumerate(flat)]
    outcomes = []
    for _ in range(2):
        player, answers, done = Player(tape), Counter[tuple[str, object]](), [0] * len(lines)
        for number in data.draw(st.permutations([at for at, line in enumerate(lines) for _ in line])):
            target, write = lines[number][done[number]]
            done[number] += 1
            key = f"{'PUT' if write else 'GET'} {target}"
            answers[key, player.ask(key)] += 1
        outcomes.append((answers, player.cursors.given))
    assert outcomes[0] == outcomes[1]


# -- what is steady ---------------------------------------------------------------------------------

WITH = recording(0, conditional=True)
STEADY: dict[str, tuple[Sequence[Recording], provider.Sequence, bool]] = {
    "one plain read": ([recording(0)], "repeat-last", True),
    "one that repeats": ([recording(0)], "cycle", True),
    "used up after one": ([recording(0)], "once", False),
    "two": ([recording(0), recording(1)], "repeat-last", False),
    "a conditional one": ([recording(0, conditional=True)], "repeat-last", False),
    "an answer to conditions only": ([recording(0, status=304)], "repeat-last", False),
    "a write": ([recording(0, write=True)], "repeat-last", True),
    "forbidden": (
        [replace(recording(0), forbidden=Finding(code="RP030", level="deny", message="no"))],
        "repeat-last",
        False,
    ),
}


@pytest.mark.parametrize(("recordings", "rule", "steady"), STEADY.values(), ids=STEADY)
def test_a_steady_answer_is_one_that_nothing_can_change(
    recordings: Sequence[Recording], rule: provider.Sequence, *, steady: bool
) -> None:
    """Alone, plain, allowed, and repeated."""
    series = Series.of(tuple(recordings), (), rule)
    assert series.steady is (recordings[0] if steady else None)


def test_what_a_write_covers_is_not_steady() -> None:
    """It is answered or not by whether the write was made."""
    series, _ = arrange([recording(0, "/items", write=True), recording(1)])
    assert series["GET /items/1"].steady is None


@given(st.integers(1, 5), st.booleans(), st.sampled_from([b"", b"own"]))
def test_a_steady_answer_counts_as_its_cursor(times: int, conditional: bool, preference: bytes) -> None:
    """However often and by whomever it is asked for: `given` counts it by its id."""
    player = Player([recording(0)])
    steady = player.series["GET /items/1"].steady
    assert steady is not None
    asked = [player.ask("GET /items/1", conditional=conditional, preference=preference) for _ in range(times)]
    assert asked == [steady.position] * times
    assert player.cursors.given == {steady.id: times}
