"""Files that cannot be read or written: told by code and name, and nothing that was there is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replayproxy.store import check, read

CASSETTES = Path(__file__).parent.parent.parent / "cassettes"
RIGHTS = ("--rights", "own-synthetic")
LOOKING = [
    ("ls",),
    ("show",),
    ("scan",),
    ("verify",),
    ("audit", "--purpose", "local-debug"),
    ("replay", "--listen", "127.0.0.1:0"),
    ("replay", "--engine", "mitmproxy", "--listen", "127.0.0.1:0"),
    ("diff", str(CASSETTES / "chat.yaml")),
]


@pytest.mark.parametrize("command", LOOKING, ids=lambda command: "-".join(command[:3]))
def test_a_cassette_that_may_not_be_read(product: Any, command: tuple[str, ...]) -> None:
    """Code 2 and the file's name, in every command."""
    path = product.folder / "mine.yaml"
    shutil.copy(CASSETTES / "chat.yaml", path)
    path.chmod(0)
    product.run(*command, "mine.yaml", unprivileged=True).told(2, "mine.yaml", "Permission denied")


def test_a_cassette_cut_off_anywhere(product: Any) -> None:
    """A file that ends too soon is never a shorter cassette, and never an empty one."""
    text = (CASSETTES / "directory.yaml").read_bytes()
    path = product.folder / "cut.yaml"
    # behind the last interaction nothing but our own key and the version follow
    for end in (0, 1, 13, len(text) // 3, len(text) // 2, len(text) * 3 // 4, text.rindex(b"\nversion")):
        path.write_bytes(text[:end])
        ran = product.run("ls", "cut.yaml")
        ran.told(2, "cut.yaml:")
        assert ran.out == ""


@pytest.mark.usefixtures("engine")
def test_a_body_file_that_is_gone(product: Any) -> None:
    """Told by name before anything is served."""
    path = product.folder / "a.yaml"
    path.write_text(
        f"""interactions:
- request: {{method: GET, uri: "http://a.test/x", body: null, headers: {{}}}}
  response:
    status: {{code: 200, message: OK}}
    headers: {{}}
    body: {{string: null}}
  replayproxy: {{response: {{blob: {{sha256: {"ab" * 32}, size: 70000}}}}}}
version: 1
replayproxy: {{format: 1}}
"""
    )
    ran = product.run("replay", "a.yaml", "--", "true")
    ran.told(2, "a.yaml")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("record", "-o", "locked/a.yaml", *RIGHTS, "--", "true"), 2),
        (("record", "-o", "a.yaml", *RIGHTS, "--ready-file", "locked/r.json", "--", "true"), 3),
        (("record", "-o", "a.yaml", *RIGHTS, "--report", "locked/r.json", "--", "true"), 3),
        (("record", "-o", "a.yaml", *RIGHTS, "--state-dir", "locked/state", "--", "true"), 3),
        (("env", "--state-dir", "locked/state"), 3),
        (("init", "--config", "locked/r.yaml"), 3),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, tuple) else None,
)
def test_no_permission_to_write(product: Any, words: tuple[str, ...], code: int) -> None:
    """The place is named, and no half file is left there."""
    locked = product.folder / "locked"
    locked.mkdir()
    locked.chmod(0o500)
    product.run(*words, unprivileged=True).told(code, "locked")
    assert list(locked.iterdir()) == []


SMALL_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (96 * 1024, 96 * 1024))
"""
"""No file may grow past 96 KiB; the kernel then says so, as it does for a full disk."""


def test_a_full_disk_stops_recording_and_keeps_the_rest(
    product: Any, upstreams: Callable[..., Any], tmp_path: Path
) -> None:
    """Code 3 with the reason; every interaction that was finished before is kept."""
    body = os.urandom(1500).hex().encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
    there = upstreams(lambda link: link.sendall(answer % (len(body), body)))
    product.run("env")  # the CA's bundle is larger than what may be written later
    line = ("record", "-o", "a.yaml", *RIGHTS, "--connect-to", f"a.test:80:127.0.0.1:{there.port}")
    done = 0
    with product.serving(*line, limits=SMALL_FILES) as running:
        while running.process.poll() is None and done < 200:
            try:
                done += running.get(f"http://a.test/{done}")[0] == 200
            except OSError:
                break
        out, err = running.process.communicate(timeout=20)
        assert running.process.returncode == 3, err
    assert 5 < done < 200
    assert "hint: " in err
    assert "Traceback" not in err
    assert out == ""
    kept = {path: read(path).cassette.interactions for path in tmp_path.glob("a*.yaml")}
    (found,) = kept.values()
    # an answer that the client has is kept; the one whose writing failed it did not get
    assert [one.request.path for one in found] == [f"/{number}" for number in range(done)]
    assert check(read(next(iter(kept)))) == ()
