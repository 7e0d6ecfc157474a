"""What is replayed: cassettes read into memory, or, where they are large, an index that is made of them once."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from replayproxy.core.errors import IntegrityError, ReplayproxyError
from replayproxy.core.library import Library
from replayproxy.core.provider import Providers
from replayproxy.store.blobs import Blobs
from replayproxy.store.cassettes import Loaded, read
from replayproxy.store.index_places import Place, places, validity
from replayproxy.store.index_reading import Index
from replayproxy.store.index_writing import write_index
from replayproxy.store.names import blobs_folder, recording_folder
from replayproxy.store.recovery import read_with_pending

INDEXED_FROM: Final = 256 << 10
"""The size of cassettes, together and in octets, from which an index is made of them."""
PURPOSE: Final = "local-debug"
"""Whatever an index is made under is judged anew when it is opened."""


@dataclass(frozen=True, slots=True)
class Source:
    """A cassette that is replayed: its file, its large bodies, and what its reader should be told."""

    path: Path
    blobs: Blobs
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stock:
    """A library, and the cassettes that it is of, in their order."""

    library: Library
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stocking:
    """How cassettes are made ready: under which settings, for what, as of which day, and where state may be kept.

    `tell` is told, a sentence each, what took long or could not be done.
    """

    providers: Providers
    purpose: str
    today: str | None
    state_dir: Path
    tell: Callable[[str], None]

    def stock(self, paths: Sequence[Path]) -> Stock:
        """The library of the cassettes at PATHS.

        An index that is there is used, and one that is not is made, where the cassettes are large enough for it. Raises
        CassetteError for what cannot be read and UsageError for an unknown purpose.
        """
        if not _is_large(paths):
            return self._in_memory(paths)
        try:
            valid, where = validity(paths, self.providers), places(paths, self.state_dir)
        except OSError:  # whatever it is, reading the cassettes will say it
            return self._in_memory(paths)
        return self._found(paths, valid, where) or self._made(paths, valid, where) or self._in_memory(paths)

    def _in_memory(self, paths: Sequence[Path]) -> Stock:
        loaded = [read_with_pending(path) for path in paths]
        library = library_of(loaded, self.providers, purpose=self.purpose, today=self.today)
        return Stock(library, tuple(Source(one.path, one.blobs, one.warnings) for one in loaded))

    def _found(self, paths: Sequence[Path], valid: str, where: Sequence[Place]) -> Stock | None:
        """What an index holds that is there and whole."""
        for place in where:
            for path in place.found(valid):
                stock = self._opened(path, valid, paths)
                if stock is not None:
                    return stock
        return None

    def _opened(self, path: Path, valid: str, paths: Sequence[Path]) -> Stock | None:
        try:
            index = Index(path, valid)
        except (IntegrityError, ValueError, KeyError) as error:  # not of our making, whatever it is called
            self.tell(f"warning: {error}")
            return None
        sources = tuple(
            Source(
                path,
                Blobs(str(path), [blobs_folder(path)]),
                tuple(f"{path}: {warning}" for warning in warnings),
            )
            for path, warnings in zip(paths, index.warnings, strict=True)
        )
        for cassette, blob in index.blobs():
            sources[cassette].blobs.present(blob)
        return Stock(index.library(self.providers, purpose=self.purpose, today=self.today), sources)

    def _made(self, paths: Sequence[Path], valid: str, where: Sequence[Place]) -> Stock | None:
        """What an index holds that is made now; None where none can be made, which is told."""
        place = next((place for place in where if place.make()), None)
        if place is None:
            folders = " nor ".join(str(place.folder) for place in where)
            self.tell(f"warning: no index is kept, as neither {folders} can be written; the next start takes as long")
            return None
        with place.locked():
            found = self._found(paths, valid, [place])  # another process may have made it in the meantime
            if found is not None:
                return found
            place.clear()
            began = time.monotonic()
            problem = in_child(lambda: build(paths, self.providers, place, valid))
            found = self._found(paths, valid, [place])
        if found is None:
            self.tell(f"warning: no index could be made in {place.folder}: {problem or 'the cassettes have changed'}")
            return None
        took = time.monotonic() - began
        self.tell(f"indexed {len(found.library.recordings)} interactions in {took:.1f} s, kept in {place.folder}")
        return found


def _is_large(paths: Sequence[Path]) -> bool:
    """Whether an index of the cassettes at PATHS is worth making; of what is being recorded none is."""
    try:
        return (
            not any(recording_folder(path).exists() for path in paths)
            and sum(path.stat().st_size for path in paths) >= INDEXED_FROM
        )
    except OSError:
        return False


def library_of(loaded: Sequence[Loaded], providers: Providers, *, purpose: str, today: str | None) -> Library:
    """The library of what was LOADED, in memory."""
    blobs = {id(one.cassette): one.blobs for one in loaded}
    return Library.build(
        [one.cassette for one in loaded],
        providers,
        purpose=purpose,
        today=today,
        read=lambda cassette, blob: blobs[id(cassette)].read(blob),
    )


def build(paths: Sequence[Path], providers: Providers, place: Place, valid: str) -> None:
    """An index of the cassettes at PATHS is in PLACE, if they are still what VALID says; for the holder of its lock.

    Raises what reading cassettes raises, and ValueError, OSError and sqlite3.Error as `write_index`.
    """
    loaded = [read(path) for path in paths]
    library = library_of(loaded, providers, purpose=PURPOSE, today=None)
    temporary = place.temporary(valid)
    try:
        write_index(temporary, valid, library, loaded)
        if validity(paths, providers) == valid:
            place.settle(temporary, valid)
    finally:
        temporary.unlink(missing_ok=True)


def in_child(work: Callable[[], None]) -> str:
    """What went wrong with WORK, which was done in a process of its own, "" for nothing.

    All the memory that it took goes with that process; it ends with this one's wait.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - the child's coverage is never written
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as file:
            problem = file.read().decode("utf-8", "replace")
        _, status = os.waitpid(child, 0)
    except BaseException:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it may have ended by itself
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise
    return problem or ("" if status == 0 else f"the process that made it ended with status {status}")


def _work(work: Callable[[], None], writing: int) -> None:  # pragma: no cover - only ever in a child
    """Do WORK, write into WRITING what went wrong, and end the process without anything of its parent's."""
    try:
        signal.set_wakeup_fd(-1)  # the parent's loop hears its own signals by it
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        work()
    except (ReplayproxyError, OSError, sqlite3.Error, ValueError, MemoryError) as error:
        os.write(writing, (str(error).partition("\n")[0] or type(error).__name__).encode("utf-8", "replace")[:4096])
    except BaseException as error:  # noqa: BLE001 - a defect of ours must not run on in a copy of the parent
        os.write(writing, f"internal error: {type(error).__name__}: {error}".encode("utf-8", "replace")[:4096])
    finally:
        os._exit(0)
