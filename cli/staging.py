"""What a replay serves, made ready before anything listens: cassettes read and judged, and the default episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from replayproxy.core.clock import Clock
from replayproxy.core.episode import Episode
from replayproxy.core.episodes import Episodes
from replayproxy.core.exchange import Blob
from replayproxy.core.library import Library
from replayproxy.replay.service import ReplayService
from replayproxy.settings import Settings
from replayproxy.store import Source, Stocking

from .days import today
from .loading import cassette_paths
from .options import say


@dataclass(frozen=True, slots=True)
class Stage:
    """What is served, and to whom: built before anything listens."""

    sources: Sequence[Source]
    library: Library
    episodes: Episodes
    service: ReplayService

    @property
    def default(self) -> Episode:
        """The episode of clients that name none."""
        episode = self.episodes.of_user(None)
        assert episode is not None
        return episode


def build(
    paths: Sequence[str],
    settings: Settings,
    state_dir: Path,
    *,
    purpose: str,
    seed: int,
    clock: str,
    quiet: bool = False,
) -> Stage:
    """Cassettes read, or their index, and judged, and the default episode; raises for anything that cannot be served.

    An index may be made in STATE_DIR; that it was is told, unless QUIET.
    """
    stocking = Stocking(
        providers=settings.providers,
        purpose=purpose,
        today=today(),
        state_dir=state_dir,
        tell=lambda text: say(text, quiet=quiet),
    )
    stock = stocking.stock(cassette_paths(paths, settings))
    for source in stock.sources:
        for warning in source.warnings:
            say(f"warning: {warning}")
    sources, library = stock.sources, stock.library

    def open_blob(cassette: int, blob: Blob) -> BinaryIO:
        return sources[cassette].blobs.path(blob).open("rb")

    Clock.parse(clock, library.recorded_us)  # a mistake is told before anything is served
    episodes = Episodes(library, seed=seed, clock=clock)
    return Stage(sources, library, episodes, ReplayService(library, episodes, open_blob))
