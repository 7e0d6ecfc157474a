"""Header fields come back as they were: order, case, repeats, and those that VCR.py must not see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import Headers
from replayproxy.format.document import MisfitError
from replayproxy.format.fields import from_map, to_map

names = st.sampled_from(["A", "a", "B", "Content-Length", "content-length", "Content-Encoding", "Transfer-Encoding"])
headers = st.lists(st.tuples(names, st.sampled_from(["", "1", "2", "31", "é"])), max_size=8).map(tuple)
hidden = st.sets(st.sampled_from(["transfer-encoding", "content-encoding"]))
restated = st.dictionaries(st.just("content-length"), st.sampled_from(["1", "7"]))


@given(headers, hidden, restated)
def test_round_trip(fields: Headers, hide: set[str], restate: dict[str, str]) -> None:
    """Map and order give the list of the wire back, whatever is kept out of the map or restated in it."""
    mapped, order = to_map(fields, hidden=hide, restated=restate)
    assert from_map(mapped, order) == fields
    assert not {name.lower() for name in mapped} & hide
    assert all(mapped.values())


CASES = {
    "the map suffices": ((("A", "1"), ("B", "2"), ("B", "3")), {"A": ["1"], "B": ["2", "3"]}, None),
    "mixed repeats": ((("A", "1"), ("B", "2"), ("A", "3")), {"A": ["1", "3"], "B": ["2"]}, ["A", "B", "A"]),
    "two cases of a name": ((("A", "1"), ("a", "2")), {"A": ["1"], "a": ["2"]}, None),
    "hidden": ((("A", "1"), ("Content-Encoding", "gzip")), {"A": ["1"]}, ["A", ["Content-Encoding", "gzip"]]),
    "restated": ((("Content-Length", "31"),), {"Content-Length": ["11"]}, [["Content-Length", "31"]]),
    "restated alike": ((("Content-Length", "11"),), {"Content-Length": ["11"]}, None),
}


@pytest.mark.parametrize(("fields", "mapped", "order"), CASES.values(), ids=CASES.keys())
def test_forms(fields: Headers, mapped: dict[str, list[str]], order: list[object] | None) -> None:
    """The order is written only where the map does not give it."""
    assert to_map(fields, hidden={"content-encoding"}, restated={"content-length": "11"}) == (mapped, order)


def test_a_field_that_someone_added_counts() -> None:
    """The map holds the values, so an edit there is an edit; the order cannot hide it."""
    assert from_map({"A": ["1", "new"], "New": ["2"]}, ["A", ["Content-Encoding", "gzip"]]) == (
        ("A", "1"),
        ("Content-Encoding", "gzip"),
        ("A", "new"),
        ("New", "2"),
    )


def test_a_field_that_someone_took_out_is_an_error() -> None:
    """The order names it still."""
    with pytest.raises(MisfitError, match="names 'A', of which the map has only 1") as caught:
        from_map({"A": ["1"]}, ["A", "A"])
    assert caught.value.path == (1,)
