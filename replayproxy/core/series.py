"""What stands in a library: recordings, those of one key as a series, and the writes that cover what they read.

None of them holds what it can fetch: they are made of positions, so that a library of any size can lie in a file.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, overload

from replayproxy.core import provider
from replayproxy.core.exchange import Interaction, Origin, Request
from replayproxy.core.rights import Finding

_ONLY_CONDITIONAL = frozenset({304, 412})
"""Statuses that answer a condition (RFC 9110 section 13.2.2) and so nobody who set none."""
_END = 1 << 62


class ByPosition[T](Protocol):
    """What a library holds one of for each position: in memory, or fetched from where it lies."""

    def __getitem__(self, position: int, /) -> T:
        """The one at POSITION; raises where it cannot be had."""


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
    """An interaction in its place among all recordings of a library; the interaction itself is fetched when asked for.

    `position` counts them from 0, `cassette` the cassettes. `id` is unique in the library. `url` is as people may
    see it; `unmasked` says that the recording itself was not masked by us. `conditional` says that it answers
    conditional requests first of all; `preference` is the canonical request's. `forbidden` is what its rights say
    against the purpose. `fault` is the kind of the transport fault that it ends in, "" for none.
    """

    id: str
    position: int
    cassette: int
    method: str
    url: str
    status: int
    interactions: ByPosition[Interaction] = field(repr=False, compare=False)
    unmasked: bool = False
    write: bool = False
    conditional: bool = False
    preference: bytes = b""
    forbidden: Finding | None = None
    fault: str = ""

    @classmethod
    def of(cls, interaction: Interaction, interactions: ByPosition[Interaction], position: int, **more: Any) -> Self:
        """The recording of INTERACTION, which INTERACTIONS give at POSITION; MORE are its other fields."""
        request, response = interaction.request, interaction.response
        told: dict[str, Any] = {"id": interaction.id, "cassette": 0, "url": request.url, **more}
        fault = response.fault.kind if response.fault else ""
        return cls(
            position=position,
            method=request.method,
            status=response.status,
            interactions=interactions,
            fault=fault,
            **told,
        )

    @property
    def interaction(self) -> Interaction:
        """What was asked and answered."""
        return self.interactions[self.position]

    @property
    def scope(self) -> Scope:
        """The resource that it names."""
        return Scope.of(self.interaction.request)

    @property
    def answers_conditions_only(self) -> bool:
        """Whether nobody who set no condition may be given this answer."""
        return self.status in _ONLY_CONDITIONAL

    def __str__(self) -> str:
        return f"{self.id} {self.method} {self.url}"


class Picked(Sequence[Recording]):
    """Of all recordings those at POSITIONS, each fetched when it is asked for."""

    __slots__ = ("_positions", "_recordings")

    def __init__(self, recordings: ByPosition[Recording], positions: Sequence[int]) -> None:
        self._recordings = recordings
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, at: int) -> Recording: ...

    @overload
    def __getitem__(self, at: slice) -> Picked: ...

    def __getitem__(self, at: int | slice) -> Recording | Picked:
        if isinstance(at, slice):
            return Picked(self._recordings, self._positions[at])
        return self._recordings[self._positions[at]]


@dataclass(frozen=True, slots=True, eq=False)
class Writes:
    """The recorded writes that name one resource: where they stand, and in which cassettes.

    A write names one resource, so that the first of them tells whose they are: two are equal if their first is, within
    one library. `recordings` are all those of the library.
    """

    positions: Sequence[int]
    cassettes: Sequence[int]
    recordings: ByPosition[Recording] = field(repr=False)
    ranks: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        ranks = array("Q")
        counts: dict[int, int] = {}
        for cassette in self.cassettes:
            counts[cassette] = counts.get(cassette, 0) + 1
            ranks.append(counts[cassette])
        object.__setattr__(self, "ranks", ranks)

    @classmethod
    def of(cls, own: Sequence[Recording], recordings: ByPosition[Recording]) -> Self:
        """The writes OWN, of one resource, among RECORDINGS."""
        return cls(array("Q", (one.position for one in own)), array("Q", (one.cassette for one in own)), recordings)

    @property
    def name(self) -> int:
        """What tells them from those of other resources."""
        return self.positions[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Writes) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def after(self, position: int) -> int:
        """The position of the first write after POSITION, beyond every position where there is none."""
        found = bisect_right(self.positions, position)
        return self.positions[found] if found < len(self.positions) else _END

    def within(self, cassette: int, position: int) -> int:
        """How many of the writes of CASSETTE, which POSITION is in, stand there or before."""
        upto = bisect_right(self.positions, position)
        last = upto and self.cassettes[upto - 1] == cassette
        return self.ranks[upto - 1] if last else 0

    def begun(self, recording: Recording) -> bool:
        """Whether a write of RECORDING's own cassette stands before it."""
        return self.within(recording.cassette, recording.position) > 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Series:
    """The recordings of one key, in order, and the writes that cover what they read; made by `of`.

    A series of writes is covered by none: its answers come in their order, whatever else was written.
    `alike` says that no request can choose among the recordings; `heads` are those before which their own
    cassette has no such write. `steady` is the one recording that answers always, whatever the episode has done:
    it is alone, chosen by nobody, covered by no write, allowed, and repeated; if it is a write, it is still made.
    What it has been given how often is the cursor of its id. None where anything can change the answer.
    """

    recordings: Sequence[Recording]
    positions: Sequence[int]
    heads: Sequence[int]
    preferences: frozenset[bytes]
    alike: bool
    covering: tuple[Writes, ...] = ()
    rule: provider.Sequence = "repeat-last"
    steady: Recording | None = field(init=False)
    mark: bytes = field(init=False)
    """Tells it from every other series of the library: made of its positions."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steady", self._steady())
        octets = array("Q", self.positions).tobytes()
        object.__setattr__(self, "mark", octets if len(octets) <= 32 else hashlib.sha256(octets).digest())

    @classmethod
    def of(
        cls, recordings: Sequence[Recording], covering: tuple[Writes, ...] = (), rule: provider.Sequence = "repeat-last"
    ) -> Self:
        """The series of RECORDINGS, in their order, which COVERING cover."""
        heads = (at for at, one in enumerate(recordings) if not any(writes.begun(one) for writes in covering))
        preferences = frozenset(one.preference for one in recordings)
        for_all = not any(one.conditional or one.answers_conditions_only for one in recordings)
        return cls(
            recordings=recordings,
            positions=array("Q", (one.position for one in recordings)),
            heads=array("Q", heads),
            preferences=preferences,
            alike=for_all and len(preferences) == 1,
            covering=covering,
            rule=rule,
        )

    def _steady(self) -> Recording | None:
        if len(self.positions) > 1 or not self.alike or self.covering or self.rule == "once":
            return None
        first = self.recordings[0]
        return None if first.forbidden else first
