"""The log: every whole entry is read, wherever the writing was broken off."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from replayproxy.core.errors import OperationError
from replayproxy.core.exchange import Cassette, Interaction
from replayproxy.store.log import Header, LogWriter, read_log

type Make = Callable[..., Interaction]


@pytest.fixture
def log(tmp_path: Path, head: Cassette, answer: Make) -> Path:
    """A log of three interactions."""
    writer = LogWriter(tmp_path / "log")
    writer.start(Header("append", "ab"), head)
    for order in range(3):
        writer.append(answer(order))
    writer.flush()
    writer.close()
    return writer.path


def test_round_trip(log: Path, head: Cassette, answer: Make) -> None:
    """Header, head and interactions come back."""
    content = read_log(log)
    assert content is not None
    assert content.header == Header("append", "ab")
    assert (content.head.name, content.head.rights, content.head.salt) == (head.name, head.rights, head.salt)
    assert content.interactions == tuple(answer(order) for order in range(3))
    assert content.torn == 0


def test_every_beginning_is_read(log: Path, answer: Make) -> None:
    """Cut anywhere, the log gives the interactions that are whole and tells the rest."""
    data = log.read_bytes()
    starts = [position for position in range(len(data)) if data.startswith(b"interaction ", position)]
    ends = starts[1:]
    for end in [*range(0, len(data), 41), *ends, *(end - 1 for end in ends), len(data) - 1]:
        log.write_bytes(data[:end])
        content = read_log(log)
        whole = sum(position <= end for position in [*ends, len(data)])
        if content is None:
            assert whole == 0
        else:
            assert content.interactions == tuple(answer(order) for order in range(whole))
            assert (content.torn == 0) is (end in starts)


def test_a_damaged_entry_ends_the_log(log: Path, answer: Make) -> None:
    """What follows a damaged entry cannot be trusted to follow it."""
    data = log.read_bytes()
    position = data.rindex(b"interaction ")
    log.write_bytes(data[: position - 40].replace(b"string: one", b"string: two") + data[position - 40 :])
    content = read_log(log)
    assert content is not None
    assert content.interactions == ()
    assert content.torn > 0
    assert answer(0) not in content.interactions


def test_a_full_disk_keeps_what_is_whole(
    tmp_path: Path, head: Cassette, answer: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The torn entry is taken back, so that what is appended later is read."""
    writer = LogWriter(tmp_path / "log")
    writer.start(Header("fail", ""), head)
    writer.append(answer(0))
    real = os.write

    room = iter([50])

    def full(descriptor: int, data: bytes) -> int:
        if (left := next(room, 0)) == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, bytes(data[:left]))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OperationError, match="No space left on device"):
        writer.append(answer(1))
    monkeypatch.undo()
    writer.append(answer(2))
    writer.close()
    content = read_log(writer.path)
    assert content is not None
    assert [one.order for one in content.interactions] == [0, 2]
    assert content.torn == 0


def test_a_newer_log_is_left_alone(tmp_path: Path, head: Cassette, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that wrote it can finish it."""
    monkeypatch.setattr("replayproxy.store.log._FORMAT", 2)
    writer = LogWriter(tmp_path / "log")
    writer.start(Header("fail", ""), head)
    writer.close()
    monkeypatch.undo()
    with pytest.raises(OperationError, match="newer version"):
        read_log(writer.path)


def test_another_file_is_no_log(tmp_path: Path) -> None:
    """Nothing is made of it."""
    (tmp_path / "log").write_bytes(b"hello")
    assert read_log(tmp_path / "log") is None


def test_an_interrupted_entry_is_taken_back(
    tmp_path: Path, head: Cassette, answer: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between two calls of write(2) leaves no torn entry in the way of what follows."""
    writer = LogWriter(tmp_path / "log")
    writer.start(Header("fail", ""), head)
    real, calls = os.write, iter([20])

    def interrupted(descriptor: int, data: bytes) -> int:
        for size in calls:
            return real(descriptor, bytes(data[:size]))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            writer.append(answer(0))
    writer.append(answer(1))
    writer.close()
    content = read_log(writer.path)
    assert content is not None
    assert ([one.order for one in content.interactions], content.torn) == ([1], 0)


def test_no_log(tmp_path: Path) -> None:
    """One that is gone, as a recorder's is that has just ended, is none; one that cannot be read is an error."""
    assert read_log(tmp_path / "gone") is None
    with pytest.raises(OperationError, match="cannot read"):
        read_log(tmp_path)
