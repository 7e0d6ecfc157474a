"""On a terminal: a line that tells how far the run is; none where nobody reads it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

CASSETTES = Path(__file__).parent.parent.parent / "cassettes"
RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
SECONDS = 20.0
RECORD = ("record", "-o", "a.yaml", "--rights", "unknown")
LINE = {"record": b"\r\x1b[Krecorded 0, refused 0, faults 0", "replay": b"\r\x1b[Kserved 0, missed 0, refused 0"}


class Terminal:
    """A process whose stderr is a terminal."""

    def __init__(self, product: Any, *words: str) -> None:
        self._mine, theirs = pty.openpty()
        self.seen = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, *words, "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0"],
            cwd=product.folder,
            env=product.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)

    def until(self, holds: Any) -> None:
        """Read what it writes until HOLDS, or nobody writes any more."""
        deadline = time.monotonic() + SECONDS
        while not holds(self.seen):
            assert time.monotonic() < deadline, self.seen
            if select.select([self._mine], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self._mine, 65536)
                except OSError:  # Linux's end of file where nobody has the terminal open any more
                    return

    def close(self) -> None:
        """The process has ended."""
        self.process.send_signal(signal.SIGTERM)
        self.until(lambda _: False)
        assert self.process.wait(SECONDS) == 0
        os.close(self._mine)


def test_a_line_tells_how_far_it_is(product: Any, words: tuple[str, ...]) -> None:
    """Written anew in its place, and gone before the summary."""
    terminal = Terminal(product, *words)
    terminal.until(lambda seen: seen.count(LINE[words[0]]) >= 2)
    terminal.close()
    *shown, summary = terminal.seen[terminal.seen.index(LINE[words[0]]) :].split(b"\r\x1b[K")
    assert set(shown) == {b"", LINE[words[0]].removeprefix(b"\r\x1b[K")}
    assert b"\n" in summary


def test_no_line_with_quiet(product: Any, words: tuple[str, ...]) -> None:
    """-q says only what is wrong."""
    terminal = Terminal(product, *words, "-q", "--ready-file", "ready.json")
    ready = product.folder / "ready.json"
    terminal.until(lambda _: ready.exists())
    terminal.close()
    assert terminal.seen == b""


def test_what_is_told_meanwhile_has_a_line_of_its_own(product: Any) -> None:
    """A refusal takes the place of the line, which comes back below it."""
    terminal = Terminal(product, *RECORD, "--ready-file", "ready.json")
    ready = product.folder / "ready.json"
    terminal.until(lambda seen: LINE["record"] in seen and ready.exists())
    proxy = ready.read_text().partition('"proxy": "')[2].partition('"')[0]
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, urllib.request; urllib.request.urlopen(sys.argv[1])",
            "http://127.0.0.1:9/",
        ],
        env={**os.environ, "http_proxy": proxy, "no_proxy": ""},
        check=False,
        capture_output=True,
        timeout=SECONDS,
    )
    terminal.until(lambda seen: b"refused 1, faults 0" in seen)
    terminal.close()
    assert b"\r\x1b[Krefused GET http://127.0.0.1:9/: " in terminal.seen
    assert b"faults 0refused" not in terminal.seen


@pytest.mark.usefixtures("engine")
def test_no_line_where_stderr_is_no_terminal(product: Any) -> None:
    """A log has lines that end."""
    with product.serving("replay", str(CASSETTES)) as running:
        assert running.get("http://never.test/")[0] == 424
        err = running.stop().err
    assert "\r" not in err
    assert "\x1b" not in err
