"""Files that are whole or not there, and what the operating system says against them in our words."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from replayproxy.core.errors import OperationError
from replayproxy.store.names import temporary_path

_HINTS: Final = {
    errno.ENOSPC: "make room on the disk; what was recorded before is kept",
    errno.EDQUOT: "make room within your quota; what was recorded before is kept",
    errno.EACCES: "check the permissions of the folder",
    errno.EPERM: "check the permissions of the folder",
    errno.EROFS: "the file system is read-only; choose another place",
}


@contextlib.contextmanager
def told(doing: str, path: Path) -> Iterator[None]:
    """Inside, an OSError becomes the OperationError that says what could not be done with PATH."""
    try:
        yield
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "")
        raise OperationError(f"cannot {doing} {path}: {error.strerror or error}", hint=hint) from error


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of DATA, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace_file(path: Path, data: bytes, *, lasting: bool = True) -> None:
    """Make PATH hold DATA at once: the death of the process, and if LASTING a power cut, leaves the old or the new.

    Keeps the permissions of an existing file. Raises OperationError.
    """
    temporary = temporary_path(path)
    with told("write", path):
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode or 0o666)
            try:
                if mode is not None:
                    os.fchmod(descriptor, mode)  # open(2) takes away what the umask names
                write_all(descriptor, data)
                if lasting:
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if lasting:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in FOLDER last through a power cut, where the file system knows how."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the contents of PATH last through a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
