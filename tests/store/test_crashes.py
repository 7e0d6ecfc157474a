"""The store under real crashes and a real full disk: processes that are killed, limits that the kernel enforces."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from replayproxy.store import Recording, check, read, read_with_pending, recover

COMMON = """
import os, resource, signal, sys
from pathlib import Path
from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.rights import preset
from replayproxy.store import Recording, read, recover, write

HEAD = Cassette(name="cassette", rights=preset("own-synthetic"))

def interaction(order, body):
    request = Request(method="GET", origin=Origin.of("http", "api.example.test"), target=f"/{order}")
    response = Response(status=200, body=body)
    return Interaction(id=interaction_id(order, request), order=order, request=request, response=response,
                       started_us=1_000_000 + order)
"""

APPENDING = (
    COMMON
    + """
recording = Recording.start(Path(sys.argv[1]), HEAD)
number = 0
while True:
    body = b"%d " % number
    recording.append(interaction(number, body * (30_000 if number % 7 == 3 else 50)))
    os.write(1, b"%d\\n" % number)
    number += 1
"""
)

KILLED_AT_EVERY_STEP = (
    COMMON
    + """
STEPS = {"open", "os.rename", "os.remove", "os.link", "os.rmdir", "os.mkdir"}

def killing_at(step):
    seen = 0
    def hook(event, _):
        nonlocal seen
        if event in STEPS:
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1
    return hook

def run(folder, mode, ending, step):
    folder.mkdir()
    path = folder / "cassette.yaml"
    if mode != "fail":
        from dataclasses import replace
        write(path, replace(HEAD, interactions=(interaction(0, b"old"), interaction(1, b"o" * 70_000))))
    recording = Recording.start(path, HEAD, mode)
    for body in (b"new", b"n" * 70_000):
        recording.append(interaction(recording.first_order + recording.recorded, body))
    sys.addaudithook(killing_at(step))
    getattr(recording, ending)()
    os._exit(0)

step, killed = 0, True
while killed:
    child = os.fork()
    if child == 0:
        run(Path(sys.argv[1], f"{step:03}"), sys.argv[2], sys.argv[3], step)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    step += 1
"""
)

OLD, NEW = [b"old", b"ooo"], [b"new", b"nnn"]


def python(root: Path, program: str, *arguments: object, wrapper: tuple[str, ...] = ()) -> str:
    """What PROGRAM prints."""
    command = [*wrapper, sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=60).stdout


def bodies(path: Path) -> list[bytes]:
    """The first octets of the answers in the cassette at PATH, whose digest and body files are checked."""
    loaded = read(path)
    assert check(loaded) == ()
    return [loaded.blobs.read(one.response.body)[:3] for one in loaded.cassette.interactions]


def names(folder: Path) -> list[str]:
    """Every file and folder in FOLDER, hidden ones too."""
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_a_random_moment(tmp_path: Path, root: Path, seed: int) -> None:
    """Every interaction that was reported is recovered, whole and in order; at most the one under way is more."""
    path = tmp_path / "cassette.yaml"
    enough = random.Random(seed).randrange(1, 60)
    with subprocess.Popen([sys.executable, "-c", APPENDING, str(path)], cwd=root, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(enough):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
    reported = enough + rest.count(b"\n")
    assert all(name.startswith(".") for name in names(tmp_path))
    served = read_with_pending(path)
    recover(path)
    loaded = read(path)
    found = [loaded.blobs.read(one.response.body) for one in loaded.cassette.interactions]
    assert found == [b"%d " % number * (30_000 if number % 7 == 3 else 50) for number in range(len(found))]
    assert len(served.cassette.interactions) == len(found)
    assert len(found) - reported in (0, 1)
    assert check(loaded) == ()
    assert set(names(tmp_path)) <= {"cassette.blobs", "cassette.yaml"}


@pytest.mark.parametrize("mode", ["fail", "append", "replace"])
def test_killed_at_every_step_of_the_end(tmp_path: Path, root: Path, mode: str) -> None:
    """Wherever finishing is broken off, old and new are each found once and whole, and nothing else is left.

    Before anything is recovered, the cassette holds all of the old or all of the new. (The file of a lock whose
    holder died may stay until the next recording. It locks no one out.)
    """
    python(root, KILLED_AT_EVERY_STEP, tmp_path, mode, "finish")
    old = [] if mode == "fail" else OLD
    assert len(names(tmp_path)) > 10
    for folder in sorted(tmp_path.iterdir()):
        path, aside = folder / "cassette.yaml", folder / "cassette.incomplete.yaml"
        whole = NEW if mode == "replace" else old + NEW
        if path.exists():
            assert bodies(path) in (old, whole)
        before = path.read_bytes() if path.exists() else b""
        recover(path)
        if mode == "replace" and aside.exists():
            assert path.read_bytes() == before
            assert (bodies(path), bodies(aside)) == (OLD, NEW)
        else:
            assert bodies(path) == whole
            assert not aside.exists()
        assert {entry.name for entry in folder.rglob(".*")} <= {".cassette.yaml.lock"}
        assert recover(path) == ""
        _replace(path)


def _replace(path: Path) -> None:
    """A replacement by nothing, which leaves no body file of what was there, and nothing hidden."""
    Recording.start(path, read(path).cassette, "replace").finish()
    assert bodies(path) == []
    assert set(names(path.parent)) - {"cassette.incomplete.blobs", "cassette.incomplete.yaml"} == {"cassette.yaml"}


@pytest.mark.parametrize("mode", ["fail", "append", "replace"])
def test_killed_at_every_step_of_giving_up(tmp_path: Path, root: Path, mode: str) -> None:
    """From its first step on, giving up leaves the cassette alone, to the octet; the recording is beside it."""
    python(root, KILLED_AT_EVERY_STEP, tmp_path, mode, "abandon")
    first, *folders = sorted(tmp_path.iterdir())
    assert len(folders) > 10
    recover(first / "cassette.yaml")
    for folder in folders:
        path = folder / "cassette.yaml"
        before = path.read_bytes() if mode != "fail" else b""
        recover(path)
        assert path.exists() is (mode != "fail")
        if mode != "fail":
            assert (path.read_bytes(), bodies(path)) == (before, OLD)
        assert bodies(folder / "cassette.incomplete.yaml") == NEW
        assert {entry.name for entry in folder.rglob(".*")} <= {".cassette.yaml.lock"}


LIMITED = (
    COMMON
    + """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
