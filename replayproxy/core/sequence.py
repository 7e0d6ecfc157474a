"""The sequencing law: which of the recordings of one key answers next (docs/adr/0003).

The recordings of a library stand in one order. Those of one key are a `Series`. What an episode has used up
of them, and which recorded writes it has made, are its `Cursors`; nothing else decides, so that the answers
to a set of requests do not depend on the order in which they arrive, save where a read overlaps a write to
what it reads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from replayproxy.core import provider
from replayproxy.core.exchange import Interaction, Origin, Request
from replayproxy.core.rights import Finding

NOT_MODIFIED = 304
_ONLY_CONDITIONAL = frozenset({NOT_MODIFIED, 412})
"""Statuses that answer a condition (RFC 9110 section 13.2.2) and so nobody who set none."""
_END = 1 << 62
ANY: frozenset[bytes] = frozenset()
"""The preferences of a request that prefers nothing."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A resource and those under it: an origin and the segments of a path, whatever the query.

    A slash at the end names no other resource. Percent-encoding, `;params` and doubled slashes are kept
    apart.
    """

    origin: Origin
    segments: tuple[str, ...]

    @classmethod
    def of(cls, request: Request) -> Scope:
        """The scope of what REQUEST names."""
        path = request.path.removeprefix("/").removesuffix("/")
        return cls(request.origin, tuple(path.split("/")) if path else ())

    def covers(self, other: Scope) -> bool:
        """Whether OTHER is this resource or lies under it."""
        return self.origin == other.origin and other.segments[: len(self.segments)] == self.segments

    def around(self) -> Iterator[Scope]:
        """Every scope that covers this one, the root first."""
        return (Scope(self.origin, self.segments[:depth]) for depth in range(len(self.segments) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """An interaction in its place among all recordings of a library.

    `position` counts them from 0, `cassette` the cassettes. `id` is unique in the library. `conditional`
    says that it answers conditional requests first of all; `preference` is the canonical request's.
    `forbidden` is what its rights say against the purpose. `masked_url` is given where the recording itself was
    not masked by us.
    """

    id: str
    position: int
    cassette: int
    interaction: Interaction
    scope: Scope
    write: bool = False
    conditional: bool = False
    preference: bytes = b""
    forbidden: Finding | None = None
    masked_url: str | None = None

    @property
    def url(self) -> str:
        """The URL as people may see it."""
        return self.interaction.request.url if self.masked_url is None else self.masked_url

    @property
    def answers_conditions_only(self) -> bool:
        """Whether nobody who set no condition may be given this answer."""
        return self.interaction.response.status in _ONLY_CONDITIONAL

    def __str__(self) -> str:
        return f"{self.id} {self.interaction.request.method} {self.url}"


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """The recorded writes that name one resource, in order. Two are the same only if they are one object."""

    recordings: tuple[Recording, ...]
    positions: tuple[int, ...] = field(init=False)
    ranks: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        ranks: list[int] = []
        counts: dict[int, int] = {}
        for one in self.recordings:
            counts[one.cassette] = counts.get(one.cassette, 0) + 1
            ranks.append(counts[one.cassette])
        object.__setattr__(self, "positions", tuple(one.position for one in self.recordings))
        object.__setattr__(self, "ranks", tuple(ranks))

    def after(self, position: int) -> int:
        """The position of the first write after POSITION, beyond every position where there is none."""
        found = bisect_right(self.positions, position)
        return self.positions[found] if found < len(self.positions) else _END

    def within(self, cassette: int, position: int) -> int:
        """How many of the writes of CASSETTE, which POSITION is in, stand there or before."""
        upto = bisect_right(self.positions, position)
        last = upto and self.recordings[upto - 1].cassette == cassette
        return self.ranks[upto - 1] if last else 0

    def begun(self, recording: Recording) -> bool:
        """Whether a write of RECORDING's own cassette stands before it."""
        return self.within(recording.cassette, recording.position) > 0


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The recordings of one key, in order, and the writes that cover what they read.

    A series of writes is covered by none: its answers come in their order, whatever else was written.
    `alike` says that no request can choose among the recordings; `heads` are those before which their own
    cassette has no such write. `steady` is the one recording that answers always, whatever the episode has done:
    it is alone, chosen by nobody, covered by no write and none itself, allowed, and repeated. What it has been
    given how often is `Cursors.given` by its id. None where anything can change the answer.
    """

    recordings: tuple[Recording, ...]
    covering: tuple[Writes, ...] = ()
    rule: provider.Sequence = "repeat-last"
    positions: tuple[int, ...] = field(init=False)
    heads: tuple[int, ...] = field(init=False)
    preferences: frozenset[bytes] = field(init=False)
    alike: bool = field(init=False)
    steady: Recording | None = field(init=False)

    def __post_init__(self) -> None:
        numbered = enumerate(self.recordings)
        heads = tuple(at for at, one in numbered if not any(writes.begun(one) for writes in self.covering))
        preferences = frozenset(one.preference for one in self.recordings)
        for_all = not any(one.conditional or one.answers_conditions_only for one in self.recordings)
        object.__setattr__(self, "positions", tuple(one.position for one in self.recordings))
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "preferences", preferences)
        object.__setattr__(self, "alike", for_all and len(preferences) == 1)
        object.__setattr__(self, "steady", self._steady())

    def _steady(self) -> Recording | None:
        first = self.recordings[0]
        changes = len(self.recordings) > 1 or not self.alike or self.covering or self.rule == "once"
        return None if changes or first.write or first.forbidden else first


@dataclass(frozen=True, slots=True)
class Absent:
    """A key that is recorded, and has no answer now.

    `code` is `miss-unknown` or `miss-exhausted`. `awaits` is the recorded write that the answer waits for;
    `passed` is the made write after which nothing was recorded.
    """

    code: Literal["miss-unknown", "miss-exhausted"]
    awaits: Recording | None = None
    passed: Recording | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """The recordings that one kind of request goes through, one by one, and the cursor's name."""

    name: str
    recordings: Sequence[Recording]


