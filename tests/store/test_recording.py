"""A recording: nothing that was appended is lost, and the cassette there was stays until the end."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replayproxy.core.errors import CassetteError, OperationError, UsageError
from replayproxy.core.exchange import Blob, Cassette, Coding, Interaction, Signature
from replayproxy.core.rights import preset
from replayproxy.store import Recording, check, read, write

type Make = Callable[..., Interaction]

LARGE = b"z" * 300_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the cassette of a test goes."""
    return tmp_path / "cassette.yaml"


def names(folder: Path) -> list[str]:
    """Every file and folder in FOLDER, hidden ones too."""
    return sorted(entry.name for entry in folder.iterdir())


def bodies(path: Path) -> list[bytes]:
    """The bodies of the answers in the cassette at PATH."""
    loaded = read(path)
    return [loaded.blobs.read(one.response.body) for one in loaded.cassette.interactions]


def test_recording(path: Path, head: Cassette, answer: Make) -> None:
    """Answers in any order; the cassette has the order of the requests, its head and a digest that holds."""
    recording = Recording.start(path, head)
    assert (recording.first_order, recording.existing, recording.salt, recording.notes) == (0, None, "ab12", ())
    for order, body in ((1, b"two"), (0, b"one"), (2, LARGE)):
        recording.append(answer(order, body))
    recording.flush()
    assert all(name.startswith(".") for name in names(path.parent))
    assert recording.finish() == path
    assert bodies(path) == [b"one", b"two", LARGE]
    assert names(path.parent) == ["cassette.blobs", "cassette.yaml"]
    loaded = read(path)
    assert (loaded.cassette.name, loaded.cassette.rights, check(loaded)) == ("cassette", head.rights, ())


def test_nothing_recorded(path: Path, head: Cassette) -> None:
    """Finished, it is a cassette without interactions; given up, nothing."""
    assert Recording.start(path, head).abandon() is None
    assert names(path.parent) == []
    Recording.start(path, head).finish()
    assert bodies(path) == []


def test_large_bodies_on_the_way(path: Path, head: Cassette, answer: Make) -> None:
    """A body that is written as it comes in is never in memory as a whole; one given up leaves nothing."""
    recording = Recording.start(path, head)
    writer = recording.blob_writer()
    for _ in range(10):
        writer.write(LARGE)
    blob = writer.finish()
    assert blob == Blob(hashlib.sha256(LARGE * 10).hexdigest(), len(LARGE) * 10)
    recording.blob_writer().discard()
    one, two = answer(0), answer(1, LARGE)
    recording.append(replace(one, response=replace(one.response, body=blob)))
    coded = replace(two.response, coding=Coding(names=("br",), coded=b"\x00" * 5000))
    recording.append(replace(two, request=replace(two.request, body=LARGE), response=coded))
    recording.finish()
    assert bodies(path) == [LARGE * 10, LARGE]
    assert len(names(path.parent / "cassette.blobs")) == 3
    assert check(read(path)) == ()


def test_existing_fail(path: Path, head: Cassette, answer: Make) -> None:
    """Code 2, and not an octet is changed."""
    write(path, replace(head, interactions=(answer(0),)))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"cassette\.yaml exists already"):
        Recording.start(path, head, "fail")
    assert path.read_bytes() == before
    assert names(path.parent) == ["cassette.yaml"]


@pytest.mark.parametrize("mode", ["append", "new"])
def test_existing_append(path: Path, head: Cassette, answer: Make, mode: str) -> None:
    """New interactions stand behind the old ones, whatever order they were given, with ids of their own."""
    write(path, replace(head, salt="cdef", interactions=(answer(0, b"old"), answer(4, LARGE))))
    recording = Recording.start(path, head, mode)  # type: ignore[arg-type]
    assert (recording.first_order, recording.salt) == (5, "cdef")
    assert recording.existing is not None
    recording.append(answer(5, b"new"))
    recording.finish()
    recording = Recording.start(path, head, mode)  # type: ignore[arg-type]
    recording.append(answer(0, b"newer"))
    recording.finish()
    assert bodies(path) == [b"old", LARGE, b"new", b"newer"]
    found = read(path).cassette
    assert [one.order for one in found.interactions] == [0, 4, 5, 6]
    assert len({one.id for one in found.interactions}) == 4
    assert found.salt == "cdef"


def test_append_under_another_tag(path: Path, head: Cassette, answer: Make) -> None:
    """The old interactions keep their tag, the new ones carry theirs."""
    write(path, replace(head, interactions=(answer(0),)))
    recording = Recording.start(path, replace(head, rights=preset("unknown")), "append")
    recording.append(answer(1))
    recording.append(replace(answer(2), rights=preset("own-synthetic")))
    recording.finish()
    found = read(path).cassette
    assert found.rights == preset("own-synthetic")
    assert [one.rights for one in found.interactions] == [None, preset("unknown"), preset("own-synthetic")]


def test_append_to_what_is_not_there(path: Path, head: Cassette, answer: Make) -> None:
    """It is a recording like any other."""
    recording = Recording.start(path, head, "append")
    recording.append(answer(0))
    recording.finish()
    assert bodies(path) == [b"one"]


