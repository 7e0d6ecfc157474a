"""Names of cassettes and of what lies beside them; what cannot be written is refused before anything happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replayproxy.core.errors import UsageError
from replayproxy.store import names


def test_names(tmp_path: Path) -> None:
    """Everything beside a cassette that is not one is hidden, so that a glob of its name finds cassettes only."""
    path = tmp_path / "a.b.yaml"
    assert names.blobs_folder(path).name == "a.b.blobs"
    assert names.incomplete_path(path).name == "a.b.incomplete.yaml"
    for hidden in (names.lock_file(path), names.recording_folder(path), names.temporary_path(path)):
        assert hidden.parent == tmp_path
        assert hidden.name.startswith(".a.b")
    assert names.cassette_of_recording(names.recording_folder(path)) == path


@pytest.mark.parametrize(
    "name", ["cassette.yaml", "x [<>:|?*] 'é.yaml", "a b.yaml", "x" * 200 + ".yaml", "a\udcff.yaml"]
)
def test_good_targets(tmp_path: Path, name: str) -> None:
    """Odd but legal names work, and nothing is touched."""
    names.check_target(tmp_path / name, "fail")
    assert not list(tmp_path.iterdir())


BAD = {
    "other suffix": ("cassette.yml", "ends in .yaml"),
    "no suffix": ("cassette", "ends in .yaml"),
    "nothing but a suffix": (".yaml", "ends in .yaml"),
    "no folder": ("missing/cassette.yaml", "mkdir -p"),
    "a file for a folder": ("file/cassette.yaml", "mkdir -p"),
    "too long": ("x" * 400 + ".yaml", "shorter name"),
    "too long for what lies beside it": ("x" * 240 + ".yaml", "shorter name"),
    "too long in octets": ("é" * 120 + ".yaml", "shorter name"),
    "a folder": ("folder.yaml", "another name"),
    "configuration": ("replayproxy.yaml", "another name"),
    "a file of rights": ("vendor.rights.yaml", "another name"),
    "what was given up": ("a.incomplete.yaml", "another name"),
    "no name at all": ("a\x00.yaml", "ends in .yaml"),
}


@pytest.mark.parametrize(("name", "hint"), BAD.values(), ids=BAD.keys())
def test_bad_targets(tmp_path: Path, name: str, hint: str) -> None:
    """Code 2, with the name and a hint."""
    (tmp_path / "file").touch()
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(UsageError) as caught:
        names.check_target(tmp_path / name)
    assert name.rpartition("/")[2][:10] in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.exit_code == 2


def test_existing(tmp_path: Path) -> None:
    """`fail` refuses what is there, a dangling link too; the other modes take it."""
    path = tmp_path / "cassette.yaml"
    path.touch()
    for mode in ("append", "replace", "new"):
        names.check_target(path, mode)
    with pytest.raises(UsageError, match=r"cassette\.yaml exists already \(found again\)"):
        names.check_target(path, "fail", told="found again")
    link = tmp_path / "link.yaml"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists already"):
        names.check_target(link, "fail")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer of access(2) counts (a test may run as root, whom it never refuses)."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(UsageError, match="no permission"):
        names.check_target(tmp_path / "cassette.yaml")


def test_temporary_names(tmp_path: Path) -> None:
    """Each is another one, known by the file that it is to become."""
    path = tmp_path / "a.b.yaml"
    first, second = names.temporary_path(path).name, names.temporary_path(path).name
    assert first != second
    assert names.is_temporary(first, "a.b.yaml")
    assert not names.is_temporary(first, "b.yaml")
    assert not names.is_temporary("a.b.yaml", "a.b.yaml")


def test_a_file_system_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system says is told, as a matter of the name."""

    def fail(*_: object) -> None:
        raise OSError("no answer")

    monkeypatch.setattr(os, "pathconf", fail)
    with pytest.raises(UsageError, match=r"cannot write .*cassette\.yaml: no answer"):
        names.check_target(tmp_path / "cassette.yaml")