recording = Recording.start(Path(sys.argv[1]), HEAD)
try:
    while True:
        recording.append(interaction(recording.recorded, b"abc"))
except ReplayproxyError as error:
    print(error.exit_code, error.what)
print(recording.recorded)
for _ in range(2):
    try:
        recording.append(interaction(recording.recorded, b"x" * 60_000))
    except ReplayproxyError as error:
        print(error.exit_code)
recording.finish()
"""
)


def test_a_file_that_may_not_grow(tmp_path: Path, root: Path) -> None:
    """Code 3 with what the system says; everything before is in the cassette, and nothing is left beside it."""
    path = tmp_path / "cassette.yaml"
    told, count, *codes = python(root, LIMITED, path).splitlines()
    assert told.startswith("3 cannot write ")
    assert told.endswith("File too large")
    assert int(count) > 10
    assert codes == ["3", "3"]
    assert bodies(path) == [b"abc"] * int(count)
    assert names(tmp_path) == ["cassette.yaml"]


FULL = (
    COMMON
    + """
folder = Path(sys.argv[1])
path = folder / "cassette.yaml"
write(path, HEAD)
before = path.read_bytes()
(folder / "ballast").write_bytes(b"x" * 700_000)
recording = Recording.start(path, HEAD, "append")
try:
    while True:
        recording.append(interaction(recording.recorded, os.urandom(1500).hex().encode()))
except ReplayproxyError as error:
    print(error.exit_code, error)
try:
    recording.finish()
except ReplayproxyError as error:
    print(error.exit_code, path.read_bytes() == before)
(folder / "ballast").unlink()
print(recover(path) != "", len(read(path).cassette.interactions) == recording.recorded > 10)
print(sorted(entry.name for entry in folder.iterdir()))
"""
)


def test_a_full_disk(tmp_path: Path, root: Path) -> None:
    """On a file system that is really full: code 3, the old cassette is whole; with room, all is recovered."""
    mounting = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=1m none {tmp_path} && exec "$@"', "sh")
    if os.geteuid() != 0 or subprocess.run([*mounting, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    lines = python(root, FULL, tmp_path, wrapper=mounting).splitlines()
    assert lines[0].startswith("3 cannot write ")
    assert lines[0].endswith("No space left on device")
    assert lines[2] == "hint: make room on the disk; what was recorded before is kept"
    assert lines[3:] == ["3 True", "True True", "['cassette.yaml']"]


UNPERMITTED = (
    COMMON
    + """
folder = Path(sys.argv[1])
path = folder / "cassette.yaml"
if os.geteuid() == 0:
    os.setuid(65534)
def tell(call, *arguments):
    try:
        call(*arguments)
    except ReplayproxyError as error:
        print(error.exit_code, error.what)
folder.chmod(0o555)
tell(Recording.start, path, HEAD)
folder.chmod(0o755)
recording = Recording.start(path, HEAD)
recording.append(interaction(0, b"abc"))
folder.chmod(0o555)
tell(recording.finish)
tell(recover, path)
folder.chmod(0o755)
recover(path)
path.chmod(0)
tell(read, path)
tell(Recording.start, path, HEAD, "append")
path.chmod(0o444)
tell(Recording.start, path, HEAD, "replace")
print(len(read(path).cassette.interactions), sorted(entry.name for entry in folder.iterdir()))
"""
)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that a user without privileges can reach and owns."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    yield folder
    shutil.rmtree(folder)


def test_no_permission(public: Path, root: Path) -> None:
    """Before a recording it is code 2; in the middle of one it is code 3, and nothing is lost."""
    path = public / "cassette.yaml"
    first, finish, again, unreadable, append, replace, end = python(root, UNPERMITTED, public).splitlines()
    assert first == f"2 cannot write {path}: no permission"
    assert finish.startswith(f"3 cannot write {path}: Permission denied")
    assert again.startswith(f"3 cannot write {path}: Permission denied")
    assert unreadable == f"2 cannot read {path}: Permission denied"
    assert append == replace == f"2 cannot write {path}: no permission"
    assert end == "1 ['cassette.yaml']"
