"""The sequencing law: which of the recordings of one key answers next (docs/adr/0003).

The recordings of a library stand in one order. Those of one key are a `Series`. What an episode has used up
of them, and which recorded writes it has made, are its `Cursors`; nothing else decides, so that the answers
to a set of requests do not depend on the order in which they arrive, save where a read overlaps a write to
what it reads.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from replayproxy.core import provider
from replayproxy.core.series import Recording, Scope, Series, Writes

__all__ = ["ANY", "Absent", "Cursors", "Lane", "Made", "Recording", "Scope", "Series", "Writes", "choose", "place"]

ANY: frozenset[bytes] = frozenset()
"""The preferences of a request that prefers nothing."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A key that is recorded, and has no answer now.

    `code` is `miss-unknown` or `miss-exhausted`. `awaits` is the recorded write that the answer waits for;
    `passed` is the made write after which nothing was recorded.
    """

    code: Literal["miss-unknown", "miss-exhausted"]
    awaits: Recording | None = None
    passed: Recording | None = None


class Made(NamedTuple):
    """A recorded write that an episode has made: where it stands. The greater is the later."""

    position: int
    cassette: int


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
        self._latest: dict[int, Made] = {}
        self._in_cassette: dict[tuple[int, int], int] = {}
        self._lanes: dict[tuple[bytes, int, bool, frozenset[bytes]], Lane | None] = {}

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
        first, count = start, end - start
        if series.alike:
            name = series.recordings[start].id
        else:
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
        key = series.mark, start, conditional, known
        if key not in self._lanes:
            self._lanes[key] = choose(series.recordings[start:end], conditional=conditional, preferences=known)
        return self._lanes[key]

    def make(self, write: Recording, writes: Writes) -> None:
        """WRITE, one of WRITES, has been answered: reads see it from now on; again changes nothing."""
        if write.position in self._made:
            return
        self._made.add(write.position)
        key = writes.name, write.cassette
        self._in_cassette[key] = self._in_cassette.get(key, 0) + 1
        made = Made(write.position, write.cassette)
        self._latest[writes.name] = max(made, self._latest.get(writes.name, made))

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

    def _latest_of(self, covering: tuple[Writes, ...]) -> Made | None:
        return max((self._latest[writes.name] for writes in covering if writes.name in self._latest), default=None)

    def _whole(self, covering: tuple[Writes, ...], latest: Made) -> bool:
        """Whether the covering writes of LATEST's cassette up to it have all been made."""
        cassette = latest.cassette
        return all(
            self._in_cassette.get((writes.name, cassette), 0) == writes.within(cassette, latest.position)
            for writes in covering
        )

    def _absent(self, series: Series) -> Absent:
        """Which write stands between the request and the recordings of SERIES."""
        shelf = series.covering[0].recordings
        latest = self._latest_of(series.covering)
        at = bisect_right(series.positions, latest.position if latest else -1)
        if at == len(series.positions):
            return Absent("miss-unknown", passed=shelf[latest.position] if latest else None)
        following = series.recordings[at]
        missing = (
            position
            for writes in series.covering
            for position, cassette in zip(writes.positions, writes.cassettes, strict=True)
            if cassette == following.cassette and position < following.position and position not in self._made
        )
        return Absent("miss-unknown", awaits=shelf[min(missing)])


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
