"""A running record: every finished interaction is on disk at once, the cassette at the end."""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Self

from replayproxy.core.errors import OperationError
from replayproxy.core.exchange import Blob, Body, Cassette, Interaction
from replayproxy.format.bodies import BodyStore
from replayproxy.store import cassettes, recovery
from replayproxy.store.files import replace_file, sync_file, sync_folder, told, write_all
from replayproxy.store.locking import Lock, lock
from replayproxy.store.log import Header, LogWriter, read_log
from replayproxy.store.names import OnExisting, check_target, incomplete_path, recording_folder
from replayproxy.store.recovery import BLOBS, GIVEN_UP, LOG, Sign


class Recording:
    """Recording to one cassette, which no one else can record to meanwhile. Start it with `Recording.start`.

    `existing` is the cassette that is added to (None if there is none, or it is to be replaced),
    `first_order` the order of the first new interaction, `salt` what placeholders must be made from, and
    `notes` what a person should be told. `finish` or `abandon` ends it; whatever is appended before is never
    lost.
    """

    def __init__(
        self,
        path: Path,
        mode: OnExisting,
        head: Cassette,
        existing: cassettes.Loaded | None,
        held: Lock,
        note: str,
    ) -> None:
        self.path = path
        self._mode = mode
        self._base = recovery.base_digest(path)
        self.existing = existing
        self.notes = (note,) if note else ()
        before = existing.cassette.interactions if existing else ()
        self.first_order = max((one.order for one in before), default=-1) + 1
        self.salt = (existing.cassette.salt if existing else "") or head.salt
        self.recorded = 0
        self._lock = held
        self._folder = recording_folder(path)
        self._blobs = self._folder / BLOBS
        self._parts = itertools.count()
        self._unsynced: list[Path] = []
        self._log = _new_log(self._folder, Header(mode, self._base), head)

    @classmethod
    def start(cls, path: Path, head: Cassette, on_existing: OnExisting = "fail", *, sign: Sign | None = None) -> Self:
        """Begin recording to PATH a cassette like HEAD (which has no interactions).

        What a killed recorder has left there is recovered first. Raises UsageError for a name that cannot be
        written, or that exists where ON_EXISTING is `fail`; OperationError where another recorder is at work;
        CassetteError where the cassette to add to cannot be read.
        """
        check_target(path)
        if not recording_folder(path).exists():
            check_target(path, on_existing)
        held = lock(path)
        try:
            note = recovery.recover_locked(path, sign)
            check_target(path, on_existing, told=note)
            adds = on_existing in ("append", "new") and path.exists()
            return cls(path, on_existing, head, cassettes.read(path) if adds else None, held, note)
        except BaseException:
            held.release()
            raise

    def append(self, interaction: Interaction) -> None:
        """Keep INTERACTION: on return no kill can take it back.

        Raises OperationError if it could not be written; everything before is kept, and `finish` still works.
        """
        self._log.append(self._with_blobs(interaction))
        self.recorded += 1

    def flush(self) -> None:
        """Make what was appended last through a power cut; call it about once a second."""
        with told("write", self._blobs):
            while self._unsynced:
                sync_file(self._unsynced[-1])
                self._unsynced.pop()
            sync_folder(self._blobs)
        self._log.flush()

    def blob_writer(self) -> BlobWriter:
        """A writer for a body that is too large to be held in memory."""
        return BlobWriter(self._blobs, next(self._parts), self._unsynced)

    def finish(self, sign: Sign | None = None) -> Path:
        """Write the cassette, interactions by order, and end the recording; gives its path.

        Where someone else has made or changed the cassette meanwhile, it stays as it is, and OperationError says
        where the recording is.
        """
        if self._mode == "replace" or recovery.base_digest(self.path) == self._base:
            return self._end(LOG, self.path, self.existing.cassette if self.existing else None, sign)
        target = self.abandon(sign)
        where = f"; what was recorded is in {target}" if target else ""
        raise OperationError(
            f"{self.path} was changed by someone else while it was being recorded{where}",
            hint="keep one of the two, or import both into one cassette",
        )

    def abandon(self, sign: Sign | None = None) -> Path | None:
        """End the recording without touching the cassette; what was recorded goes to NAME.incomplete.yaml.

        Gives that path, or None where nothing was recorded.
        """
        with told("rename", self._folder / LOG):
            (self._folder / LOG).rename(self._folder / GIVEN_UP)
        if self.recorded:
            return self._end(GIVEN_UP, incomplete_path(self.path), None, sign)
        self._close()
        return None

    def _end(self, log: str, target: Path, base: Cassette | None, sign: Sign | None) -> Path:
        try:
            self.flush()
            content = read_log(self._folder / log)
            assert content is not None  # `start` has written the head
            recovery.store(target, recovery.merged(base, content), self._folder, sign)
        except BaseException:  # the log stays, for the next recorder or `verify` to recover
            self._log.close()
            self._lock.release()
            raise
        self._close()
        return target

    def _close(self) -> None:
        self._log.close()
        try:
            recovery.remove_log(self._folder)
        finally:
            self._lock.release()

    def _with_blobs(self, interaction: Interaction) -> Interaction:
        """INTERACTION with its large bodies written to files of their own."""
        bodies = BodyStore()
        request, response = interaction.request, interaction.response
        request = replace(request, body=_stored(bodies, request.body))
        response = replace(response, body=_stored(bodies, response.body))
        if response.coding is not None and response.coding.coded is not None:
            coded = bodies.binary(response.coding.coded)
            response = replace(response, coding=replace(response.coding, coded=coded))
        for sha256, data in bodies.blobs.items():
            if not (self._blobs / sha256).exists():
                replace_file(self._blobs / sha256, data, lasting=False)
                self._unsynced.append(self._blobs / sha256)
        return replace(interaction, request=request, response=response)


def _new_log(folder: Path, header: Header, head: Cassette) -> LogWriter:
    """The log of a new recording in a new FOLDER, on disk; after an error there is no folder either."""
    try:
        with told("write", folder):
            folder.mkdir(mode=0o700)
            (folder / BLOBS).mkdir()
        log = LogWriter(folder / LOG)
        log.start(header, head)
        log.flush()
        with told("write", folder):
            sync_folder(folder)
            sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)  # an error is on its way already
        raise
    return log


def _stored(bodies: BodyStore, body: Body) -> Body:
    value = bodies.value(body)
    return value if isinstance(value, Blob) else body


class BlobWriter:
    """Writes one large body as it comes in. `finish` gives its Blob; `discard` forgets it."""

    def __init__(self, folder: Path, number: int, unsynced: list[Path]) -> None:
        self._folder = folder
        self._unsynced = unsynced
        self._path = folder / f".{number}.part"
        self._sha256 = hashlib.sha256()
        self.size = 0
        with told("write", self._path):
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def write(self, data: bytes) -> None:
        """Add DATA; raises OperationError on a full disk."""
        with told("write", self._path):
            write_all(self._descriptor, data)
        self._sha256.update(data)
        self.size += len(data)

    def finish(self) -> Blob:
        """The blob of everything that was written, which now has its name."""
        with told("write", self._path):
            os.close(self._descriptor)
            blob = Blob(self._sha256.hexdigest(), self.size)
            self._path.replace(self._folder / blob.sha256)
        self._unsynced.append(self._folder / blob.sha256)
        return blob

    def discard(self) -> None:
        """Remove what was written."""
        os.close(self._descriptor)
        self._path.unlink(missing_ok=True)
