"""Large bodies in files named by their SHA-256: nothing leads out of the folder, nothing is trusted."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

from replayproxy.core.errors import CassetteError, IntegrityError
from replayproxy.core.exchange import Blob, Body

SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PIECE: Final = 1 << 20
_RESTORE: Final = "restore the folder from where the cassette came from, or record it again"


class Blobs:
    """The bodies of the cassette NAME, looked for in FOLDERS in turn.

    A file's SHA-256 is checked the first time it is read. Symbolic links are refused, for files and for
    folders.
    """

    def __init__(self, name: str, folders: Iterable[Path]) -> None:
        self._name = name
        self._folders = tuple(folders)
        self._verified: set[str] = set()

    def present(self, blob: Blob) -> Path:
        """The file of BLOB, of the right size; raises CassetteError where there is none."""
        if not SHA256.fullmatch(blob.sha256):
            raise CassetteError(f"{self._name}: {blob.sha256!r:.80} is no SHA-256", hint=_RESTORE)
        for folder in self._folders:
            path = folder / blob.sha256
            found = _status(folder, path)
            if found is None:
                continue
            if not stat.S_ISREG(found.st_mode):
                raise CassetteError(f"{self._name}: the body file {path} is not a plain file", hint=_RESTORE)
            if found.st_size != blob.size:
                raise IntegrityError(
                    f"{self._name}: the body file {path} has {found.st_size} octets, not {blob.size}",
                    hint=_RESTORE,
                )
            return path
        wanted = f"{self._folders[0].name}/{blob.sha256}"
        raise CassetteError(f"{self._name}: the body file {wanted} is missing", hint=_RESTORE)

    def path(self, blob: Blob) -> Path:
        """The file of BLOB, its octets checked; raises IntegrityError where they are others."""
        path = self.present(blob)
        if blob.sha256 not in self._verified:
            if _sha256(path) != blob.sha256:
                raise IntegrityError(f"{self._name}: the body file {path} is not what was recorded", hint=_RESTORE)
            self._verified.add(blob.sha256)
        return path

    def read(self, body: Body) -> bytes:
        """The octets of BODY, wherever they lie."""
        return b"".join(self.pieces(body))

    def pieces(self, body: Body) -> Iterator[bytes]:
        """The octets of BODY in pieces of at most a mebibyte, so that none is in memory as a whole."""
        if isinstance(body, bytes):
            yield body
            return
        with _open(self.path(body)) as file:
            while piece := file.read(_PIECE):
                yield piece


def _status(folder: Path, path: Path) -> os.stat_result | None:
    """What PATH is, without following links; None where it is not there or FOLDER is no folder."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return None
        return path.lstat()
    except FileNotFoundError:
        return None


def _open(path: Path) -> BufferedReader:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")


def _sha256(path: Path) -> str:
    with _open(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
