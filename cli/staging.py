"""What a replay serves, made ready before anything listens: cassettes read and judged, and the default episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from replayproxy.core.clock import Clock
from replayproxy.core.episode import Episode
from replayproxy.core.episodes import Episodes
from replayproxy.core.exchange import Blob
from replayproxy.core.library import Library
from replayproxy.replay.service import ReplayService
from replayproxy.settings import Settings
from replayproxy.store import Loaded

from .audit import today
from .loading import cassette_paths, load_all


@dataclass(frozen=True, slots=True)
class Stage:
    """What is served, and to whom: built before anything listens."""

    loaded: Sequence[Loaded]
    library: Library
    episodes: Episodes
    service: ReplayService

    @property
    def default(self) -> Episode:
        """The episode of clients that name none."""
        episode = self.episodes.of_user(None)
        assert episode is not None
        return episode


def build(paths: Sequence[str], settings: Settings, *, purpose: str, seed: int, clock: str) -> Stage:
    """Cassettes read and judged, and the default episode; raises for anything that cannot be served."""
    loaded = load_all(cassette_paths(paths, settings), with_pending=True)

    def open_blob(cassette: int, blob: Blob) -> BinaryIO:
        return loaded[cassette].blobs.path(blob).open("rb")

    by_name = {id(one.cassette): one.blobs for one in loaded}
    library = Library.build(
        [one.cassette for one in loaded],
        settings.providers,
        purpose=purpose,
        today=today(),
        read=lambda cassette, blob: by_name[id(cassette)].read(blob),
    )
    Clock.parse(clock, library.recorded_us)  # a mistake is told before anything is served
    episodes = Episodes(library, seed=seed, clock=clock)
    return Stage(loaded, library, episodes, ReplayService(library, episodes, open_blob))
