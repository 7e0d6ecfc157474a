"""Signals in the middle of things: what was finished is kept, what was begun ends, nobody is left running."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replayproxy.store import read

CASSETTES = Path(__file__).parent.parent.parent / "cassettes"
RIGHTS = ("--rights", "own-synthetic")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_while_an_answer_is_on_its_way(
    product: Any, upstreams: Callable[..., Any], number: int, code: int
) -> None:
    """The answers before it are kept; the half one is no whole one; the recorder does not wait for the upstream."""
    held, reached = threading.Event(), threading.Event()

    def answer(link: Any) -> None:
        link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhello")
        if upstream.hits > 1:
            reached.set()
            held.wait(20)
        else:
            link.sendall(b"world")

    upstream = upstreams(answer)
    to = ("--connect-to", f"a.test:80:127.0.0.1:{upstream.port}")
    with product.serving("record", "-o", "a.yaml", *RIGHTS, *to) as running:
        assert running.get("http://a.test/whole")[2] == b"helloworld"

        def half() -> None:
            with contextlib.suppress(http.client.IncompleteRead, OSError):
                running.get("http://a.test/half")

        asking = threading.Thread(target=half)
        asking.start()
        assert reached.wait(20)
        ended = running.stop(number)
        asking.join(20)
        held.set()
    assert (ended.code, "Traceback" in ended.err) == (code, False)
    assert not (product.folder / "ready.json").exists()
    assert not (product.folder / "control.sock").exists()
    found = {one.request.path: one.response for one in read(product.folder / "a.yaml").cassette.interactions}
    assert found["/whole"].body == b"helloworld"
    assert "/half" not in found or found["/half"].fault is not None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_the_command_too(product: Any, wait: Any, words: tuple[str, ...], number: int, code: int) -> None:
    """CMD is asked to end and awaited; the code is the signal's, not CMD's."""
    script = f"import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep({60})"
    with product.serving(*words, "--report", "r.json", command=(sys.executable, "-c", script)) as running:
        pid = product.folder / "pid"
        wait(lambda: pid.exists() and pid.read_text() != "")
        mode_of_file = (product.folder / "ready.json").stat().st_mode
        assert stat.S_IMODE(mode_of_file) == 0o600
        assert running.stop(number).code == code
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert json.loads((product.folder / "r.json").read_text())["exit"] == code
    assert sorted(path.name for path in product.folder.iterdir()) == (["a.yaml"] if words[0] == "record" else []) + [
        "pid",
        "r.json",
        "state",
    ]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_to_a_replay(product: Any, number: int, code: int) -> None:
    """Without CMD misses are no failure."""
    with product.serving("replay", str(CASSETTES)) as running:
        assert running.get("http://never.test/")[:2] == (424, "miss")
        ended = running.stop(number)
    assert (ended.code, ended.out) == (code, "")
    assert "missed: GET http://never.test/" in ended.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_before_anything_is_served(product: Any, words: tuple[str, ...], number: int, code: int) -> None:
    """The same code, and nothing is left."""
    (product.folder / "sitecustomize.py").write_text(
        f"""
import os
import replayproxy.settings as settings
def load(path):
    os.kill(os.getpid(), {int(number)})
    return true_load(path)
true_load, settings.load = settings.load, load
"""
    )
    ran = product.run(*words, "--", "touch", "ran", env={"PYTHONPATH": str(product.folder)})
    assert (ran.code, ran.out, "Traceback" in ran.err) == (code, "", False), ran.err
    assert [path.name for path in product.folder.iterdir() if path.name not in ("sitecustomize.py", "state")] == []


def test_killed_and_recorded_again(product: Any, upstreams: Callable[..., Any], hello: Any, fetching: Any) -> None:
    """After SIGKILL the next `record` of the cassette recovers what was finished, and says so."""
    there = upstreams(hello)
    line = ("record", "-o", "a.yaml", *RIGHTS, "--connect-to", f"a.test:80:127.0.0.1:{there.port}")
    with product.serving(*line) as running:
        assert running.get("http://a.test/first")[2] == b"hello"
        running.process.send_signal(signal.SIGKILL)
        assert running.process.wait(20) == -signal.SIGKILL
    (product.folder / "control.sock").unlink()
    again = product.run(*line, "--on-existing", "append", "--", *fetching("http://a.test/second"))
    assert again.code == 0, again.err
    assert "recovered" in again.err
    found = read(product.folder / "a.yaml").cassette.interactions
    assert [one.request.path for one in found] == ["/first", "/second"]


def test_interrupting_a_comparison_ends_all_of_it(product: Any, wait: Any) -> None:
    """`determinism` runs CMD three times; one interruption is enough, and half of it is no result."""
    words = ["determinism", "--seed", "1", "--seed", "2", str(CASSETTES), "--", sys.executable, "-c"]
    script = "import time; open('started', 'a').write('x'); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])", *words, script],
        cwd=product.folder,
        env=product.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        started = product.folder / "started"
        wait(lambda: started.exists() and started.read_text() == "x")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("error: interrupted\n")
    assert started.read_text() == "x"
