"""After kill -9: every finished interaction is found again, put in its place once, and nothing else is touched."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replayproxy.core.errors import CassetteError, OperationError, UsageError
from replayproxy.core.exchange import Cassette, Interaction
from replayproxy.store import Recording, find, pending, read, read_with_pending, recover, write

type Make = Callable[..., Interaction]

RECORD = """
import sys
from pathlib import Path
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.rights import preset
from replayproxy.store import Recording

recording = Recording.start(Path(sys.argv[1]), Cassette(name="cassette", rights=preset("own-synthetic")), sys.argv[2])
for number, body in enumerate((b"killed", b"k" * 70000)):
    order = recording.first_order + number
    request = Request(method="GET", origin=Origin.of("http", "api.example.test"), target=f"/{number}")
    recording.append(
        Interaction(
            id=interaction_id(order, request), order=order, request=request, response=Response(status=200, body=body)
        )
    )
print("recorded", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the cassette of a test goes."""
    return tmp_path / "cassette.yaml"


@pytest.fixture
def killed(path: Path, root: Path) -> Callable[[str], None]:
    """Records two interactions in a given mode, in a process that is then killed."""

    def run(mode: str) -> None:
        command = [sys.executable, "-c", RECORD, str(path), mode]
        with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"recorded\n"
            process.send_signal(signal.SIGKILL)

    return run


def names(folder: Path) -> list[str]:
    """Every file and folder in FOLDER, hidden ones too."""
    return sorted(entry.name for entry in folder.iterdir())


def bodies(path: Path) -> list[bytes]:
    """The first octets of the answers in the cassette at PATH."""
    loaded = read(path)
    return [loaded.blobs.read(one.response.body)[:6] for one in loaded.cassette.interactions]


def test_a_new_cassette(path: Path, killed: Callable[[str], None]) -> None:
    """The log is served as it is, with a warning and without a change; `recover` makes it the cassette."""
    killed("fail")
    before = names(path.parent)
    assert not path.exists()
    assert find([path]).paths == find([path.parent]).paths == (path,)
    loaded = read_with_pending(path)
    assert [loaded.blobs.read(one.response.body)[:6] for one in loaded.cassette.interactions] == [b"killed", b"kkkkkk"]
    assert "2 interactions come from a recording that did not end" in loaded.warnings[0]
    assert names(path.parent) == before
    assert recover(path) == f"recovered 2 interactions of a killed recording into {path}"
    assert bodies(path) == [b"killed", b"kkkkkk"]
    assert names(path.parent) == ["cassette.blobs", "cassette.yaml"]
    assert recover(path) == ""
    assert read_with_pending(path).warnings == ()


@pytest.mark.parametrize("mode", ["append", "new"])
def test_an_addition(path: Path, killed: Callable[[str], None], head: Cassette, answer: Make, mode: str) -> None:
    """It is added."""
    write(path, replace(head, interactions=(answer(0, b"old"),)))
    killed(mode)
    assert len(read_with_pending(path).cassette.interactions) == 3
    recover(path)
    assert bodies(path) == [b"old", b"killed", b"kkkkkk"]


def test_a_replacement(path: Path, killed: Callable[[str], None], head: Cassette, answer: Make) -> None:
    """The old cassette is untouched; what was recorded lies beside it, and another replacement is not in its way."""
    write(path, replace(head, interactions=(answer(0, b"old"),)))
    before = path.read_bytes()
    killed("replace")
    assert path.read_bytes() == before
    loaded = read_with_pending(path)
    (warning,) = loaded.warnings
    assert len(loaded.cassette.interactions) == 1
    assert "2 interactions of a recording that did not end are not part of it" in warning
    assert "cassette.incomplete.yaml" in warning
    recording = Recording.start(path, head, "replace")
    assert "into" in "".join(recording.notes)
    assert path.read_bytes() == before
    recording.append(answer(0, b"new"))
    recording.finish()
    assert bodies(path) == [b"new"]
    assert bodies(path.with_name("cassette.incomplete.yaml")) == [b"killed", b"kkkkkk"]


def test_the_next_recording_recovers(path: Path, killed: Callable[[str], None], head: Cassette, answer: Make) -> None:
    """With `fail` the recovered cassette is then in its way, and it says so; with `append` it goes on."""
    killed("fail")
    with pytest.raises(UsageError, match=r"exists already \(recovered 2 interactions"):
        Recording.start(path, head, "fail")
    assert bodies(path) == [b"killed", b"kkkkkk"]
    recording = Recording.start(path, head, "append")
    recording.append(answer(recording.first_order, b"next"))
    recording.finish()
    assert bodies(path) == [b"killed", b"kkkkkk", b"next"]


def test_a_running_recorder_is_not_recovered(path: Path, head: Cassette, answer: Make) -> None:
    """What it has finished can be read; its log is its own."""
    recording = Recording.start(path, head)
    recording.append(answer(0))
    with pytest.raises(OperationError, match="is being recorded by process"):
        recover(path)
    found = pending(path)
    assert found is not None
    assert (len(found.content.interactions), found.target) == (1, path)
    assert len(read_with_pending(path).cassette.interactions) == 1
    recording.finish()
    assert pending(path) is None


@pytest.mark.parametrize("mode", ["fail", "append", "replace"])
def test_killed_after_the_cassette_was_written(path: Path, head: Cassette, answer: Make, mode: str) -> None:
    """The log that was not removed any more is not added a second time."""
    if mode != "fail":
        write(path, replace(head, interactions=(answer(0, b"old"),)))
    recording = Recording.start(path, head, mode)  # type: ignore[arg-type]
    recording.append(answer(0, b"new", started_us=77))
    log = path.parent / ".cassette.recording"
    shutil.copytree(log, path.parent / "copy")
    recording.finish()
    before = path.read_bytes()
    (path.parent / "copy").rename(log)
    assert read_with_pending(path).warnings == ()
    assert recover(path) == ""
    assert path.read_bytes() == before
    assert names(path.parent) == ["cassette.yaml"]


def test_a_cassette_that_changed_meanwhile(
    path: Path, killed: Callable[[str], None], head: Cassette, answer: Make
) -> None:
    """What a killed recording wanted to add to another file is put beside this one."""
    write(path, replace(head, interactions=(answer(0, b"old"),)))
    killed("append")
    write(path, replace(head, interactions=(answer(0, b"edited"),)))
    before = path.read_bytes()
    assert "cassette.incomplete.yaml" in recover(path)
    assert path.read_bytes() == before
    assert bodies(path.with_name("cassette.incomplete.yaml")) == [b"killed", b"kkkkkk"]


def test_torn_and_empty_logs(path: Path, killed: Callable[[str], None], head: Cassette) -> None:
    """Half an interaction is dropped, and told; a log of none is removed."""
    killed("fail")
    log = path.parent / ".cassette.recording" / "log"
    log.write_bytes(log.read_bytes()[:-10])
    assert "recovered 1 interactions" in (told := recover(path))
    assert "octets of an unfinished one were dropped" in told
    assert bodies(path) == [b"killed"]
    path.unlink()
    log.parent.mkdir()
    assert recover(path) == ""
    log.parent.mkdir()
    log.write_bytes(b"")
    assert recover(path) == ""
    assert not log.parent.exists()
    Recording.start(path, head).abandon()


def test_a_replacement_of_nothing(path: Path, killed: Callable[[str], None]) -> None:
    """There was nothing to keep, so it is a recording like any other."""
    killed("replace")
    assert len(read_with_pending(path).cassette.interactions) == 2
    recover(path)
    assert bodies(path) == [b"killed", b"kkkkkk"]
    assert names(path.parent) == ["cassette.blobs", "cassette.yaml"]


def test_a_cassette_that_cannot_be_read_any_more(
    path: Path, killed: Callable[[str], None], head: Cassette, answer: Make
) -> None:
    """It is no reason to lose the recording, nor may the recording take its place; a replacement may."""
    write(path, replace(head, interactions=(answer(0, b"z" * 300_000),)))
    killed("append")
    (body,) = (path.parent / "cassette.blobs").iterdir()
    body.unlink()
    before = path.read_bytes()
    with pytest.raises(CassetteError, match="is missing"):
        read_with_pending(path)
    recording = Recording.start(path, head, "replace")
    assert "cassette.incomplete.yaml" in "".join(recording.notes)
    assert path.read_bytes() == before
    recording.append(answer(0, b"new"))
    recording.finish()
    assert (bodies(path), bodies(path.with_name("cassette.incomplete.yaml"))) == ([b"new"], [b"killed", b"kkkkkk"])


def test_what_was_given_up_stays_given_up(path: Path, head: Cassette, answer: Make) -> None:
    """Even where it could not be written any more: it is no part of the cassette, which is told, and is kept."""
    write(path, replace(head, interactions=(answer(0, b"old"),)))
    before = path.read_bytes()
    recording = Recording.start(path, head, "append")
    recording.append(answer(1, b"new"))
    (path.parent / "cassette.incomplete.yaml").mkdir()
    with pytest.raises(OperationError):
        recording.abandon()
    (path.parent / "cassette.incomplete.yaml").rmdir()
    loaded = read_with_pending(path)
    assert len(loaded.cassette.interactions) == 1
    assert "are not part of it" in loaded.warnings[0]
    assert "recovered 1 interactions" in recover(path)
    assert path.read_bytes() == before
    assert bodies(path.with_name("cassette.incomplete.yaml")) == [b"new"]
    assert names(path.parent) == ["cassette.incomplete.yaml", "cassette.yaml"]


def test_what_was_left_half_written_goes(path: Path, killed: Callable[[str], None], head: Cassette) -> None:
    """Temporary files of the cassette, of what was given up and of bodies; none that another file has."""
    killed("append")
    (path.parent / "cassette.blobs").mkdir()
    (path.parent / "cassette.incomplete.blobs").mkdir()
    sha256 = "a" * 64
    ours = (
        ".cassette.yaml.0123abcd.part",
        ".cassette.incomplete.yaml.0123abcd.part",
        f"cassette.blobs/.{sha256}.0123abcd.part",
        f"cassette.incomplete.blobs/.{sha256}.0123abcd.part",
    )
    others = (".other.yaml.0123abcd.part", ".cassette.yaml.mine.part")
    for name in (*ours, *others):
        (path.parent / name).touch()
    recover(path)
    assert bodies(path) == [b"killed", b"kkkkkk"]
    assert names(path.parent) == sorted((*others, "cassette.blobs", "cassette.yaml"))
    assert len(names(path.parent / "cassette.blobs")) == 1
