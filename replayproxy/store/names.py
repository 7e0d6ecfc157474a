"""Where a cassette's files lie, and whether a name can be a cassette at all.

NAME.yaml               the cassette
NAME.blobs/SHA256       its large bodies
NAME.incomplete.yaml    a recording that was given up, with NAME.incomplete.blobs/
.NAME.yaml.lock         held while someone records
.NAME.recording/        the log of a running record, or of one that was killed
.NAME.yaml.HEX.part     what is not whole yet
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Final, Literal

from replayproxy.core.errors import UsageError

type OnExisting = Literal["fail", "append", "replace", "new"]
"""What `record` does where the cassette is there already."""

SUFFIX: Final = ".yaml"
INCOMPLETE: Final = ".incomplete.yaml"
RESERVED: Final = ("RIGHTS.yaml", "replayproxy.yaml")
"""Names of other files, which are no cassettes wherever they lie."""

RESERVED_ENDINGS: Final = (".rights.yaml", INCOMPLETE)
_LONGEST_TEMPORARY: Final = ".incomplete.yaml.01234567.part"
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{8}\.part", re.DOTALL)


def stem(path: Path) -> str:
    """NAME of the cassette at PATH."""
    return path.name.removesuffix(SUFFIX)


def blobs_folder(path: Path) -> Path:
    """The folder of the large bodies of the cassette at PATH."""
    return path.with_name(f"{stem(path)}.blobs")


def lock_file(path: Path) -> Path:
    """The file that is locked while someone records to PATH."""
    return path.with_name(f".{path.name}.lock")


def recording_folder(path: Path) -> Path:
    """The folder of the log of a record to PATH."""
    return path.with_name(f".{stem(path)}.recording")


def cassette_of_recording(folder: Path) -> Path:
    """The cassette whose log is in FOLDER."""
    return folder.with_name(folder.name.removeprefix(".").removesuffix(".recording") + SUFFIX)


def incomplete_path(path: Path) -> Path:
    """Where a recording to PATH goes that was given up."""
    return path.with_name(f"{stem(path)}{INCOMPLETE}")


def temporary_path(path: Path) -> Path:
    """A hidden name beside PATH for what is not whole yet.

    A new one each time: in a container every process may have the number of one that was killed.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


def is_temporary(name: str, whole: str) -> bool:
    """Whether NAME is a temporary name of the file WHOLE."""
    match = _TEMPORARY.fullmatch(name)
    return match is not None and match[1] == whole


def check_target(path: Path, on_existing: OnExisting | None = None, *, told: str = "") -> None:
    """Raise UsageError unless a cassette can be recorded to PATH; touches nothing.

    With ON_EXISTING `fail` an existing file is refused too; TOLD says how it came there, if it may surprise.
    """
    if path.suffix != SUFFIX or not stem(path) or "\0" in path.name:
        raise UsageError(f"{path} is not a cassette name", hint="choose one that ends in .yaml")
    if path.name in RESERVED or path.name.endswith(RESERVED_ENDINGS):
        raise UsageError(f"{path} is a name for another file, not for a cassette", hint="choose another name")
    folder = path.parent
    try:
        if not folder.is_dir():
            raise UsageError(f"cannot write {path}: {folder} is not a folder", hint=f"create it: mkdir -p {folder}")
        _check_length(path)
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder", hint="choose another name")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {error}", hint="choose another name") from None
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise UsageError(f"cannot write {path}: no permission", hint="choose a folder that you may write to")
    if on_existing == "fail" and os.path.lexists(path):
        raise _exists(path, told)


def _exists(path: Path, told: str) -> UsageError:
    hint = "choose another name, or say what to do with it: --on-existing append, replace or new"
    return UsageError(f"{path} exists already{f' ({told})' if told else ''}", hint=hint)


def _check_length(path: Path) -> None:
    limit = os.pathconf(path.parent, "PC_NAME_MAX")
    room = limit - len(os.fsencode(stem(path))) - len(_LONGEST_TEMPORARY) - 1
    if room < 0:
        raise UsageError(
            f"cannot write {path}: its name is {-room} octets too long for the file system",
            hint="choose a shorter name",
        )
