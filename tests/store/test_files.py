"""Files are whole or not there, whatever goes wrong while they are written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from replayproxy.core.errors import OperationError
from replayproxy.store.files import replace_file, told


def test_replace(tmp_path: Path) -> None:
    """New and old files hold the octets, keep their permissions, and leave nothing beside them."""
    path = tmp_path / "a.yaml"
    replace_file(path, b"one")
    path.chmod(0o640)
    replace_file(path, b"two", lasting=False)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.yaml"]


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Code 3, with what the system says; the half-written file is gone."""
    path = tmp_path / "a.yaml"
    replace_file(path, b"one")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OperationError, match=os.strerror(number)) as caught:
        replace_file(path, b"two")
    assert caught.value.exit_code == 3
    assert bool(caught.value.hint) is (number != errno.EIO)
    assert path.read_bytes() == b"one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.yaml"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """write(2) may take less than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:3])))
    replace_file(tmp_path / "a.yaml", b"0123456789")
    assert (tmp_path / "a.yaml").read_bytes() == b"0123456789"


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link where the temporary file goes cannot make us write elsewhere."""
    path = tmp_path / "a.yaml"
    victim = tmp_path / "victim"
    victim.write_bytes(b"safe")
    monkeypatch.setattr("secrets.token_hex", lambda _: "01234567")
    (tmp_path / ".a.yaml.01234567.part").symlink_to(victim)
    with pytest.raises(OperationError):
        replace_file(path, b"two")
    assert victim.read_bytes() == b"safe"


def test_other_errors_pass_through(tmp_path: Path) -> None:
    """Only what the operating system says is translated."""
    with pytest.raises(ValueError, match="mine"), told("write", tmp_path):
        raise ValueError("mine")


def test_permissions_stay_whatever_the_umask(tmp_path: Path) -> None:
    """A file that a group may write to is not taken from it."""
    path = tmp_path / "a.yaml"
    path.touch()
    path.chmod(0o664)
    before = os.umask(0o077)
    try:
        replace_file(path, b"two")
        replace_file(tmp_path / "new.yaml", b"one")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o664
    assert (tmp_path / "new.yaml").stat().st_mode & 0o777 == 0o600
