"""One run of an environment: its seed, its clock, its cursors, and the journal of what was asked and decided.

An episode shares nothing with another but the library, which never changes. It is a mutable object that can be forked,
not a value: an answer moves one cursor and adds one line (docs/adr/0003 says why).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from replayproxy.core.clock import Clock
from replayproxy.core.digest import digest
from replayproxy.core.library import Library, Question
from replayproxy.core.sequence import Absent, Cursors, Recording, Series, Writes

type Outcome = Literal["served", "miss", "refused"]


@dataclass(slots=True)
class Entry:
    """One line of the journal.

    `recording` is what answered or was refused, else None and `method` and `url` are those of the masked request.
    `overlaps` is set where a read overlaps a write to what it reads: then the law does not say which of the two
    answers it gets.
    """

    n: int
    outcome: Outcome
    recording: Recording | None = None
    code: str = ""
    status: int = 0
    method: str = ""
    url: str = ""
    overlaps: bool = False

    def to_dict(self) -> dict[str, object]:
        """The line as plain values."""
        recording = self.recording
        line: dict[str, object] = {
            "n": self.n,
            "method": recording.interaction.request.method if recording else self.method,
            "url": recording.url if recording else self.url,
            "decision": self.outcome,
            "status": self.status,
        }
        if recording:
            line["interaction"] = recording.id
        if self.code:
            line["code"] = self.code
        if self.overlaps:
            line["overlaps"] = True
        return line


@dataclass(slots=True)
class _Open:
    """An exchange that has begun and not ended: what it reads or the writes that it is one of."""

    entry: Entry
    reads: tuple[Writes, ...] = ()
    makes: Writes | None = None


class Episode:
    """A run of LIBRARY under SEED (0 or more), as of CLOCK.

    Every request is told by `served`, `missed` or `refused`, which number the journal from 1.
    """

    __slots__ = (
        "_misses", "_open", "_refusals", "_served", "_taken", "clock", "cursors", "id", "journal", "library", "seed",
    )  # fmt: skip

    def __init__(self, id: str, seed: int, library: Library, clock: Clock) -> None:  # noqa: A002 - its name
        self.id = id
        self.seed = seed
        self.library = library
        self.clock = clock
        self.cursors = Cursors()
        self.journal: list[Entry] = []
        self._taken = 0
        self._served: dict[int, int] = {}
        self._misses: Counter[tuple[str, str]] = Counter()
        self._refusals: Counter[tuple[str, str]] = Counter()
        self._open: dict[int, _Open] = {}

    def fork(self) -> Episode:
        """An episode that stands where this one stands and moves apart from it; nothing in it is in flight."""
        copy = Episode(self.id, self.seed, self.library, self.clock)
        copy.cursors = self.cursors.fork()
        copy.journal = self.journal.copy()
        for one in self._open.values():  # only these lines can still change
            copy.journal[one.entry.n - 1] = replace(one.entry)
        copy._taken = len(self.journal)
        copy._served = self._served.copy()
        copy._misses = self._misses.copy()
        copy._refusals = self._refusals.copy()
        return copy

    # -- what happens ---------------------------------------------------------------------------

    def next(self, series: Series, question: Question, *, conditional: bool) -> Recording | Absent:
        """The recording of SERIES that answers QUESTION now; its cursor moves."""
        return self.cursors.next(series, conditional=conditional, preferences=question.preferences)

    def served(self, recording: Recording) -> Entry:
        """RECORDING answers a request; if it is a write, reads see it from now on."""
        position = recording.position
        self._served[position] = self._served.get(position, 0) + 1
        if recording.write:
            self.cursors.make(recording, self.library.writes[recording.scope])
        return self._line(Entry(len(self.journal) + 1, "served", recording, "", recording.interaction.response.status))

    def missed(self, question: Question, code: str, status: int, method: str, url: str) -> Entry:
        """QUESTION has no answer, for the reason CODE; METHOD and URL are those of the masked request."""
        self._misses[code, question.key.hex()] += 1
        return self._line(Entry(len(self.journal) + 1, "miss", None, code, status, method, url))

    def refused(self, recording: Recording | None, code: str, status: int, method: str, url: str) -> Entry:
        """A request is refused for the reason CODE: RECORDING would have answered it, or None is known."""
        self._refusals[code, recording.id if recording else ""] += 1
        return self._line(Entry(len(self.journal) + 1, "refused", recording, code, status, method, url))

    def _line(self, entry: Entry) -> Entry:
        self.journal.append(entry)
        return entry

    def begin(self, entry: Entry, series: Series | None) -> None:
        """The exchange of ENTRY, which SERIES was asked for, is in flight from now until `finish`.

        Where a read and a write to what it reads are in flight together, the read's line says so, whichever came
        first.
        """
        recording = entry.recording
        if recording and recording.write and entry.outcome == "served":
            writes = self.library.writes[recording.scope]
            self._open[entry.n] = _Open(entry, makes=writes)
            for one in self._open.values():
                one.entry.overlaps = one.entry.overlaps or writes in one.reads
        elif series and series.covering:
            self._open[entry.n] = _Open(entry, reads=series.covering)
            entry.overlaps = any(one.makes in series.covering for one in self._open.values())

    def finish(self, entry: Entry) -> None:
        """The exchange of ENTRY has ended, or its client is gone."""
        self._open.pop(entry.n, None)

    def advance(self, seconds: float) -> None:
        """The clock moves by SECONDS; raises UsageError where no clock can."""
        self.clock = self.clock.advance(seconds)

    # -- what there is --------------------------------------------------------------------------

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were served, missed and refused."""
        return {
            "served": sum(self._served.values()),
            "misses": self._misses.total(),
            "refusals": self._refusals.total(),
        }

    def take_lines(self) -> list[Entry]:
        """The lines of the journal since this was last called, or since the fork: each line is given once."""
        taken, self._taken = self._taken, len(self.journal)
        return self.journal[taken:]

    def unused(self) -> list[Recording]:
        """The recordings that have not been served, in their order."""
        return [one for one in self.library.recordings if one.position not in self._served]

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
            "cursors": dict(self.cursors.given),
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
        recordings = self.library.recordings
        return [
            self.library.digest,
            {recordings[position].id: count for position, count in self._served.items()},
            _multiset(self._misses),
            _multiset(self._refusals),
            self.cursors.given,
        ]


def _multiset(counts: Counter[tuple[str, str]]) -> list[list[object]]:
    return [[*item, count] for item, count in sorted(counts.items())]
