"""replayproxy.core.journal: every line is told as it was, in a few octets."""

from __future__ import annotations

import sys
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.core.journal import Entry, Journal, Kind
from replayproxy.core.library import Library

ORIGIN = Origin("https", "api.example.test", 443)
LIBRARY = Library.build(
    [
        Cassette(
            name="tape",
            interactions=tuple(
                Interaction(
                    id=f"i{order}",
                    order=order,
                    request=Request(method="GET", origin=ORIGIN, target=f"/{order}"),
                    response=Response(status=200 + order),
                )
                for order in range(3)
            ),
        )
    ],
    purpose="local-debug",
)
RECORDINGS = LIBRARY.recordings
MISS = Kind("miss", None, "miss-unknown", 424, "GET", "https://api.example.test/lost")
REFUSAL = Kind("refused", 1, "RP030", 451, "GET", "https://api.example.test/1")
LINES = st.lists(st.sampled_from([0, 1, 2, MISS, REFUSAL]), max_size=12)


def told(lines: list[int | Kind]) -> Journal:
    """A journal of LINES: positions that were served, and kinds."""
    journal = Journal(RECORDINGS)
    for line in lines:
        if isinstance(line, Kind):
            journal.add(line)
        else:
            journal.tell(line)
    return journal


def test_a_line_tells_what_was_decided() -> None:
    """By the recording where there is one, else by the masked request."""
    assert [entry.to_dict() for entry in told([2, MISS, REFUSAL])] == [
        {
            "n": 1,
            "method": "GET",
            "url": "https://api.example.test/2",
            "decision": "served",
            "status": 202,
            "interaction": "i2",
        },
        {
            "n": 2,
            "method": "GET",
            "url": "https://api.example.test/lost",
            "decision": "miss",
            "status": 424,
            "code": "miss-unknown",
        },
        {
            "n": 3,
            "method": "GET",
            "url": "https://api.example.test/1",
            "decision": "refused",
            "status": 451,
            "interaction": "i1",
            "code": "RP030",
        },
    ]


@given(LINES)
def test_lines_are_told_in_their_order(lines: list[int | Kind]) -> None:
    """One by one, by their number, from any place on, and by what they say."""
    journal = told(lines)
    kinds = [line if isinstance(line, Kind) else Kind("served", line) for line in lines]
    assert len(journal) == len(lines)
    assert [(entry.n, entry.kind) for entry in journal] == list(enumerate(kinds, 1))
    for start in range(len(lines) + 1):
        assert list(journal.after(start)) == list(journal)[start:]
        assert list(journal.kinds(start)) == kinds[start:]
    for at in range(-len(lines), len(lines)):
        assert journal[at] == list(journal)[at]


@given(LINES, st.data())
def test_a_line_that_overlaps_says_so_and_no_other_does(lines: list[int | Kind], data: st.DataObject) -> None:
    """Lines of the same kind stay as they are."""
    journal = told([0, *lines])
    before = list(journal)
    n = data.draw(st.integers(1, len(before)))
    for _ in range(2):
        journal.overlap(n)
    expected = [Entry(one.n, replace(one.kind, overlaps=True), one.recording) if one.n == n else one for one in before]
    assert list(journal) == expected
    assert [entry.n for entry in journal if entry.overlaps] == [n]
    assert journal[n - 1].to_dict()["overlaps"] is True


@given(LINES, LINES, LINES)
def test_a_fork_holds_the_same_lines_and_moves_apart(
    lines: list[int | Kind], here: list[int | Kind], there: list[int | Kind]
) -> None:
    """What is added to one is not added to the other."""
    journal = told(lines)
    copy = journal.fork()
    for one, more in ((journal, here), (copy, there)):
        for line in more:
            if isinstance(line, Kind):
                one.add(line)
            else:
                one.tell(line)
    assert [entry.kind for entry in journal] == [entry.kind for entry in told(lines + here)]
    assert [entry.kind for entry in copy] == [entry.kind for entry in told(lines + there)]


def test_a_line_takes_a_few_octets() -> None:
    """Served or missed; a description is kept once however often it is told."""
    journal = told([0, MISS] * 10_000)
    assert sys.getsizeof(journal._numbers) < 20_000 * 5
    assert len(journal._kinds) == 1
