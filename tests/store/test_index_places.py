"""Where indexes lie, what they are called, and which are believed."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from replayproxy.core.provider import Provider, Providers, RedactRule
from replayproxy.core.rights import preset
from replayproxy.store.index_places import FOLDER, Place, places, validity

NONE = Providers()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file."""
    path = tmp_path / "cassettes" / "a.yaml"
    path.parent.mkdir()
    path.write_text("one")
    return path


def test_what_an_index_has_to_be_made_of(path: Path) -> None:
    """Octets, names, their order, and all that is said about providers."""
    other = path.with_name("b.yaml")
    other.write_text("one")
    provider = Provider(name="p", hosts=("a.test",))
    found = [
        validity(paths, providers)
        for paths in ([path], [other], [path, other], [other, path])
        for providers in (
            NONE,
            Providers((provider,)),
            Providers((Provider(name="p", hosts=("a.test",), rights=preset("own-synthetic")),)),
            Providers((Provider(name="p", hosts=("a.test",), redact=(RedactRule(pattern="a"),)),)),
        )
    ]
    assert len(set(found)) == len(found)
    assert validity([path], NONE) == found[0]
    path.write_text("two")
    assert validity([path], NONE) not in found
    path.unlink()
    with pytest.raises(OSError, match="No such file"):
        validity([path], NONE)


def test_a_set_of_cassettes_has_a_name_that_lasts(path: Path, tmp_path: Path) -> None:
    """Beside them it does not depend on where the folder is; in the state folder it does."""
    first = places([path], tmp_path / "state")
    path.parent.rename(tmp_path / "moved")
    moved = places([tmp_path / "moved" / "a.yaml"], tmp_path / "state")
    assert [place.folder for place in moved] == [tmp_path / "moved" / FOLDER, tmp_path / "state" / "index"]
    assert first[0].set == moved[0].set
    assert first[1].set != moved[1].set
    assert len({place.set for place in (*first, *moved)}) == 3


def settled(place: Place, valid: str) -> Path:
    """An index of VALID in PLACE."""
    temporary = place.temporary(valid)
    temporary.write_bytes(b"whole")
    return place.settle(temporary, valid)


def test_only_the_owners_of_cassettes_and_of_the_machine_make_indexes(path: Path, tmp_path: Path) -> None:
    """And whoever runs this process; the state folder is for that one and root alone."""
    beside, state = places([path], tmp_path / "state")
    assert beside.owners == {os.geteuid(), 0, path.stat().st_uid}
    assert state.owners == {os.geteuid(), 0}
    assert beside.make()
    made = settled(beside, "v")
    assert list(beside.found("v")) == [made]
    assert list(beside.found("w")) == []
    stranger = Place(beside.folder, beside.set, beside.mode, frozenset({made.stat().st_uid + 1}))
    assert list(stranger.found("v")) == []


def test_what_is_no_plain_file_or_cannot_be_read_is_passed_over(path: Path, tmp_path: Path) -> None:
    """A link, and a file that is gone by the time it is looked at."""
    beside, _ = places([path], tmp_path / "state")
    assert beside.make()
    made = settled(beside, "v")
    with patch("replayproxy.store.index_places.sha256_of", side_effect=OSError("gone")):
        assert list(beside.found("v")) == []
    elsewhere = tmp_path / "elsewhere"
    made.rename(elsewhere)
    made.symlink_to(elsewhere)
    assert list(beside.found("v")) == []


def test_a_place_that_cannot_be_written_is_none(path: Path, tmp_path: Path) -> None:
    """As the operating system says."""
    beside, _ = places([path], tmp_path / "state")
    with patch("replayproxy.store.index_places.os.access", return_value=False):
        assert not beside.make()


def test_files_of_others_in_the_folder_stay(path: Path, tmp_path: Path) -> None:
    """Only indexes of the same cassettes are replaced."""
    beside, _ = places([path], tmp_path / "state")
    assert beside.make()
    names = [".gitignore", "0.v.d.index", f"{beside.set}.txt", f".{beside.set}x.index.part"]
    for name in names:
        (beside.folder / name).touch()
    stale = settled(beside, "v")
    made = settled(beside, "w")
    with beside.locked():
        beside.clear()
    assert not stale.exists()
    assert sorted(entry.name for entry in beside.folder.iterdir()) == sorted([*names, made.name])
