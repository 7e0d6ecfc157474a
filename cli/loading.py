"""Finding and reading the cassettes that a command line names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from replayproxy.core.errors import UsageError
from replayproxy.core.exchange import Body
from replayproxy.settings import Settings
from replayproxy.store import Loaded, find, read, read_with_pending

from .options import say


def cassette_paths(paths: Sequence[str | Path], settings: Settings) -> tuple[Path, ...]:
    """The cassettes of PATHS, else of the configuration, each once; what was passed over is told.

    Raises UsageError where nothing is named, CassetteError for what is not there.
    """
    wanted = [Path(path) for path in paths] or list(settings.cassettes)
    if not wanted:
        raise UsageError(
            "no cassette is named, on the command line or in the configuration",
            hint="name files or folders, or set `cassettes:` in replayproxy.yaml",
        )
    found = find(wanted)
    for note in found.notes:
        say(f"note: {note}")
    return found.paths


def load_all(paths: Sequence[Path], *, with_pending: bool = False) -> list[Loaded]:
    """The cassettes at PATHS, read; their warnings are told.

    `with_pending` adds what a killed recorder has left beside them.
    """
    loaded = [read_with_pending(path) if with_pending else read(path) for path in paths]
    for one in loaded:
        for warning in one.warnings:
            say(f"warning: {warning}")
    return loaded


def size_of(body: Body) -> int:
    """The size of BODY in octets, wherever it lies."""
    return len(body) if isinstance(body, bytes) else body.size