class Cursors:
    """How far one episode has come: answers given per lane, and which recorded writes it has made.

    `given` counts the answers by the name of the lane: the id of its first recording and what chose among
    them.
    """

    __slots__ = ("_in_cassette", "_lanes", "_latest", "_made", "given")

    def __init__(self) -> None:
        self.given: dict[str, int] = {}
        self._made: set[int] = set()
        self._latest: dict[Writes, Recording] = {}
        self._in_cassette: dict[tuple[Writes, int], int] = {}
        self._lanes: dict[tuple[Series, int, bool, frozenset[bytes]], Lane | None] = {}

    def fork(self) -> Cursors:
        """Cursors that stand where these stand and move apart from them."""
        copy = Cursors()
        copy.given = self.given.copy()
        copy._made = self._made.copy()
        copy._latest = self._latest.copy()
        copy._in_cassette = self._in_cassette.copy()
        copy._lanes = self._lanes
        return copy

    def next(
        self, series: Series, *, conditional: bool = False, preferences: frozenset[bytes] = ANY
    ) -> Recording | Absent:
        """The recording of SERIES that answers now; the cursor moves past it.

        CONDITIONAL and PREFERENCES are those of the request: one preference per salt that masks it.
        """
        start, end = self.window(series)
        if start >= end:
            return self._absent(series)
        recordings: Sequence[Recording] = series.recordings
        name, first, count = series.recordings[start].id, start, end - start
        if not series.alike:
            lane = self._lane(series, (start, end), conditional, preferences)
            if lane is None:
                return Absent("miss-unknown")
            name, recordings, first, count = lane.name, lane.recordings, 0, len(lane.recordings)
        given = self.given.get(name, 0)
        at = place(given, count, series.rule)
        if at is None:
            return Absent("miss-exhausted")
        self.given[name] = given + 1
        return recordings[first + at]

    def _lane(
        self, series: Series, window: tuple[int, int], conditional: bool, preferences: frozenset[bytes]
    ) -> Lane | None:
        """What `choose` says, remembered: it depends on nothing that an episode does."""
        start, end = window
        known = preferences & series.preferences
        key = series, start, conditional, known
        if key not in self._lanes:
            self._lanes[key] = choose(series.recordings[start:end], conditional=conditional, preferences=known)
        return self._lanes[key]

    def make(self, write: Recording, writes: Writes) -> None:
        """WRITE, one of WRITES, has been answered: reads see it from now on; again changes nothing."""
        if write.position in self._made:
            return
        self._made.add(write.position)
        key = writes, write.cassette
        self._in_cassette[key] = self._in_cassette.get(key, 0) + 1
        latest = self._latest.get(writes)
        if latest is None or latest.position < write.position:
            self._latest[writes] = write

    def window(self, series: Series) -> tuple[int, int]:
        """From which recording of SERIES on, and before which, the answers are taken.

        Both are the same where there is none.
        """
        covering = series.covering
        count = len(series.recordings)
        if not covering:
            return 0, count
        latest = self._latest_of(covering)
        after = latest.position if latest else -1
        start = bisect_right(series.positions, after)
        end = min(writes.after(after) for writes in covering)
        if not (latest and start < count and series.positions[start] < end and self._whole(covering, latest)):
            head = bisect_left(series.heads, start)
            start = series.heads[head] if head < len(series.heads) else count
        if start == count:
            return count, count
        end = min(writes.after(series.positions[start]) for writes in covering)
        return start, bisect_right(series.positions, end)

    def _latest_of(self, covering: tuple[Writes, ...]) -> Recording | None:
        made = [self._latest[writes] for writes in covering if writes in self._latest]
        return max(made, key=lambda one: one.position, default=None)

    def _whole(self, covering: tuple[Writes, ...], latest: Recording) -> bool:
        """Whether the covering writes of LATEST's cassette up to it have all been made."""
        cassette = latest.cassette
        return all(
            self._in_cassette.get((writes, cassette), 0) == writes.within(cassette, latest.position)
            for writes in covering
        )

    def _absent(self, series: Series) -> Absent:
        """Which write stands between the request and the recordings of SERIES."""
        latest = self._latest_of(series.covering)
        after = latest.position if latest else -1
        following = next((one for one in series.recordings if one.position > after), None)
        if following is None:
            return Absent("miss-unknown", passed=latest)
        missing = (
            write
            for writes in series.covering
            for write in writes.recordings
            if write.cassette == following.cassette
            and write.position < following.position
            and write.position not in self._made
        )
        return Absent("miss-unknown", awaits=min(missing, key=lambda one: one.position))


def choose(window: Sequence[Recording], *, conditional: bool, preferences: frozenset[bytes]) -> Lane | None:
    """Of the recordings of WINDOW those that a request goes through; None where none may answer it.

    A conditional request prefers what was asked with a condition, any other what was asked without;
    recordings of the request's own preference come before all.
    """
    plain = [one for one in window if not one.conditional and not one.answers_conditions_only]
    asked = [one for one in window if one.conditional or one.answers_conditions_only]
    fresh = [one for one in asked if not one.answers_conditions_only]
    kinds = (("conditional", asked), ("", plain)) if conditional else (("", plain), ("fresh", fresh))
    kind, found = next(((kind, those) for kind, those in kinds if those), ("", None))
    if found is None:
        return None
    own = [one for one in found if one.preference in preferences]
    marks = [kind] if kind else []
    if own and len(own) < len(found):
        found = own
        marks.append(f"own:{own[0].id}")
    return Lane("~".join([window[0].id, *marks]), found)


def place(given: int, count: int, rule: provider.Sequence) -> int | None:
    """Which of COUNT answers comes after GIVEN have been given under RULE; None where they are used up."""
    if given < count:
        return given
    return {"repeat-last": count - 1, "cycle": given % count, "once": None}[rule]
