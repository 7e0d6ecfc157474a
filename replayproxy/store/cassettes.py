"""Reading, finding, checking and writing cassette files."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from replayproxy import format as cassette_format
from replayproxy.core.errors import CassetteError, OperationError, ReplayproxyError
from replayproxy.core.exchange import Blob, Cassette
from replayproxy.format.document import LARGEST, parse
from replayproxy.store.blobs import SHA256, Blobs
from replayproxy.store.files import replace_file, sync_file, sync_folder, told
from replayproxy.store.names import (
    INCOMPLETE,
    RESERVED,
    RESERVED_ENDINGS,
    SUFFIX,
    blobs_folder,
    cassette_of_recording,
    recording_folder,
    stem,
    temporary_path,
)

type BlobSource = bytes | Path
"""The octets of a blob, or a file that holds them and may be moved away."""

_INTERACTIONS = re.compile(rb"""^["']?(?:http_)?interactions["']?[ ]*:""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A cassette that was read from `path`, its large bodies, and what its reader should be told."""

    cassette: Cassette
    path: Path
    blobs: Blobs
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The cassettes that some paths name, each once, and the files that were passed over, with the reason."""

    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Damage:
    """A difference between a cassette and what was recorded."""

    path: Path
    what: str


def read(path: Path) -> Loaded:
    """The cassette at PATH; raises CassetteError where it cannot be read or a body file is missing.

    The octets of body files are checked when they are first asked for, and all of them by `check`.
    """
    found = cassette_format.read(_octets(path), str(path))
    cassette = found.cassette if found.cassette.name else replace(found.cassette, name=stem(path))
    blobs = Blobs(str(path), [blobs_folder(path)])
    for blob in blobs_of(cassette):
        blobs.present(blob)
    return Loaded(cassette, path, blobs, tuple(f"{path}: {warning}" for warning in found.warnings))


def _octets(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            hint = "a cassette keeps large bodies in NAME.blobs/"
            raise CassetteError(f"{path}:1: is larger than {LARGEST >> 20} MiB", hint=hint)
        return path.read_bytes()
    except FileNotFoundError:
        raise missing(path) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CassetteError(f"cannot read {path}: {why}", hint="check its name and permissions") from None


def missing(path: Path) -> CassetteError:
    """The error for a cassette that is not there."""
    return CassetteError(f"there is no cassette {path}", hint=f"record one: replayproxy record -o {path} -- CMD")


def blobs_of(cassette: Cassette) -> Iterator[Blob]:
    """Every body of CASSETTE that lies in a file."""
    for interaction in cassette.interactions:
        response = interaction.response
        for body in (interaction.request.body, response.body, response.coding and response.coding.coded):
            if isinstance(body, Blob):
                yield body


def find(paths: Iterable[Path]) -> Found:
    """The cassettes that PATHS name: files, and of folders every `*.yaml` beneath that is one, sorted.

    Raises CassetteError for a path that is not there and a folder without a cassette.
    """
    found: dict[Path, None] = {}
    notes: list[str] = []
    for path in paths:
        if path.is_dir():
            beneath = list(_beneath(path, notes))
            if not beneath:
                raise CassetteError(
                    f"there is no cassette in the folder {path}", hint="name a folder with *.yaml files"
                )
            found.update(dict.fromkeys(beneath))
        elif os.path.lexists(path) or recording_folder(path).is_dir():
            found[path] = None  # without a file, a recorder was killed here: `read_with_pending` serves what it left
        else:
            raise missing(path)
    return Found(tuple(found), tuple(notes))


def _beneath(folder: Path, notes: list[str]) -> Iterator[Path]:
    killed = {cassette_of_recording(path) for path in folder.rglob(".*.recording")}
    for path in sorted({*folder.rglob(f"*{SUFFIX}"), *killed}):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path in killed and not path.exists():
            yield path
        elif not path.is_file():
            continue
        elif reason := _not_a_cassette(path):
            notes.append(f"{path} was passed over: {reason}")
        else:
            yield path


def _not_a_cassette(path: Path) -> str:
    """Why PATH is certainly no cassette, or "". One in doubt is not passed over: reading it tells why."""
    if path.name in RESERVED:
        return "it is configuration"
    if path.name.endswith(RESERVED_ENDINGS):
        return "it is a recording that was given up" if path.name.endswith(INCOMPLETE) else "it is a rights file"
    data = _octets(path)
    if _INTERACTIONS.search(data):
        return ""
    with contextlib.suppress(ReplayproxyError):
        value = parse(data, str(path)).value
        if isinstance(value, dict) and not value.keys() & {
            "interactions",
            "http_interactions",
            "replayproxy",
        }:
            return "it has no interactions"
    return ""


def check(loaded: Loaded) -> tuple[Damage, ...]:
    """Every way in which LOADED is not what was recorded: its digest, and its body files octet by octet."""
    damages = []
    claimed = loaded.cassette.digest
    if claimed and cassette_format.digest_of(loaded.cassette) != claimed:
        damages.append(Damage(loaded.path, "the content does not have the digest that was recorded with it"))
    for blob in dict.fromkeys(blobs_of(loaded.cassette)):
        try:
            loaded.blobs.path(blob)
        except ReplayproxyError as error:
            damages.append(Damage(loaded.path, error.what))
    return tuple(damages)


def write(path: Path, cassette: Cassette, blobs: Mapping[str, BlobSource] | None = None) -> None:
    """Make PATH hold CASSETTE: body files first, then the text at once; what nothing refers to then goes.

    BLOBS gives by SHA-256 those bodies that are neither in memory nor in the cassette's folder yet. Raises
    OperationError; the old cassette is then still there and whole.
    """
    dumped = cassette_format.dump(cassette)
    folder = blobs_folder(path)
    sources: dict[str, BlobSource] = {**(blobs or {}), **dumped.blobs}
    if dumped.referenced:
        if folder.is_symlink():
            raise OperationError(f"cannot write {folder}: it is a symbolic link", hint="make it a folder")
        with told("write", folder):
            folder.mkdir(exist_ok=True)
            for sha256 in sorted(dumped.referenced):
                _put(folder / sha256, sources.get(sha256))
            sync_folder(folder)
    replace_file(path, dumped.text)
    _remove_others(folder, dumped.referenced)


def _put(path: Path, source: BlobSource | None) -> None:
    if source is None:
        if not path.is_file():
            raise OperationError(f"the body file {path} is missing", hint="the recording lost it; record again")
    elif isinstance(source, bytes):
        replace_file(path, source)
    elif not (path.exists() and path.samefile(source)):
        temporary = temporary_path(path)
        try:
            _link_or_copy(source, temporary)
            sync_file(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


def _remove_others(folder: Path, kept: frozenset[str]) -> None:
    """Remove the body files that nothing refers to, and the folder once it is empty; files of others stay."""
    if folder.is_symlink() or not folder.is_dir():
        return
    with told("clean up", folder):
        names = {entry.name for entry in os.scandir(folder)}
        for name in names:
            if SHA256.fullmatch(name) and name not in kept:
                (folder / name).unlink()
        if all(SHA256.fullmatch(name) for name in names) and not names & kept:
            folder.rmdir()
