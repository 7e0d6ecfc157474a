"""The tables of an index: an SQLite file that holds a library piece by piece (docs/adr/0009-index.md).

Every row that decides an answer carries a mark, made of its index, its table, its key and its value, so that a row that
was damaged, moved or taken from another index is seen when it is read.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

FORMAT: Final = 1
"""The number of this format. Raise it whenever tables, values, or the canonical form of any request change."""

TABLES: Final = (
    "CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE recording (position INTEGER PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE interaction (position INTEGER PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL)",
    "CREATE TABLE series (key BLOB PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE writes (scope TEXT PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE named (name INTEGER PRIMARY KEY, value TEXT NOT NULL, mark BLOB NOT NULL)",
    """CREATE TABLE near (host TEXT, target TEXT, position INTEGER, place TEXT,
    PRIMARY KEY (host, target, position)) WITHOUT ROWID""",
    "CREATE INDEX near_place ON near (place, target, position)",
    """CREATE TABLE blob (cassette INTEGER, sha256 TEXT, size INTEGER,
    PRIMARY KEY (cassette, sha256, size)) WITHOUT ROWID""",
)
"""`recording` holds what is told of a recording without its interaction, `series` what is recorded under a key,
`writes` the writes to a scope, and `named` the scope of the writes of a name. `near` holds the first recording of each
key, and `blob` the bodies that lie in files."""

UNMASKED, WRITE, CONDITIONAL = 1, 2, 4
"""The flags of a recording."""

type Key = str | int | bytes


class Marks:
    """Makes the marks of the rows of one index, which IDENTITY names."""

    def __init__(self, identity: str) -> None:
        tables = ("fact", "recording", "interaction", "series", "writes", "named")
        self._started = {table: hashlib.sha256(f"{FORMAT} {identity} {table} ".encode()) for table in tables}

    def of(self, table: str, key: Key, value: str) -> bytes:
        """The mark of the row of TABLE under KEY that holds VALUE."""
        total = self._started[table].copy()
        total.update(key.hex().encode() if isinstance(key, bytes) else str(key).encode())
        total.update(b"\0")
        total.update(value.encode())
        return total.digest()[:16]


def text_of(value: Any) -> str:
    """VALUE, plain values, as it stands in a row."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
