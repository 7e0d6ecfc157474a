"""Writes a library into an index."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replayproxy import format as cassette_format
from replayproxy.core.errors import RightsError
from replayproxy.core.exchange import Cassette
from replayproxy.core.library import Library
from replayproxy.core.rights import Tag
from replayproxy.core.sequence import Recording, Scope, Series
from replayproxy.store.cassettes import Loaded, blobs_of
from replayproxy.store.index_tables import CONDITIONAL, TABLES, UNMASKED, WRITE, Key, Marks, text_of

_SWIFT = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -65536")
"""No journal: whoever finds the file before it is whole throws it away."""


def write_index(path: Path, identity: str, library: Library, loaded: Sequence[Loaded]) -> None:
    """The index IDENTITY of LIBRARY, made of what was LOADED, is the new file PATH.

    Raises ValueError where something in it could not be given back exactly, OSError or sqlite3.Error where it cannot
    be written; then the file is of no use.
    """
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (*_SWIFT, *TABLES, "BEGIN"):
            connection.execute(statement)
        _Writer(connection, Marks(identity), library, [one.cassette for one in loaded]).write(
            [_without_path(one) for one in loaded]
        )
        connection.execute("COMMIT")


def _without_path(one: Loaded) -> list[str]:
    """What its reader is told, wherever the cassette will lie then."""
    return [warning.removeprefix(f"{one.path}: ") for warning in one.warnings]


@dataclass(frozen=True, slots=True)
class _Writer:
    connection: sqlite3.Connection
    marks: Marks
    library: Library
    cassettes: Sequence[Cassette]

    def write(self, warnings: list[list[str]]) -> None:
        library = self.library
        rights = _Rights(library, self.cassettes)
        self._fill("recording", ((one.position, _told(one, rights)) for one in library.recordings))
        texts = ((one.position, cassette_format.to_json(one.interaction)) for one in library.recordings)
        self._fill("interaction", texts)
        series = library.arrangement.series
        self._fill("series", ((key, _series(series[key])) for key in sorted(series)))
        writes = {scope_text(scope): those for scope, those in library.writes.items()}
        named = {text: text_of([list(one.positions), list(one.cassettes)]) for text, one in sorted(writes.items())}
        self._fill("writes", named.items())
        self._fill("named", sorted((one.name, text) for text, one in writes.items()))
        self.connection.executemany("INSERT INTO near VALUES (?, ?, ?, ?)", sorted(_neighbours(series.values())))
        self.connection.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?, ?)", _blobs(self.cassettes))
        facts = _facts(library) | {"rights": rights.rows, "tags": rights.tags, "warnings": warnings}
        self._fill("fact", ((name, text_of(value)) for name, value in facts.items()))

    def _fill(self, table: str, rows: Iterable[tuple[Key, str]]) -> None:
        statement = f"INSERT INTO {table} VALUES (?, ?, ?)"  # noqa: S608 - one of our own tables
        self.connection.executemany(statement, ((key, value, self.marks.of(table, key, value)) for key, value in rows))


class _Rights:
    """The distinct tags, and the distinct triples of them that recordings are judged by; both told by number."""

    def __init__(self, library: Library, cassettes: Sequence[Cassette]) -> None:
        self._library = library
        self._cassettes = cassettes
        self._tags: dict[Tag, int] = {}
        self._rows: dict[tuple[int | None, int, int | None], int] = {}

    @property
    def tags(self) -> list[dict[str, object]]:
        """Every tag, as plain values."""
        return [tag.to_dict() for tag in self._tags]

    @property
    def rows(self) -> list[tuple[int | None, int, int | None]]:
        """The interaction's own tag, the cassette's and the provider's, by number."""
        return list(self._rows)

    def of(self, recording: Recording) -> int:
        """The number of the triple that RECORDING is judged by."""
        interaction = recording.interaction
        provided = self._library.providers.of(interaction.request.origin.host).rights
        base = self._number(self._cassettes[recording.cassette].rights)
        assert base is not None
        row = (self._number(interaction.rights), base, self._number(provided))
        return self._rows.setdefault(row, len(self._rows))

    def _number(self, tag: Tag | None) -> int | None:
        if tag is None:
            return None
        if tag not in self._tags:
            _require_whole(tag)
        return self._tags.setdefault(tag, len(self._tags))


def _require_whole(tag: Tag) -> None:
    try:
        whole = Tag.from_dict(json.loads(text_of(tag.to_dict()))) == tag
    except (RightsError, TypeError) as error:
        raise ValueError(f"a rights tag cannot be said in JSON: {error}") from error
    if not whole:
        raise ValueError("a rights tag cannot be said in JSON")


def _told(one: Recording, rights: _Rights) -> str:
    flags = UNMASKED * one.unmasked | WRITE * one.write | CONDITIONAL * one.conditional
    preference = one.preference.hex()
    return text_of(
        [one.cassette, one.id, one.method, one.url, one.status, flags, preference, rights.of(one), one.fault]
    )


def _series(series: Series) -> str:
    covering = [writes.name for writes in series.covering]
    preferences = sorted(one.hex() for one in series.preferences)
    return text_of([list(series.positions), list(series.heads), preferences, series.alike, covering, series.rule])


def scope_text(scope: Scope) -> str:
    """SCOPE as a key."""
    return text_of([scope.origin.scheme, scope.origin.host, scope.origin.port, *scope.segments])


def _neighbours(series: Iterable[Series]) -> Iterator[tuple[str, str, int, str]]:
    for one in series:
        first = one.recordings[0]
        request = first.interaction.request
        yield request.origin.host, request.target, first.position, f"{request.origin}{request.path}"


def _blobs(cassettes: Sequence[Cassette]) -> Iterator[tuple[int, str, int]]:
    return ((number, blob.sha256, blob.size) for number, one in enumerate(cassettes) for blob in blobs_of(one))


def _facts(library: Library) -> dict[str, Any]:
    facts = library.facts
    return {
        "count": len(library.recordings),
        "cassettes": facts.cassettes,
        "salts": list(facts.salts.items()),
        "show": facts.show,
        "digest": facts.digest,
        "ports": [(host, sorted(ports)) for host, ports in facts.ports.items()],
        "recorded_us": facts.recorded_us,
        "over_http2": sorted(facts.over_http2),
        "heads": [(mark.hex(), positions) for mark, positions in facts.heads.items()],
    }
