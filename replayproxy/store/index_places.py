"""Where indexes lie, which of them may be believed, and what an index is called.

FOLDER/.replayproxy/SET.VALIDITY.DIGEST.index    beside the first cassette, with a .gitignore
STATE/index/SET.VALIDITY.DIGEST.index            where that folder cannot be written

SET names the cassettes by their places, VALIDITY what they and the settings say, DIGEST what the file holds: an index
of another validity is stale, and one whose octets are not its digest's is damaged.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from replayproxy import __version__
from replayproxy.core.provider import Providers
from replayproxy.store.index_tables import FORMAT
from replayproxy.store.names import stem, temporary_path

FOLDER: Final = ".replayproxy"
SUFFIX: Final = ".index"
_IGNORE: Final = "# What replayproxy makes of cassettes, and makes anew when it is gone.\n*\n"
_WRITABLE_BY_OTHERS: Final = 0o022


def validity(paths: Sequence[Path], providers: Providers) -> str:
    """What an index of the cassettes at PATHS under PROVIDERS has to be made of, in hex; raises OSError.

    Neither purpose nor date take part: rights are judged whenever an index is opened.
    """
    cassettes = [[stem(path), sha256_of(path)] for path in paths]
    settings = json.dumps(asdict(providers), sort_keys=True, default=repr)
    return _hex(json.dumps([FORMAT, __version__, cassettes, settings]))[:32]


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file PATH in hex; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """A folder that indexes of some cassettes lie in, whether it is there yet or not; SET as above.

    `mode` holds the permissions that all the cassettes have; `owners` may have made what is believed.
    """

    folder: Path
    set: str
    mode: int
    owners: frozenset[int]

    def found(self, valid: str) -> Iterator[Path]:
        """Every index of the validity VALID that may be believed and holds what it did when it was made."""
        for path in self._indexes():
            name = path.name.split(".")
            if name[1] == valid and self._whole(path, name[2]):
                yield path

    def make(self) -> bool:
        """Whether an index can be written here; the folder is there then."""
        try:
            if self.folder.name != FOLDER:  # the state folder is for its owner only
                self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(exist_ok=True)
            if self.folder.is_symlink():
                return False
            ignore = self.folder / ".gitignore"
            if self.folder.name == FOLDER and not ignore.exists():
                ignore.write_text(_IGNORE, encoding="utf-8")
        except OSError:
            return False
        return os.access(self.folder, os.W_OK | os.X_OK)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, nobody else writes here; where the file system has no locks, the last index written counts."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def temporary(self, valid: str) -> Path:
        """An empty file for an index of VALID that is not whole yet, for its owner only; raises OSError."""
        path = temporary_path(self.folder / f"{self.set}.{valid}{SUFFIX}")
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        return path

    def settle(self, temporary: Path, valid: str) -> Path:
        """The whole index TEMPORARY of VALID is in its place, others of its cassettes are gone; raises OSError."""
        temporary.chmod(self.mode & 0o666 & ~_umask() | 0o600)
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        path = self.folder / f"{self.set}.{valid}.{sha256_of(temporary)}{SUFFIX}"
        temporary.replace(path)
        for other in self._indexes():
            if other != path:
                other.unlink(missing_ok=True)
        return path

    def clear(self) -> None:
        """What was left half written of these cassettes' indexes is gone; for the holder of the lock."""
        for entry in self._entries():
            if entry.startswith(f".{self.set}.") and entry.endswith(".part"):
                with contextlib.suppress(OSError):
                    (self.folder / entry).unlink()

    def _indexes(self) -> list[Path]:
        names = sorted(self._entries())
        return [
            self.folder / name
            for name in names
            if name.startswith(f"{self.set}.") and name.endswith(SUFFIX) and name.count(".") == 3
        ]

    def _entries(self) -> list[str]:
        try:
            return [] if self.folder.is_symlink() else [entry.name for entry in self.folder.iterdir()]
        except OSError:
            return []

    def _whole(self, path: Path, digest: str) -> bool:
        """Whether PATH holds what DIGEST says, and nobody could write it who could not write the cassettes as well."""
        try:
            found = path.lstat()
            others = found.st_mode & _WRITABLE_BY_OTHERS & ~self.mode
            trusted = stat.S_ISREG(found.st_mode) and found.st_uid in self.owners and not others
            return trusted and sha256_of(path) == digest
        except OSError:
            return False


def places(paths: Sequence[Path], state_dir: Path) -> tuple[Place, ...]:
    """Where an index of the cassettes at PATHS may lie, the first choice first; raises OSError."""
    status = [path.stat() for path in paths]
    mode = 0o777
    for one in status:
        mode &= one.st_mode
    owners = frozenset({os.geteuid(), 0, *(one.st_uid for one in status)})
    home = paths[0].absolute().parent
    beside = [os.path.relpath(path.absolute(), home) for path in paths]
    absolute = [str(path.absolute()) for path in paths]
    return (
        Place(home / FOLDER, _hex(json.dumps(beside))[:16], mode, owners),
        Place(state_dir.absolute() / "index", _hex(json.dumps(absolute))[:16], 0o600, frozenset({os.geteuid(), 0})),
    )


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
