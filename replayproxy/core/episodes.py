"""The episodes of one proxy, by id, and the snapshots that were taken of them.

An episode is replaced on reset, never cleared: whoever still holds the old one goes on in it and meets no other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from replayproxy.core.clock import Clock
from replayproxy.core.episode import Episode
from replayproxy.core.errors import UsageError
from replayproxy.core.journal import Kind
from replayproxy.core.library import Library

DEFAULT = "default"
_ID = re.compile(r"[A-Za-z0-9._~-]{1,64}")
"""What can stand as the user of a proxy URL without being escaped (RFC 3986 section 2.3)."""


@dataclass(slots=True)
class Tally:
    """What was asked over several episodes: recordings served, by position; requests missed and refused, masked."""

    served: Counter[int] = field(default_factory=Counter)
    misses: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)

    def add(self, lines: Iterable[Kind]) -> None:
        """Count LINES of a journal too."""
        for line in lines:
            if line.outcome == "served" and line.position is not None:
                self.served[line.position] += 1
                continue
            counted = self.misses if line.outcome == "miss" else self.refusals
            counted[f"{line.method} {line.url}"] += 1

    def __str__(self) -> str:
        return f"served {self.served.total()}, missed {self.misses.total()}, refused {self.refusals.total()}"


class Episodes:
    """Episodes of LIBRARY. `default` is there from the start, under SEED and CLOCK, which later ones inherit."""

    def __init__(self, library: Library, *, seed: int, clock: str) -> None:
        self._library = library
        self._first_seed = seed
        self._last_seed: int | None = None
        self._clock = clock
        self._episodes: dict[str, Episode] = {}
        self._snapshots: dict[str, Episode] = {}
        self._total = Tally()
        self.resets = 0
        self._episodes[DEFAULT] = self._fresh(DEFAULT, seed, clock)

    def of_user(self, user: str | None) -> Episode | None:
        """The episode that a proxy user name stands for, the default one for None; None if there is none."""
        return self._episodes.get(DEFAULT if user is None else user)

    def get(self, id: str) -> Episode:  # noqa: A002 - its name
        """The episode ID; raises UsageError where there is none."""
        if id not in self._episodes:
            raise UsageError(f"there is no episode {id!r}", hint='make it: POST /reset {"episode": …}')
        return self._episodes[id]

    def all(self) -> list[Episode]:
        """Every episode, in the order in which they were first made."""
        return list(self._episodes.values())

    def total(self) -> Tally:
        """What was asked since the start, of these episodes and of all that were reset or restored over."""
        for episode in self._episodes.values():
            self._total.add(episode.take_lines())
        return self._total

    def reset(self, seed: int | None, id: str = DEFAULT, clock: str | None = None) -> Episode:  # noqa: A002
        """A fresh episode ID; without SEED under the last one plus 1, and the first under the seed of the start.

        Raises UsageError for a clock that there is not and an id that no proxy URL can carry; nothing has changed then.
        """
        if not _ID.fullmatch(id):
            raise UsageError(
                f"{id[:80]!r} is no id for an episode",
                hint="use up to 64 letters, digits, dots, dashes, tildes and underscores",
            )
        if seed is None:
            seed = self._first_seed if self._last_seed is None else self._last_seed + 1
        fresh = self._fresh(id, seed, clock or self._clock)
        self._last_seed = seed
        self._place(fresh)
        self.resets += 1
        return fresh

    def snapshot(self, id: str = DEFAULT) -> str:  # noqa: A002
        """Keep where episode ID stands; the name to restore it by."""
        name = f"snapshot-{len(self._snapshots) + 1}"
        self._snapshots[name] = self.get(id).fork()
        return name

    def restore(self, name: str) -> Episode:
        """The episode of snapshot NAME stands where it stood; raises UsageError where there is no such snapshot."""
        if name not in self._snapshots:
            raise UsageError(f"there is no snapshot {name!r}", hint="take one: POST /snapshot")
        restored = self._snapshots[name].fork()
        self._place(restored)
        return restored

    def _place(self, episode: Episode) -> None:
        """EPISODE stands in the place of the one of its id, whose doings stay counted."""
        replaced = self._episodes.get(episode.id)
        if replaced:
            self._total.add(replaced.take_lines())
        self._episodes[episode.id] = episode

    def _fresh(self, id: str, seed: int, clock: str) -> Episode:  # noqa: A002
        return Episode(id, seed, self._library, Clock.parse(clock, self._library.recorded_us))
