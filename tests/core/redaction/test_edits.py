"""Edits: settled first, made at once, and nothing outside them touched."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.edits import Edit, Mask, apply, is_settled, settle

MASKS = (Mask("rule", "xx"),)


def edit(start: int, end: int, new: str = "-") -> Edit:
    """An edit of START to END."""
    return Edit(start, end, new, MASKS)


@pytest.mark.parametrize(
    ("given_edits", "kept", "all_done"),
    [
        ([], [], True),
        ([(3, 5), (0, 2)], [(0, 2), (3, 5)], True),
        ([(0, 2), (2, 4)], [(0, 2), (2, 4)], True),
        ([(1, 3), (0, 5)], [(0, 5)], False),
        ([(0, 3), (0, 5)], [(0, 5)], False),
        ([(0, 4), (0, 4)], [(0, 4)], True),
        ([(0, 4), (2, 6)], [(0, 4)], False),
        ([(0, 4), (2, 6), (6, 8), (5, 7)], [(0, 4), (5, 7)], False),
    ],
)
def test_of_two_that_overlap_one_stays(
    given_edits: list[tuple[int, int]], kept: list[tuple[int, int]], *, all_done: bool
) -> None:
    """The one that begins first, then the longer; whether anything of the others is left to do is told."""
    edits = [edit(*span) for span in given_edits]
    settled = settle(edits)
    assert [(one.start, one.end) for one in settled] == kept
    assert is_settled(edits, settled) is all_done


def test_the_first_of_two_equals_stays() -> None:
    """Who found it first, by name, tells the rule."""
    assert settle([edit(0, 2, "a"), edit(0, 2, "b")]) == [edit(0, 2, "a")]


def test_apply_and_move() -> None:
    """Text outside the edits stays; an edit moves with its text."""
    assert apply("abcdef", [edit(1, 2, "XX"), edit(4, 6, "")]) == "aXXcd"
    assert apply("abc", []) == "abc"
    assert edit(1, 2).moved(3) == edit(4, 5)


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6))
def test_settled_edits_do_not_overlap(text: str, spans: list[tuple[int, int]]) -> None:
    """Whatever is found: what is kept can be made at once, and edits that change nothing change nothing."""
    edits = [edit(a, b, text[a:b]) for a, b in spans if a < b <= len(text)]
    settled = settle(edits)
    assert all(a.end <= b.start for a, b in pairwise(settled))
    assert apply(text, settled) == text
