"""One run of an environment: its seed, its clock, its cursors, and the journal of what was asked and decided.

An episode shares nothing with another but the library, which never changes. It is a mutable object that can be forked,
not a value: an answer moves one cursor and adds one line (docs/adr/0003 says why).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from replayproxy.core.clock import Clock
from replayproxy.core.digest import digest
from replayproxy.core.journal import Journal, Kind
from replayproxy.core.library import Library, Question
from replayproxy.core.sequence import Absent, Cursors, Recording, Series, Writes


@dataclass(slots=True)
class _Open:
    """An exchange that has begun and not ended: what it reads or the writes that it is one of."""

    n: int
    reads: tuple[Writes, ...] = ()
    makes: Writes | None = None


class Episode:
    """A run of LIBRARY under SEED (0 or more), as of CLOCK.

    Every request is told by `served`, `steadily`, `missed` or `refused`, which number the journal from 1.
    """

    __slots__ = (
        "_cursors", "_misses", "_open", "_refusals", "_served", "_steady", "_taken", "clock", "id", "journal",
        "library", "seed",
    )  # fmt: skip

    def __init__(self, id: str, seed: int, library: Library, clock: Clock) -> None:  # noqa: A002 - its name
        self.id = id
        self.seed = seed
        self.library = library
        self.clock = clock
        self.journal = Journal(library.recordings)
        self._cursors = Cursors()
        self._taken = 0
        self._served: dict[int, int] = {}
        self._steady: dict[int, int] = {}
        self._misses: Counter[tuple[str, str]] = Counter()
        self._refusals: Counter[tuple[str, str]] = Counter()
        self._open: dict[int, _Open] = {}

    def fork(self) -> Episode:
        """An episode that stands where this one stands and moves apart from it; nothing in it is in flight."""
        copy = Episode(self.id, self.seed, self.library, self.clock)
        copy.journal = self.journal.fork()
        copy._cursors = self._cursors.fork()
        copy._taken = len(self.journal)
        copy._served = self._served.copy()
        copy._steady = self._steady.copy()
        copy._misses = self._misses.copy()
        copy._refusals = self._refusals.copy()
        return copy

    # -- what happens ---------------------------------------------------------------------------

    def next(self, series: Series, question: Question, *, conditional: bool) -> Recording | Absent:
        """The recording of SERIES that answers QUESTION now; its cursor moves."""
        steady = series.steady
        if steady is not None:
            return steady
        return self._cursors.next(series, conditional=conditional, preferences=question.preferences)

    def served(self, recording: Recording, *, steady: bool = False) -> int:
        """RECORDING answers a request; if it is a write, reads see it from now on. The line's number.

        STEADY for the one answer of a steady series.
        """
        position = recording.position
        counts = self._steady if steady else self._served
        counts[position] = counts.get(position, 0) + 1
        if recording.write:
            self._cursors.make(recording, self.library.writes[recording.scope])
        self.journal.tell(position)
        return len(self.journal)

    def steadily(self, position: int) -> None:
        """The recording of POSITION, no write and the only one of a steady series, answers a request."""
        steady = self._steady
        steady[position] = steady.get(position, 0) + 1
        self.journal.tell(position)

    def written(self, recording: Recording, writes: Writes) -> None:
        """RECORDING, one of WRITES and the only one of a steady series, answers a request, which ends at once."""
        position = recording.position
        steady = self._steady
        steady[position] = steady.get(position, 0) + 1
        self._cursors.make(recording, writes)
        self.journal.tell(position)
        if self._open:
            self._overlapping(writes)

    def missed(self, key: str, kind: Kind) -> int:
        """A request has no answer, as KIND tells; KEY is its key in hex. The line's number."""
        self._misses[kind.code, key] += 1
        return self.journal.add(kind)

    def refused(self, recording: Recording | None, kind: Kind) -> int:
        """A request is refused, as KIND tells; RECORDING would have answered it, or None is known."""
        self._refusals[kind.code, recording.id if recording else ""] += 1
        return self.journal.add(kind)

    def begin(self, n: int, recording: Recording | None, series: Series | None) -> None:
        """The exchange of line N, which SERIES was asked for and RECORDING answers, is in flight until `finish`.

        Where a read and a write to what it reads are in flight together, the read's line says so, whichever came
        first.
        """
        if recording and recording.write:
            writes = self.library.writes[recording.scope]
            self._open[n] = _Open(n, makes=writes)
            self._overlapping(writes)
        elif series and series.covering:
            self._open[n] = _Open(n, reads=series.covering)
            if any(one.makes in series.covering for one in self._open.values()):
                self.journal.overlap(n)

    def _overlapping(self, writes: Writes) -> None:
        """The lines of the reads in flight that WRITES cover say so."""
        for one in self._open.values():
            if writes in one.reads:
                self.journal.overlap(one.n)

    def finish(self, n: int) -> None:
        """The exchange of line N has ended, or its client is gone."""
        self._open.pop(n, None)

    def advance(self, seconds: float) -> None:
        """The clock moves by SECONDS; raises UsageError where no clock can."""
        self.clock = self.clock.advance(seconds)

    # -- what there is --------------------------------------------------------------------------

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were served, missed and refused."""
        return {
            "served": sum(self._served.values()) + sum(self._steady.values()),
            "misses": self._misses.total(),
            "refusals": self._refusals.total(),
        }

    @property
    def cursors(self) -> dict[str, int]:
        """How many answers were given, by the name of the cursor that counts them."""
        given = self._cursors.given.copy()
        for name, count in self._named(self._steady).items():
            given[name] = given.get(name, 0) + count
        return given

    def take_lines(self) -> list[Kind]:
        """What the lines of the journal say since this was last called, or since the fork: each is given once."""
        taken, self._taken = self._taken, len(self.journal)
        return list(self.journal.kinds(taken))

    def has_served(self, position: int) -> bool:
        """Whether the recording of POSITION has been served."""
        return position in self._served or position in self._steady

    def unused(self) -> list[Recording]:
        """The recordings that have not been served, in their order."""
        return [one for one in self.library.recordings if not self.has_served(one.position)]

    def state(self) -> dict[str, object]:
        """What `GET /state` tells. `digest` covers all but the episode's id; neither depends on arrival order."""
        return {
            "episode": self.id,
            "seed": self.seed,
            "worlds": 1,
            "now": self.clock.now,
            "running": False,
            **self.counts,
            "unused": [str(one) for one in self.unused()],
            "cursors": self.cursors,
            "digest": self.digest,
            "world": self.world,
        }

    @property
    def digest(self) -> str:
        """SHA-256 over the library, the seed, the moment, and all that was served, missed and refused how often."""
        return digest([*self._contents(), self.seed, self.clock.now])

    @property
    def world(self) -> str:
        """The same without the seed and the moment."""
        return digest(self._contents())

    def _contents(self) -> list[object]:
        return [
            self.library.digest,
            self._named(self._served) | self._named(self._steady),
            _multiset(self._misses),
            _multiset(self._refusals),
            self.cursors,
        ]

    def _named(self, counts: Mapping[int, int]) -> dict[str, int]:
        recordings = self.library.recordings
        return {recordings[position].id: count for position, count in counts.items()}


def _multiset(counts: Counter[tuple[str, str]]) -> list[list[object]]:
    return [[*item, count] for item, count in sorted(counts.items())]
