"""One recorder at a time; the lock dies with its process and leaves nothing behind."""

from __future__ import annotations

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
