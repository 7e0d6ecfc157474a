"""Reads a library out of an index, piece by piece; what was read last is kept, within bounds.

Nothing in an index is code, and no row of it is believed without its mark. What cannot be read raises IntegrityError,
which ends in a refusal: it is never taken for something that was not recorded.
"""

from __future__ import annotations

import json
import sqlite3
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, overload
from urllib.parse import quote

from replayproxy import format as cassette_format
from replayproxy.core.arrangement import NEAR, Arrangement, Facts, Judge, window_start
from replayproxy.core.errors import IntegrityError
from replayproxy.core.exchange import Blob, Interaction, Origin
from replayproxy.core.library import Library
from replayproxy.core.provider import Providers
from replayproxy.core.rights import Finding, Tag, requirements
from replayproxy.core.sequence import Recording, Scope, Series, Writes
from replayproxy.core.series import Picked
from replayproxy.store.index_tables import CONDITIONAL, TABLES, UNMASKED, WRITE, Key, Marks
from replayproxy.store.index_writing import scope_text

KEPT = 512
"""How many recordings, series and groups of writes are kept in memory, each; a long one counts as several."""
KEPT_OCTETS = 1 << 20
"""How much text of interactions is kept in memory, about."""
_CAUTIOUS = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
_SMALL = "PRAGMA cache_size = -1024"
"""A mebibyte of pages for each process: the kernel keeps the others, once for all of them."""
_KEYS = {
    "fact": "name", "recording": "position", "interaction": "position", "series": "key", "writes": "scope",
    "named": "name",
}  # fmt: skip


class Kept[K, V]:
    """The values that were used last, as many as together weigh no more than MOST."""

    __slots__ = ("_held", "_most", "_values")

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """The value under KEY, if it is still there."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """VALUE is under KEY from now on; others go where it is too much."""
        self._values[key] = value, weight
        self._held += weight
        while self._held > self._most and len(self._values) > 1:
            _, (_, gone) = self._values.popitem(last=False)
            self._held -= gone


class Tables:
    """The tables of the index IDENTITY at PATH, which nobody changes; open for as long as this lives.

    Raises IntegrityError where PATH is no such index.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self._path = path
        self._marks = Marks(identity)
        with self._reading():
            self._connection = sqlite3.connect(
                f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, isolation_level=None
            )
            weakref.finalize(self, self._connection.close)
            self._connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
            for pragma in (*_CAUTIOUS, _SMALL):
                self._connection.execute(pragma)
            found = self._connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        if sorted(sql for (sql,) in found) != sorted(TABLES):
            raise self._damaged("it has other tables")

    def value(self, table: str, key: Key) -> Any:
        """The values that TABLE holds under KEY; None where it has none."""
        text = self.text(table, key)
        return None if text is None else json.loads(text)

    def text(self, table: str, key: Key) -> str | None:
        """The same as text."""
        with self._reading():
            statement = f"SELECT value, mark FROM {table} WHERE {_KEYS[table]} = ?"  # noqa: S608 - our own table
            row = self._connection.execute(statement, (key,)).fetchone()
        return None if row is None else self._checked(table, key, *row)

    def all(self, table: str) -> Iterator[tuple[Any, Any]]:
        """Every key of TABLE and the values under it, in the order of the keys; one at a time is in memory."""
        key = _KEYS[table]
        with self._reading():
            for found, text, mark in self._connection.execute(
                f"SELECT {key}, value, mark FROM {table} ORDER BY {key}"  # noqa: S608 - our own table
            ):
                yield found, json.loads(self._checked(table, found, text, mark))

    def rows(self, statement: str, *values: Key) -> list[Any]:
        """What STATEMENT finds for VALUES."""
        with self._reading():
            return self._connection.execute(statement, values).fetchall()

    def missing(self, what: str) -> IntegrityError:
        """The error where WHAT should be there."""
        return self._damaged(f"{what} is missing")

    def _checked(self, table: str, key: Key, text: object, mark: object) -> str:
        if not isinstance(text, str) or self._marks.of(table, key, text) != mark:
            raise self._damaged(f"a row of {table} is not what was written")
        return text

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> IntegrityError:
        return IntegrityError(
            f"the index {self._path} cannot be used: {why}", hint="delete it and start again: it will be made anew"
        )


