"""Nothing gets out: what the kernel saw of a replay, and what arrived where the upstream was.

An empty cassette, one that is used up, a fault inside the core, and an unknown host: in none of them does the replay
process make an outgoing call.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

SECONDS = 20.0
RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
SYSCALLS = "trace=connect,sendto,sendmsg,sendmmsg"
BREAK_THE_CORE = """
import replayproxy.core.library as library
def question(self, request):
    raise RuntimeError("broken on purpose")
library.Library.question = question
"""


class Watched:
    """A replay under strace, and the port of the upstream that it must leave alone."""

    def __init__(self, proxy: tuple[str, int], log: Path, authority: str = "") -> None:
        self.proxy = proxy
        self._log = log
        self._authority = authority

    def get(self, url: str) -> tuple[int, str]:
        """Status and problem code of a GET through the proxy."""
        parts = urllib.parse.urlsplit(url)
        link = http.client.HTTPConnection(*self.proxy, timeout=SECONDS)
        if parts.scheme == "https":
            trusted = ssl.create_default_context(cafile=self._authority)
            link = http.client.HTTPSConnection(*self.proxy, timeout=SECONDS, context=trusted)
            link.set_tunnel(parts.netloc)
        link.request("GET", parts.path if parts.scheme == "https" else url)
        answer = link.getresponse()
        body = answer.read()
        link.close()
        is_problem = answer.headers["Content-Type"] == "application/problem+json"
        return answer.status, json.loads(body)["code"] if is_problem else ""

    def calls(self) -> list[str]:
        """The calls that name an address of a network; answers on connections that clients made name none."""
        return [line for line in self._log.read_text().splitlines() if "AF_INET" in line or "port=53" in line]


@contextlib.contextmanager
def replaying(folder: Path, cassette: Path, engine: str, *, broken: bool = False) -> Iterator[Watched]:
    """`replay` of CASSETTE under strace; ended, and its log complete, behind the block."""
    log, ready = folder / "strace.log", folder / "ready.json"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    if broken:
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(BREAK_THE_CORE)
        environment["PYTHONPATH"] = str(folder / "site")
    line = ["strace", "-f", "-qq", "-e", SYSCALLS, "-o", str(log), sys.executable, "-c", RUN, "replay", str(cassette)]
    line += [
        "--engine",
        engine,
        "--config",
        str(folder / "replayproxy.yaml"),
        "--listen",
        "127.0.0.1:0",
        "--ready-file",
        str(ready),
    ]
    with subprocess.Popen(line, env=environment, start_new_session=True, stderr=subprocess.PIPE) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while not ready.exists():
                assert process.poll() is None, process.stderr and process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            told = json.loads(ready.read_text())
            host, _, port = told["proxy"].removeprefix("http://").rpartition(":")
            yield Watched((host, int(port)), log, told["ca"])
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=SECONDS)


@pytest.fixture
def upstream() -> Iterator[socket.socket]:
    """What stands where an upstream would be: it accepts nobody, and tells who knocked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield listener


def cassette(folder: Path, port: int, *, empty: bool) -> Path:
    """A cassette of one answer of 127.0.0.1:PORT, whose sequence is `once`; or of none."""
    one = f"""
- request: {{method: GET, uri: "http://127.0.0.1:{port}/a", body: null, headers: {{}}}}
  response: {{status: {{code: 200, message: OK}}, headers: {{}}, body: {{string: one}}}}
"""
    path = folder / "cassette.yaml"
    path.write_text(f"interactions: {'[]' if empty else one}\nversion: 1\n")
    config = 'version: 1\nproviders: {here: {hosts: ["127.0.0.1"], match: {sequence: once}}}\n'
    (folder / "replayproxy.yaml").write_text(config)
    return path


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace to see what the process asks of the kernel")
@pytest.mark.parametrize("case", ["empty", "used up", "broken core", "unknown host", "tunnel"])
def test_no_outgoing_call(tmp_path: Path, upstream: socket.socket, engine: str, case: str) -> None:
    """The kernel is never asked to connect or to send to an address, and nobody knocks where the upstream was."""
    port = upstream.getsockname()[1]
    path = cassette(tmp_path, port, empty=case == "empty")
    here = f"http://127.0.0.1:{port}/a"
    elsewhere = "https://unknown.example.org/a" if case == "tunnel" else "http://unknown.example.org/a"
    with replaying(tmp_path, path, engine, broken=case == "broken core") as watched:
        if case == "used up":
            assert watched.get(here) == (200, "")
            assert watched.get(here) == (424, "miss-exhausted")
        elif case == "broken core":
            assert watched.get(here) == (424, "internal-error")
        else:
            assert watched.get(elsewhere if case in ("unknown host", "tunnel") else here) == (424, "miss-unknown")
    assert watched.calls() == []
    with pytest.raises(BlockingIOError):
        upstream.accept()


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace to see what the process asks of the kernel")
def test_the_watch_sees_what_it_watches_for(tmp_path: Path, upstream: socket.socket) -> None:
    """A process that does connect is seen, so that silence means something."""
    log = tmp_path / "strace.log"
    dial = f"import socket; socket.create_connection(('127.0.0.1', {upstream.getsockname()[1]}))"
    subprocess.run(["strace", "-f", "-qq", "-e", SYSCALLS, "-o", str(log), sys.executable, "-c", dial], check=True)
    assert len(Watched(("", 0), log).calls()) == 1
