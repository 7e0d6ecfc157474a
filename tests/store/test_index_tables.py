"""The format of an index, held to its number."""

from __future__ import annotations

import hashlib

from replayproxy.core.canonical import canonical
from replayproxy.core.exchange import Headers, Origin, Request
from replayproxy.store.index_tables import FORMAT, TABLES, Marks, text_of

ORIGIN = Origin("https", "api.example.test", 443)
JSON: Headers = (("Content-Type", "application/json"),)
FORM: Headers = (("Content-Type", "application/x-www-form-urlencoded"),)
ASKED = (
    Request(method="GET", origin=ORIGIN, target="/a?b=1&a=2&a=1"),
    Request(method="GET", origin=ORIGIN, target="/a", headers=(("Authorization", "Bearer x"), ("Range", "bytes=0-1"))),
    Request(method="POST", origin=ORIGIN, target="/a", headers=JSON, body=b'{"b": 1.0, "a": [null]}'),
    Request(method="POST", origin=ORIGIN, target="/a", headers=FORM, body=b"b=1&a=2"),
    Request(method="PUT", origin=ORIGIN, target="/a", body=b"\x00\x01"),
)
GOLDEN = {1: "fdccd48d37362e40f33db171156b40d3de7c994579b431a817ab3eb393c5fe99"}
"""By number: what tables there are, and under which keys requests are found."""


def test_what_an_index_holds_changes_only_with_its_number() -> None:
    """An index that an older version made under the same number would be believed, and find nothing or the wrong key.

    If this fails, raise FORMAT and put the new digest here.
    """
    found = [*TABLES, *(canonical(request).key.hex() + canonical(request).preference.hex() for request in ASKED)]
    assert {FORMAT: hashlib.sha256("\n".join(found).encode()).hexdigest()} == GOLDEN


def test_a_mark_belongs_to_one_row_of_one_index() -> None:
    """Another index, table, key or value has another."""
    marks = Marks("a")
    made = [
        marks.of("series", b"\x01", "v"),
        marks.of("series", "1", "v"),
        marks.of("interaction", 1, "v"),
        marks.of("recording", 1, "v"),
        marks.of("interaction", 2, "v"),
        marks.of("interaction", 1, "w"),
        Marks("b").of("interaction", 1, "v"),
    ]
    assert len(set(made)) == len(made)
    assert {len(mark) for mark in made} == {16}
    assert marks.of("interaction", 1, "v") == made[2]


def test_text_is_kept_short_and_readable() -> None:
    """One line, without spaces, and letters as they are."""
    assert text_of(["é", 1, None]) == '["é",1,null]'