class Interactions:
    """The interactions, by position."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._kept = Kept[int, Interaction](KEPT_OCTETS)

    def __getitem__(self, position: int) -> Interaction:
        found = self._kept.get(position)
        if found is None:
            text = self._tables.text("interaction", position)
            if text is None:
                raise self._tables.missing(f"interaction {position}")
            found = cassette_format.from_json(text)
            self._kept.put(position, found, len(text))
        return found


class Recordings(Sequence[Recording]):
    """The recordings, COUNT of them; FINDINGS by the number of their rights."""

    def __init__(self, tables: Tables, count: int, findings: Sequence[Finding | None]) -> None:
        self._tables = tables
        self._count = count
        self._findings = findings
        self._interactions = Interactions(tables)
        self._kept = Kept[int, Recording](KEPT)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Recording: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Recording]: ...

    def __getitem__(self, at: int | slice) -> Recording | Sequence[Recording]:
        if isinstance(at, slice):
            return Picked(self, range(self._count)[at])
        position = range(self._count)[at]
        found = self._kept.get(position)
        if found is None:
            value = self._tables.value("recording", position)
            if value is None:
                raise self._tables.missing(f"recording {position}")
            found = self._made(position, value)
            self._kept.put(position, found)
        return found

    def __iter__(self) -> Iterator[Recording]:
        return (self._made(position, value) for position, value in self._tables.all("recording"))

    def titles(self) -> Iterator[tuple[int, str]]:
        """As `Arrangement.titles`."""
        return ((position, f"{value[1]} {value[2]} {value[3]}") for position, value in self._tables.all("recording"))

    def names(self) -> Iterator[str]:
        """As `Arrangement.names`."""
        return (value[1] for _, value in self._tables.all("recording"))

    def _made(self, position: int, value: Any) -> Recording:
        cassette, name, method, url, status, flags, preference, rights, fault = value
        return Recording(
            id=name,
            position=position,
            cassette=cassette,
            method=method,
            url=url,
            status=status,
            interactions=self._interactions,
            unmasked=bool(flags & UNMASKED),
            write=bool(flags & WRITE),
            conditional=bool(flags & CONDITIONAL),
            preference=bytes.fromhex(preference),
            forbidden=self._findings[rights],
            fault=fault,
        )


def _weight(positions: Sequence[int]) -> int:
    return 1 + len(positions) // 64


class WritesByScope(Mapping[Scope, Writes]):
    """The writes, by what they name."""

    def __init__(self, tables: Tables, recordings: Recordings) -> None:
        self._tables = tables
        self._recordings = recordings
        self._kept = Kept[str, Writes](KEPT)

    def __getitem__(self, scope: Scope) -> Writes:
        found = self._of(scope_text(scope))
        if found is None:
            raise KeyError(scope)
        return found

    def named(self, name: int) -> Writes:
        """Those of NAME, which there are."""
        text = self._tables.text("named", name)
        found = None if text is None else self._of(text)
        if found is None:
            raise self._tables.missing(f"the writes {name}")
        return found

    def _of(self, text: str) -> Writes | None:
        found = self._kept.get(text)
        if found is None:
            value = self._tables.value("writes", text)
            if value is None:
                return None
            positions, cassettes = value
            found = Writes(array("Q", positions), array("Q", cassettes), self._recordings)
            self._kept.put(text, found, _weight(positions))
        return found

    def __iter__(self) -> Iterator[Scope]:
        for text, _ in self._tables.all("writes"):
            scheme, host, port, *segments = json.loads(text)
            yield Scope(Origin(scheme, host, port), tuple(segments))

    def __len__(self) -> int:
        return int(self._tables.rows("SELECT count(*) FROM writes")[0][0])


class SeriesByKey(Mapping[bytes, Series]):
    """The series, by key."""

    def __init__(self, tables: Tables, recordings: Recordings, writes: WritesByScope) -> None:
        self._tables = tables
        self._recordings = recordings
        self._writes = writes
        self._kept = Kept[bytes, Series](KEPT)

    def __getitem__(self, key: bytes) -> Series:
        found = self._kept.get(key)
        if found is None:
            value = self._tables.value("series", key)
            if value is None:
                raise KeyError(key)
            found = self._made(value)
            self._kept.put(key, found, _weight(found.positions))
        return found

    def _made(self, value: Any) -> Series:
        stored, heads, preferences, alike, covering, rule = value
        positions = array("Q", stored)
        return Series(
            recordings=Picked(self._recordings, positions),
            positions=positions,
            heads=array("Q", heads),
            preferences=frozenset(map(bytes.fromhex, preferences)),
            alike=alike,
            covering=tuple(map(self._writes.named, covering)),
            rule=rule,
        )

    def __iter__(self) -> Iterator[bytes]:
        return (key for key, _ in self._tables.all("series"))

    def __len__(self) -> int:
        return int(self._tables.rows("SELECT count(*) FROM series")[0][0])


class NearInIndex:
    """Neighbours, as `core.arrangement.Near`."""

    def __init__(self, tables: Tables, recordings: Recordings) -> None:
        self._tables = tables
        self._recordings = recordings

    def place(self, origin: Origin, path: str, target: str) -> Sequence[Recording]:
        """As `Near.place`."""
        return self._around("place", f"{origin}{path}", target)

    def host(self, host: str, target: str) -> Sequence[Recording]:
        """As `Near.host`."""
        return self._around("host", host, target)

    def _around(self, column: str, value: str, target: str) -> Sequence[Recording]:
        try:
            target.encode()
        except UnicodeEncodeError:  # half a surrogate pair is in no target of the wire, and in no index
            return ()
        start = f"SELECT position FROM near WHERE {column} = ? AND target"  # noqa: S608 - one of two words
        before = f"{start} < ? ORDER BY target DESC, position DESC LIMIT {NEAR}"
        behind = f"{start} >= ? ORDER BY target, position LIMIT {NEAR}"
        found = [position for (position,) in reversed(self._tables.rows(before, value, target))]
        at = len(found)
        found += [position for (position,) in self._tables.rows(behind, value, target)]
        first = window_start(at, len(found))
        return [self._recordings[position] for position in found[first : first + NEAR]]


class Index:
    """An index that was opened: `warnings` are what the reader of each cassette is told, without its path."""

    def __init__(self, path: Path, identity: str) -> None:
        self._tables = Tables(path, identity)
        self._facts = dict(self._tables.all("fact"))
        self.warnings: list[list[str]] = self._facts["warnings"]

    def blobs(self) -> Iterator[tuple[int, Blob]]:
        """The bodies that lie in files, each with the number of its cassette."""
        rows = self._tables.rows("SELECT cassette, sha256, size FROM blob")
        return ((cassette, Blob(sha256, size)) for cassette, sha256, size in rows)

    def library(self, providers: Providers, *, purpose: str, today: str | None) -> Library:
        """The library, judged for PURPOSE as of TODAY; PROVIDERS are those that it was made under.

        Raises UsageError for an unknown purpose.
        """
        requirements(purpose)
        facts, tables = self._facts, self._tables
        recordings = Recordings(tables, facts["count"], self._findings(Judge(purpose=purpose, today=today)))
        writes = WritesByScope(tables, recordings)
        arrangement = Arrangement(
            recordings=recordings,
            series=SeriesByKey(tables, recordings, writes),
            writes=writes,
            near=NearInIndex(tables, recordings),
            titles=recordings.titles,
            names=recordings.names,
        )
        return Library.of(_facts(facts), arrangement, providers, purpose)

    def _findings(self, judge: Judge) -> list[Finding | None]:
        """What the rights of each number say against the purpose now."""
        tags = [Tag.from_dict(tag) for tag in self._facts["tags"]]

        def tag(number: int | None) -> Tag | None:
            return None if number is None else tags[number]

        return [judge.of(tag(own), tags[base], tag(provided)) for own, base, provided in self._facts["rights"]]


def _facts(facts: Mapping[str, Any]) -> Facts:
    return Facts(
        cassettes=tuple(facts["cassettes"]),
        salts={salt: tuple(known) for salt, known in facts["salts"]},
        show=facts["show"],
        digest=facts["digest"],
        ports={host: frozenset(ports) for host, ports in facts["ports"]},
        recorded_us=facts["recorded_us"],
        over_http2=frozenset((host, port) for host, port in facts["over_http2"]),
        heads={bytes.fromhex(mark): tuple(positions) for mark, positions in facts["heads"]},
    )
