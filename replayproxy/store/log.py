"""The log of a running record: append-only, each entry with length and SHA-256, so that a torn one shows.

    replayproxy-recording LENGTH SHA256   {"format": 1, "mode": …, "base": SHA-256 of the file there was, or ""}
    head LENGTH SHA256                    a cassette without interactions: its name, rights, salt, …
    interaction LENGTH SHA256             a cassette with one interaction, as format writes it
    …

An entry that write(2) took survives the death of its process; `flush` makes it survive that of the machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from replayproxy import format as cassette_format
from replayproxy.core.errors import OperationError
from replayproxy.core.exchange import Cassette, Interaction
from replayproxy.store.files import told, write_all
from replayproxy.store.names import OnExisting

_START: Final = "replayproxy-recording"
_ENTRY = re.compile(rb"([a-z-]+) ([0-9]{1,12}) ([0-9a-f]{64})\n")
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Header:
    """The mode of the recording, and the SHA-256 of the cassette that it found ("" for none)."""

    mode: OnExisting
    base: str


@dataclass(frozen=True, slots=True)
class Content:
    """A log that was read: every whole entry, and how many octets of a torn one follow."""

    header: Header
    head: Cassette
    interactions: tuple[Interaction, ...] = ()
    torn: int = 0


@dataclass(slots=True)
class LogWriter:
    """Appends to the log at `path`. After an error (a full disk) the log ends with the last whole entry."""

    path: Path
    _descriptor: int = field(init=False)
    _size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with told("write", self.path):
            self._descriptor = os.open(self.path, flags, 0o600)

    def start(self, header: Header, head: Cassette) -> None:
        """Write the first two entries."""
        text = json.dumps({"format": _FORMAT, "mode": header.mode, "base": header.base})
        self._append(_START, text.encode())
        self._append("head", cassette_format.dump(head).text)

    def append(self, interaction: Interaction) -> None:
        """Write INTERACTION, whose large bodies are blobs already. On return no kill can take it back."""
        self._append("interaction", cassette_format.dump(Cassette(name="", interactions=(interaction,))).text)

    def flush(self) -> None:
        """Make everything that was appended last through a power cut."""
        with told("write", self.path):
            os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _append(self, kind: str, payload: bytes) -> None:
        head = f"{kind} {len(payload)} {hashlib.sha256(payload).hexdigest()}\n".encode()
        entry = head + payload + b"\n"
        try:
            with told("write", self.path):
                write_all(self._descriptor, entry)
        except BaseException:  # an interrupt between two calls would tear the entry as well
            os.ftruncate(self._descriptor, self._size)
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
            raise
        self._size += len(entry)


def read_log(path: Path) -> Content | None:
    """The log at PATH up to its first entry that is not whole; None where not even its head is, or no log at all.

    Raises OperationError for a log that a newer version wrote.
    """
    try:
        with told("read", path):
            data = path.read_bytes()
    except OperationError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise
    entries = list(_entries(data))
    if len(entries) < 2 or entries[0][0] != _START:
        return None
    start = json.loads(entries[0][1])
    if start["format"] > _FORMAT:
        raise OperationError(f"{path} was written by a newer version", hint="finish it with that version")
    end = sum(size for _, _, size in entries)
    loaded = [cassette_format.load(payload, f"{path}") for _, payload, _ in entries[1:]]
    interactions = tuple(interaction for one in loaded[1:] for interaction in one.interactions)
    return Content(Header(start["mode"], start["base"]), loaded[0], interactions, len(data) - end)


def _entries(data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """Kind, payload and whole size of every entry from the start that is whole."""
    at = 0
    while match := _ENTRY.match(data, at):
        start = match.end()
        end = start + int(match[2])
        payload = data[start:end]
        if data[end : end + 1] != b"\n" or hashlib.sha256(payload).hexdigest() != match[3].decode():
            return
        yield match[1].decode(), payload, end + 1 - at
        at = end + 1
