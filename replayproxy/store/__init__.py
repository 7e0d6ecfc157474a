"""Cassettes as files: read, found, written whole or not at all, and the log of a running record."""

from replayproxy.store.blobs import Blobs
from replayproxy.store.cassettes import Damage, Found, Loaded, check, find, read, write
from replayproxy.store.index import Source, Stocking
from replayproxy.store.locking import Lock, lock
from replayproxy.store.names import OnExisting, check_target
from replayproxy.store.recording import BlobWriter, Recording
from replayproxy.store.recovery import Pending, pending, read_with_pending, recover

__all__ = [
    "BlobWriter",
    "Blobs",
    "Damage",
    "Found",
    "Loaded",
    "Lock",
    "OnExisting",
    "Pending",
    "Recording",
    "Source",
    "Stocking",
    "check",
    "check_target",
    "find",
    "lock",
    "pending",
    "read",
    "read_with_pending",
    "recover",
    "write",
]