def test_append_to_what_vcrpy_wrote(path: Path, head: Cassette, answer: Make) -> None:
    """The file becomes one of ours, with the salt of the new recording; nothing of it is lost."""
    path.write_text(
        "version: 1\nrecorded_with: mine\ninteractions:\n- request: {method: GET, uri: 'http://a.test/', body: null, "
        "headers: {}}\n  response: {status: {code: 200, message: OK}, headers: {}, body: {string: theirs}}\n"
    )
    recording = Recording.start(path, head, "append")
    recording.append(answer(recording.first_order))
    recording.finish()
    assert bodies(path) == [b"theirs", b"one"]
    found = read(path).cassette
    assert (found.salt, found.foreign, found.extensions) == ("ab12", "", (("x-recorded_with", "mine"),))


def test_append_to_what_cannot_be_read(path: Path, head: Cassette) -> None:
    """It is refused and left alone, and no lock is left behind."""
    path.write_text("interactions: [")
    with pytest.raises(CassetteError):
        Recording.start(path, head, "append")
    assert names(path.parent) == ["cassette.yaml"]


def test_replace(path: Path, head: Cassette, answer: Make) -> None:
    """The old file is there until the end."""
    write(path, replace(head, interactions=(answer(0, LARGE),)))
    before = path.read_bytes()
    recording = Recording.start(path, head, "replace")
    assert (recording.existing, recording.first_order) == (None, 0)
    recording.append(answer(0, b"new"))
    assert path.read_bytes() == before
    recording.finish()
    assert bodies(path) == [b"new"]
    assert names(path.parent) == ["cassette.yaml"]


@pytest.mark.parametrize("mode", ["append", "new", "replace"])
def test_abandon(path: Path, head: Cassette, answer: Make, mode: str) -> None:
    """The cassette stays as it was; the recording goes to NAME.incomplete.yaml, which the next one replaces."""
    write(path, replace(head, interactions=(answer(0),)))
    before = path.read_bytes()
    for body in (LARGE, b"again"):
        recording = Recording.start(path, head, mode)  # type: ignore[arg-type]
        recording.append(answer(1, body))
        incomplete = recording.abandon()
        assert incomplete == path.with_name("cassette.incomplete.yaml")
        assert bodies(incomplete) == [body]
    assert path.read_bytes() == before
    assert names(path.parent) == ["cassette.incomplete.yaml", "cassette.yaml"]


def test_signing(path: Path, head: Cassette, answer: Make) -> None:
    """The digest of the finished cassette is signed, and an old signature does not outlive new content."""

    def sign(digest: str) -> Signature:
        return Signature("key", f"signed {digest}")

    recording = Recording.start(path, head)
    recording.append(answer(0))
    recording.finish(sign)
    found = read(path).cassette
    assert found.signature == Signature("key", f"signed {found.digest}")
    recording = Recording.start(path, head, "append")
    recording.append(answer(1))
    recording.finish()
    assert read(path).cassette.signature is None


def test_a_full_disk_at_the_end(path: Path, head: Cassette, answer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cassette cannot be written, the log stays, and the next recording recovers it."""
    recording = Recording.start(path, head)
    recording.append(answer(0))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OperationError, match="No space left"):
            recording.append(answer(1))
        with pytest.raises(OperationError, match="No space left"):
            recording.finish()
    assert not path.exists()
    again = Recording.start(path, head, "append")
    assert "recovered 1 interactions" in "".join(again.notes)
    again.append(answer(again.first_order, b"two"))
    again.finish()
    assert bodies(path) == [b"one", b"two"]


def test_bad_targets(tmp_path: Path, head: Cassette) -> None:
    """They are refused before anything is made."""
    for name in ("x" * 400 + ".yaml", "missing/a.yaml", "a.yml"):
        with pytest.raises(UsageError):
            Recording.start(tmp_path / name, head)
    assert names(tmp_path) == []


@pytest.mark.parametrize("mode", ["fail", "append"])
@pytest.mark.parametrize("recorded", [0, 1])
def test_a_cassette_that_someone_else_changed_meanwhile(
    path: Path, head: Cassette, answer: Make, mode: str, recorded: int
) -> None:
    """It is not written over: code 3, and what was recorded is beside it."""
    if mode == "append":
        write(path, replace(head, interactions=(answer(0, b"old"),)))
    recording = Recording.start(path, head, mode)  # type: ignore[arg-type]
    for order in range(recorded):
        recording.append(answer(order, b"new"))
    write(path, replace(head, interactions=(answer(0, b"theirs"),)))
    with pytest.raises(OperationError, match="changed by someone else") as caught:
        recording.finish()
    assert bodies(path) == [b"theirs"]
    assert ("cassette.incomplete.yaml" in caught.value.what) is bool(recorded)
    if recorded:
        assert bodies(path.with_name("cassette.incomplete.yaml")) == [b"new"]
    assert not any(name.startswith(".") for name in names(path.parent))


def test_a_full_disk_at_the_start(path: Path, head: Cassette, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was recorded, so nothing is left."""
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 20:  # room for a lock only
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OperationError, match="No space left"):
        Recording.start(path, head)
    assert names(path.parent) == []


def test_the_same_large_body_twice(path: Path, head: Cassette, answer: Make) -> None:
    """It is stored once."""
    recording = Recording.start(path, head)
    for order in range(2):
        recording.append(answer(order, LARGE))
    recording.finish()
    assert bodies(path) == [LARGE, LARGE]
    assert len(names(path.parent / "cassette.blobs")) == 1
