"""What stands in a library, made of positions."""

from __future__ import annotations

import pytest

from replayproxy.core.exchange import Fault, Interaction, Origin, Request, Response
from replayproxy.core.sequence import Recording, Scope, Series, Writes
from replayproxy.core.series import Picked

ORIGIN = Origin("https", "api.example.test", 443)


def recording(position: int, fault: Fault | None = None) -> Recording:
    """A recording named by its position."""
    request = Request(method="GET", origin=ORIGIN, target=f"/{position}")
    interaction = Interaction(
        id=str(position), order=position, request=request, response=Response(status=200, fault=fault)
    )
    return Recording.of(interaction, {position: interaction}, position)


TAPE = [recording(position) for position in range(6)]


def test_a_recording_fetches_its_interaction_and_tells_the_rest_without_it() -> None:
    """Its title, status and fault are known before."""
    one = recording(3, Fault(kind="reset", phase="body"))
    assert (str(one), one.status, one.fault) == ("3 GET https://api.example.test/3", 200, "reset")
    assert one.interaction.id == "3"
    assert one.scope == Scope(ORIGIN, ("3",))
    assert TAPE[0].fault == ""


def test_picked_recordings_are_a_sequence() -> None:
    """By place and by slice, in the order of the positions."""
    picked = Picked(TAPE, [1, 4, 5])
    assert len(picked) == 3
    assert [one.position for one in picked] == [1, 4, 5]
    assert [one.position for one in picked[1:]] == [4, 5]
    with pytest.raises(IndexError):
        picked[3]


def test_writes_are_equal_by_what_they_name() -> None:
    """Two that were fetched apart are one and the same, whatever else they are compared with."""
    one, again, other = (Writes.of(own, TAPE) for own in (TAPE[1:3], TAPE[1:3], TAPE[3:4]))
    assert one == again != other
    assert len({one, again, other}) == 2
    assert one != one.name


def test_no_two_series_have_one_mark() -> None:
    """Whether they are short or long, and where they begin or end alike."""
    parts = [TAPE[start:end] for start in range(6) for end in range(start + 1, 7)]
    marks = [Series.of(part).mark for part in parts]
    assert len(set(marks)) == len(parts)
    assert marks == [Series.of(part).mark for part in parts]
    assert max(map(len, marks)) == 32
