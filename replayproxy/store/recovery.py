"""What a recorder that was killed has left: found, read, and made into a cassette."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from replayproxy import format as cassette_format
from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Cassette, Interaction, Signature, interaction_id
from replayproxy.store import cassettes
from replayproxy.store.blobs import Blobs
from replayproxy.store.files import told
from replayproxy.store.locking import lock
from replayproxy.store.log import Content, read_log
from replayproxy.store.names import blobs_folder, incomplete_path, is_temporary, recording_folder

type Sign = Callable[[str], Signature]
"""Signs a digest (hex) with the recorder's key."""

LOG = "log"
GIVEN_UP = "given-up"
"""What the log is called once its recording was given up: a rename needs no room on a full disk."""

BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Pending:
    """A log that lies beside a cassette: its content, its folder, and whether its interactions belong to the cassette.

    They do unless the recording was given up, was to replace a cassette, or added to one that is another by now.
    """

    content: Content
    folder: Path
    cassette: Path
    belongs: bool

    @property
    def target(self) -> Path:
        """The file that its interactions go to."""
        return self.cassette if self.belongs else incomplete_path(self.cassette)


def pending(path: Path) -> Pending | None:
    """The log beside the cassette PATH of a recorder that was killed or still runs; None if it is empty."""
    folder = recording_folder(path)
    for name, given_up in ((LOG, False), (GIVEN_UP, True)):
        content = read_log(folder / name)
        if content is not None and content.interactions:
            replaces = content.header.mode == "replace" and content.header.base != ""
            same = base_digest(path) == content.header.base
            return Pending(content, folder, path, same and not replaces and not given_up)
    return None


def read_with_pending(path: Path) -> cassettes.Loaded:
    """As `cassettes.read`, with the interactions of a log that belong to it and a warning; writes nothing."""
    log = pending(path)
    if log is None:
        return cassettes.read(path)
    base = cassettes.read(path) if path.exists() or not log.belongs else None
    if base is not None and _is_in(base.cassette, log.content):
        return base
    count, verify = len(log.content.interactions), f"`replayproxy verify {path}`"
    before = base.warnings if base is not None else ()
    if base is not None and not log.belongs:
        aside = f"{path}: {count} interactions of a recording that did not end are not part of it"
        return replace(base, warnings=(*before, f"{aside}; {verify} puts them into {log.target}"))
    cassette = merged(base.cassette if base else None, log.content)
    blobs = Blobs(str(path), [blobs_folder(path), log.folder / BLOBS])
    served = f"{path}: {count} interactions come from a recording that did not end"
    return cassettes.Loaded(cassette, path, blobs, (*before, f"{served}; {verify} puts them into the cassette"))


def recover(path: Path, sign: Sign | None = None) -> str:
    """Put what a killed recorder left of the cassette PATH where it belongs; says what was done, if anything.

    Every whole interaction is kept: in the cassette itself, or, where it was to be replaced, was changed since or
    cannot be read, or the recording was given up, in NAME.incomplete.yaml. Raises OperationError where a recorder is
    still at work.
    """
    if not recording_folder(path).exists():
        return ""
    with lock(path):
        return recover_locked(path, sign)


def recover_locked(path: Path, sign: Sign | None = None) -> str:
    """As `recover`, for a caller that holds the lock on PATH."""
    folder = recording_folder(path)
    if not folder.exists():
        return ""
    log = pending(path)
    done = _put_in_place(log, sign) if log is not None else ""
    remove_log(folder)
    for target in (path, incomplete_path(path)):
        _remove_temporaries(target)
    return done


def remove_log(folder: Path) -> None:
    """Remove the FOLDER of a recording that is in its place; once its log is gone, nothing will look for its bodies."""
    with told("remove", folder):
        for name in (LOG, GIVEN_UP):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)


def _remove_temporaries(path: Path) -> None:
    """Remove what a killed process left half written of the cassette PATH and its body files."""
    blobs = blobs_folder(path)
    with told("clean up", path):
        left = [entry for entry in path.parent.iterdir() if is_temporary(entry.name, path.name)]
        if blobs.is_dir() and not blobs.is_symlink():
            left += [entry for entry in blobs.iterdir() if is_temporary(entry.name, entry.name[1:65])]
        for entry in left:
            entry.unlink()
        if blobs.is_dir() and not blobs.is_symlink() and not any(blobs.iterdir()):
            blobs.rmdir()


def _put_in_place(log: Pending, sign: Sign | None) -> str:
    base, aside = _whole(log.cassette), _whole(incomplete_path(log.cassette))
    if any(there is not None and _is_in(there, log.content) for there in (base, aside)):
        return ""  # the recorder died between writing the cassette and removing its log
    if log.belongs and (base is not None or not log.cassette.exists()):
        target, before = log.cassette, base
    else:
        target, before = incomplete_path(log.cassette), None
    store(target, merged(before, log.content), log.folder, sign)
    torn = f" ({log.content.torn} octets of an unfinished one were dropped)" if log.content.torn else ""
    return f"recovered {len(log.content.interactions)} interactions of a killed recording into {target}{torn}"


def _whole(path: Path) -> Cassette | None:
    """The cassette at PATH; None where there is none, or one that cannot be read and so must not be written over."""
    try:
        return cassettes.read(path).cassette
    except ReplayproxyError:
        return None


def base_digest(path: Path) -> str:
    """The SHA-256 of the file at PATH, "" where there is none."""
    if not path.exists():
        return ""
    with told("read", path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
