"""The command line as its users reach it: through its entry point, in this process or in one of its own."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from replayproxy.demo import certificate
from replayproxy.demo.server import Server
from replayproxy.demo.upstream import HOST, upstream

RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
SECONDS = 40.0


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def refused(self, code: int, *told: str) -> None:
        """It ended with CODE, said what and a hint on stderr, nothing on stdout, and showed no traceback."""
        assert self.code == code, self.err
        for text in told:
            assert text in self.err
        assert "\n\nhint: " in self.err
        assert self.out == ""
        assert "Traceback" not in self.err


type Command = Callable[..., Ran]


@pytest.fixture
def _logging() -> Iterator[None]:
    """What a command sets up for its own process is undone in this one."""
    loggers = [logging.getLogger(name) for name in ("replayproxy", "mitmproxy")]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in loggers]
    yield
    for one, handlers, level, propagate in before:
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


@pytest.fixture
def cli(_logging: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, in a folder and with a state folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (entry,) = entry_points(group="console_scripts", name="replayproxy")
    main = entry.load()

    def run(*words: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """Runs a command in a process of its own."""

    def run(*words: str, env: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *words],
            cwd=tmp_path,
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@dataclass(frozen=True)
class Vendor:
    """A live upstream, and the options that lead a recorder to it."""

    server: Server
    options: tuple[str, ...]
    url: str = f"https://{HOST}"


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[Vendor]:
    """The demo's vendor, over TLS."""
    identity = certificate.make(tmp_path, (HOST,))
    with upstream(identity.context()) as server:
        to = f"{HOST}:443:127.0.0.1:{server.port}"
        yield Vendor(server, ("--connect-to", to, "--upstream-ca", str(identity.authority)))


FETCH = """
import sys, urllib.request, urllib.error
for url in sys.argv[1:]:
    try:
        answer = urllib.request.urlopen(url, timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    print(answer.status, answer.headers.get("x-replayproxy-decision", "-"))
"""


@pytest.fixture
def fetch() -> tuple[str, ...]:
    """A command that GETs the URLs behind it, and prints status and decision."""
    return (sys.executable, "-c", FETCH)


@pytest.fixture
def cassettes() -> Path:
    """The cassettes that ship with the product."""
    return Path(__file__).parent.parent.parent / "cassettes"
