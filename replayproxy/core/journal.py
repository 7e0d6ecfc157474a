"""What one episode was asked, and what was decided, line by line, in a few octets a line.

Thousands of episodes of thousands of requests live in one process, so a line is a number: the position of the recording
that answered, or the place of a description that all lines of its kind share.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from replayproxy.core.sequence import Recording

type Outcome = Literal["served", "miss", "refused"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a line says apart from its number; lines of one kind share it.

    `position` is that of the recording that answered or was refused, else None, and `method` and `url` are those of the
    masked request. `overlaps` is set where a read overlaps a write to what it reads: then the law does not say which of
    the two answers it gets.
    """

    outcome: Outcome
    position: int | None = None
    code: str = ""
    status: int = 0
    method: str = ""
    url: str = ""
    overlaps: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """Line N of a journal, counted from 1, and the recording it tells of."""

    n: int
    kind: Kind
    recording: Recording | None = None

    @property
    def outcome(self) -> Outcome:
        """What was decided."""
        return self.kind.outcome

    @property
    def status(self) -> int:
        """The status that the client was sent."""
        if self.kind.outcome == "served" and self.recording is not None:
            return self.recording.interaction.response.status
        return self.kind.status

    @property
    def overlaps(self) -> bool:
        """Whether it tells of a read that overlaps a write to what it reads."""
        return self.kind.overlaps

    def to_dict(self) -> dict[str, object]:
        """The line as plain values."""
        kind, recording = self.kind, self.recording
        line: dict[str, object] = {
            "n": self.n,
            "method": recording.interaction.request.method if recording else kind.method,
            "url": recording.url if recording else kind.url,
            "decision": kind.outcome,
            "status": self.status,
        }
        if recording:
            line["interaction"] = recording.id
        if kind.code:
            line["code"] = kind.code
        if kind.overlaps:
            line["overlaps"] = True
        return line


class Journal:
    """Lines about RECORDINGS, in the order in which they were told; `fork` copies 1,000 of them in microseconds."""

    __slots__ = ("_kinds", "_numbers", "_recordings", "tell")

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._recordings = recordings
        self._numbers = array("i")
        self._kinds: dict[Kind, int] = {}
        self.tell = self._numbers.append
        """Adds the line that the recording of this position has answered; the one call on the hot path."""

    def add(self, kind: Kind) -> int:
        """A line of KIND is added; its number."""
        self._numbers.append(self._numbered(kind))
        return len(self._numbers)

    def overlap(self, n: int) -> None:
        """Line N tells of a read that overlaps a write."""
        self._numbers[n - 1] = self._numbered(replace(self._kind(self._numbers[n - 1]), overlaps=True))

    def fork(self) -> Journal:
        """A journal of the same lines; what is added to one is not added to the other."""
        copy = Journal(self._recordings)
        copy._numbers.extend(self._numbers)
        copy._kinds = self._kinds.copy()
        return copy

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Entry]:
        return self.after(0)

    def __getitem__(self, index: int) -> Entry:
        n = range(len(self._numbers))[index] + 1
        return next(self.after(n - 1))

    def after(self, count: int) -> Iterator[Entry]:
        """The lines behind the first COUNT, those that there are now."""
        kinds = tuple(self._kinds)
        for n in range(count, len(self._numbers)):
            number = self._numbers[n]
            kind = kinds[~number] if number < 0 else Kind("served", number)
            yield Entry(n + 1, kind, None if kind.position is None else self._recordings[kind.position])

    def kinds(self, start: int) -> Iterator[Kind]:
        """What the lines behind the first START say; the recordings are not looked at."""
        kinds = tuple(self._kinds)
        return (kinds[~number] if number < 0 else Kind("served", number) for number in self._numbers[start:])

    def _numbered(self, kind: Kind) -> int:
        """KIND as a number below 0, the same each time."""
        return ~self._kinds.setdefault(kind, len(self._kinds))

    def _kind(self, number: int) -> Kind:
        return tuple(self._kinds)[~number] if number < 0 else Kind("served", number)
