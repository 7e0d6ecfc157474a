"""One recorder at a time; the lock dies with its process and leaves nothing behind."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from replayproxy.core.errors import OperationError
from replayproxy.store import lock

HOLD = """
import sys, pathlib
from replayproxy.store import lock
held = lock(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_is_refused(tmp_path: Path) -> None:
    """It is told the file and the process, and the first goes on."""
    path = tmp_path / "cassette.yaml"
    with lock(path) as held:
        with pytest.raises(
            OperationError, match=rf"cassette\.yaml is being recorded by process {os.getpid()}"
        ) as caught:
            lock(path)
        assert caught.value.exit_code == 3
        with pytest.raises(OperationError):
            lock(path)
    held.release()
    assert not list(tmp_path.iterdir())
    lock(path).release()


def test_a_killed_holder_locks_no_one_out(tmp_path: Path, root: Path) -> None:
    """Its file stays; its lock does not."""
    path = tmp_path / "cassette.yaml"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(OperationError, match=f"process {process.pid}"):
            lock(path)
        process.send_signal(signal.SIGKILL)
    assert [entry.name for entry in tmp_path.iterdir()] == [".cassette.yaml.lock"]
    lock(path).release()
    assert not list(tmp_path.iterdir())


def test_a_lock_file_that_was_removed_meanwhile_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening and locking, the holder before us may have removed the file: the next one is locked."""
    path = tmp_path / "cassette.yaml"
    real, calls = os.open, []

    def opened(*args: object, **named: object) -> int:
        descriptor = real(*args, **named)  # type: ignore[arg-type]
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / ".cassette.yaml.lock").unlink()
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    with lock(path):
        monkeypatch.undo()
        assert len(calls) == 2
        assert (tmp_path / ".cassette.yaml.lock").exists()
        with pytest.raises(OperationError):
            lock(path)


@pytest.mark.parametrize("call", ["flock", "ftruncate"])
def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """It is code 3 with what the system says, and no descriptor stays open."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl if call == "flock" else os, call, fail)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OperationError, match=r"cannot lock .*cassette\.yaml: No locks available"):
        lock(tmp_path / "cassette.yaml")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_holder_that_has_not_said_its_name_yet(tmp_path: Path) -> None:
    """Between locking and writing its number a process has none to tell."""
    path = tmp_path / "cassette.yaml"
    with lock(path):
        (tmp_path / ".cassette.yaml.lock").write_bytes(b"")
        with pytest.raises(OperationError, match="is being recorded by another process"):
            lock(path)


def test_a_file_that_cannot_be_removed_is_unlocked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may have become read-only meanwhile; the next one takes the file that is there."""
    path = tmp_path / "cassette.yaml"

    def fail(_: Path) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", fail)
        lock(path).release()
    assert [entry.name for entry in tmp_path.iterdir()] == [".cassette.yaml.lock"]
    lock(path).release()
    assert not list(tmp_path.iterdir())
