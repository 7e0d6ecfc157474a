"""What a recorder that was killed has left: found, read, and made into a cassette."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from replayproxy import format as cassette_format
from replayproxy.core.exchange import Cassette, Interaction, Signature, interaction_id
from replayproxy.store import cassettes
from replayproxy.store.blobs import Blobs
from replayproxy.store.files import told
from replayproxy.store.locking import lock
from replayproxy.store.log import Content, read_log
from replayproxy.store.names import blobs_folder, incomplete_path, recording_folder

type Sign = Callable[[str], Signature]
"""Signs a digest (hex) with the recorder's key."""

LOG = "log"
BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Pending:
    """A log that lies beside a cassette: its content, and the file that it belongs into."""

    content: Content
    folder: Path
    cassette: Path

    @property
    def goes_into_cassette(self) -> bool:
        """Whether its interactions belong to the cassette itself; those of a broken replacement do not."""
        return self.content.header.mode != "replace"

    @property
    def target(self) -> Path:
        """The file that its interactions go to."""
        return self.cassette if self.goes_into_cassette else incomplete_path(self.cassette)


def pending(path: Path) -> Pending | None:
    """The log beside the cassette PATH of a recorder that was killed or still runs; None if it is empty."""
    log = recording_folder(path) / LOG
    content = read_log(log) if log.is_file() else None
    return Pending(content, log.parent, path) if content is not None and content.interactions else None


def read_with_pending(path: Path) -> cassettes.Loaded:
    """As `cassettes.read`, with the interactions of a log beside it and a warning; writes nothing."""
    log = pending(path)
    if log is None or not log.goes_into_cassette:
        return cassettes.read(path)
    base = cassettes.read(path) if path.exists() else None
    if base is not None and _is_in(base.cassette, log.content):
        return base
    cassette = merged(base.cassette if base else None, log.content)
    blobs = Blobs(str(path), [blobs_folder(path), log.folder / BLOBS])
    told_so = f"{path}: {len(log.content.interactions)} interactions come from a recording that did not end"
    hint = f"{told_so}; `replayproxy verify {path}` puts them into the cassette"
    return cassettes.Loaded(cassette, path, blobs, (*(base.warnings if base else ()), hint))


def recover(path: Path, sign: Sign | None = None) -> str:
    """Put what a killed recorder left of the cassette PATH where it belongs; says what was done, if anything.

    Every whole interaction is kept: in the cassette itself, or, where it was to be replaced or was changed
    since, in NAME.incomplete.yaml. Raises OperationError where a recorder is still at work.
    """
    if not recording_folder(path).exists():
        return ""
    with lock(path):
        return recover_locked(path, sign)


def recover_locked(path: Path, sign: Sign | None = None) -> str:
    """As `recover`, for a caller that holds the lock on PATH."""
    folder = recording_folder(path)
    log = pending(path)
    done = _put_in_place(log, sign) if log is not None else ""
    with told("remove", folder):
        if folder.exists():
            shutil.rmtree(folder)
    return done


def _put_in_place(log: Pending, sign: Sign | None) -> str:
    base = cassettes.read(log.cassette).cassette if log.cassette.exists() else None
    if base is not None and _is_in(base, log.content):
        return ""  # the recorder died between writing the cassette and removing its log
    if log.goes_into_cassette and base_digest(log.cassette) == log.content.header.base:
        target, before = log.cassette, base
    else:
        target, before = incomplete_path(log.cassette), None
    store(target, merged(before, log.content), log.folder, sign)
    torn = f" ({log.content.torn} octets of an unfinished one were dropped)" if log.content.torn else ""
    return f"recovered {len(log.content.interactions)} interactions of a killed recording into {target}{torn}"


def base_digest(path: Path) -> str:
    """The SHA-256 of the file at PATH, "" where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def store(target: Path, cassette: Cassette, folder: Path, sign: Sign | None) -> None:
    """Write CASSETTE to TARGET, with the large bodies of the log's FOLDER, signed if there is a key."""
    if sign is not None:
        cassette = replace(cassette, signature=sign(cassette_format.digest_of(cassette)))
    blobs = {path.name: path for path in (folder / BLOBS).iterdir()} if (folder / BLOBS).is_dir() else {}
    cassettes.write(target, cassette, blobs)


def merged(base: Cassette | None, content: Content) -> Cassette:
    """The cassette of a recording: BASE, if it is added to, and behind it the log's interactions by order.

    The tag of BASE stays; new interactions carry the tag they were recorded under where it is another one.
    """
    new = sorted(content.interactions, key=lambda interaction: interaction.order)
    head = content.head
    if base is None:
        return replace(head, interactions=tuple(new))
    if head.rights != base.rights:
        new = [replace(one, rights=head.rights) if one.rights is None else one for one in new]
    last = max((one.order for one in base.interactions), default=-1)
    if new and new[0].order <= last:
        new = [_moved(one, last + 1) for one in new]
    tool, note = base.tool or head.tool, base.note or head.note
    return replace(
        base,
        interactions=(*base.interactions, *new),
        tool=tool,
        note=note,
        salt=base.salt or head.salt,
        recorded_us=base.recorded_us or head.recorded_us,
        foreign="",
        signature=None,
    )


def _moved(interaction: Interaction, by: int) -> Interaction:
    order = interaction.order + by
    return replace(interaction, order=order, id=interaction_id(order, interaction.request))


def _is_in(base: Cassette, content: Content) -> bool:
    """Whether every interaction of the log is in BASE already, whatever its order and id there."""
    there = {_identity(one) for one in base.interactions}
    return all(_identity(one) in there for one in content.interactions)


def _identity(one: Interaction) -> tuple[object, ...]:
    return one.started_us, one.first_ms, one.ended_ms, one.request, one.response
