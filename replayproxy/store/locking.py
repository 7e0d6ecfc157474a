"""One recorder per cassette: an flock(2) on a hidden file beside it, which Linux carries over NFS as well.

The kernel drops the lock with its process, so a killed recorder never locks anyone out.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from replayproxy.core.errors import OperationError
from replayproxy.store.files import told, write_all
from replayproxy.store.names import lock_file


class Lock:
    """A lock that is held, until `release` or the end of its `with`; releasing twice does nothing."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the lock up."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                with contextlib.suppress(OSError):  # a file that has to stay is no lock: the kernel's is what counts
                    self._path.unlink()  # while it is held: no one else can hold this file
            finally:
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock(cassette: Path) -> Lock:
    """The lock on CASSETTE; raises OperationError, naming the process, where another recorder has it."""
    path = lock_file(cassette)
    while True:
        with told("lock", cassette):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
            try:
                if _taken(descriptor, path, cassette):
                    return Lock(path, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
        os.close(descriptor)  # the holder before us has removed this file; lock the one that is there now


def _taken(descriptor: int, path: Path, cassette: Path) -> bool:
    """Whether the lock that PATH names is ours now, with our process in it; False if PATH is another file by now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
        hint = "wait until it ends, or record to another file"
        who = f"process {holder}" if holder else "another process"
        raise OperationError(f"{cassette} is being recorded by {who}", hint=hint) from None
    if not _is_file(descriptor, path):
        return False
    os.ftruncate(descriptor, 0)
    write_all(descriptor, f"{os.getpid()}\n".encode())
    return True


def _is_file(descriptor: int, path: Path) -> bool:
    """Whether DESCRIPTOR is the file that PATH names at this moment."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False
