"""The product as its users run it: processes of their own, real sockets on loopback, real files."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
WITHOUT_PRIVILEGE = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH) if os.geteuid() == 0 else ():
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""
"""Runs a command to which permissions apply even if root runs the tests."""
SECONDS = 30.0


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def told(self, code: int, *texts: str) -> None:
        """It ended with CODE, in the contract's form: what, where, why, and behind an empty line a hint."""
        assert self.code == code, self.err
        assert "Traceback" not in self.err
        problem = self.err[self.err.index("error: ") :]
        what, _, hint = problem.partition("\n\nhint: ")
        assert hint.strip()
        assert not what.endswith(".")
        for text in texts:
            assert text in problem


@dataclass
class Running:
    """A proxy that serves; `ready` is what its readiness file says."""

    process: subprocess.Popen[str]
    ready: dict[str, str]

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> tuple[int, str, bytes]:
        """Status, decision and body of a GET through the proxy; raises what http.client raises."""
        return get(self.ready, url, headers or {})

    def stop(self, number: int = signal.SIGTERM) -> Ran:
        """End it with a signal, and what it said."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return Ran(self.process.returncode, out, err)


def get(ready: Mapping[str, str], url: str, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
    """A GET through the proxy that READY describes, in a tunnel for https."""
    scheme, _, rest = url.partition("://")
    netloc, slash, path = rest.partition("/")
    proxy = ready["proxy"].removeprefix("http://")
    link: http.client.HTTPConnection
    if scheme == "https":
        link = http.client.HTTPSConnection(
            proxy, timeout=SECONDS, context=ssl.create_default_context(cafile=ready["ca"])
        )
        link.set_tunnel(netloc, 443 if ":" not in netloc else None)
        url = slash + path
    else:
        link = http.client.HTTPConnection(proxy, timeout=SECONDS)
    with contextlib.closing(link):
        link.request("GET", url, headers={"Host": netloc, **headers})
        answer = link.getresponse()
        return answer.status, answer.headers.get("x-replayproxy-decision", ""), answer.read()


@dataclass(frozen=True)
class Product:
    """`replayproxy` in the folder of a test, with a state folder of its own; ENGINE is the one that replays."""

    folder: Path
    engine: str = "native"

    def words(self, *words: str) -> list[str]:
        """WORDS with the engine, where they replay."""
        return ["replay", "--engine", self.engine, *words[1:]] if words[:1] == ("replay",) else list(words)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What its processes get."""
        return {**os.environ, "XDG_STATE_HOME": str(self.folder / "state"), **(more or {})}

    def run(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        unprivileged: bool = False,
    ) -> Ran:
        """Run a command to its end."""
        line = [sys.executable, "-c", *([WITHOUT_PRIVILEGE] if unprivileged else []), RUN, *self.words(*words)]
        done = subprocess.run(
            line,
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    @contextlib.contextmanager
    def serving(self, *words: str, command: tuple[str, ...] = (), limits: str = "") -> Iterator[Running]:
        """Run a command that serves, from when it is ready; it is killed behind the block if it still runs.

        LIMITS is Python that the process runs first.
        """
        ready = self.folder / "ready.json"
        line = [sys.executable, "-c", f"{limits}\n{RUN}", *self.words(*words), "--listen", "127.0.0.1:0"]
        line += ["--ready-file", str(ready), "--control", f"unix:{self.folder}/control.sock"]
        with subprocess.Popen(
            [*line, *(("--", *command) if command else ())],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                wait_for(lambda: ready.exists() or process.poll() is not None)
                assert process.poll() is None, process.communicate()
                yield Running(process, json.loads(ready.read_text()))
            finally:
                if process.poll() is None:
                    process.kill()
                    process.communicate(timeout=SECONDS)


def wait_for(holds: Callable[[], bool]) -> None:
    """Return when HOLDS does; a test fails that waits for ever."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(params=["native", "mitmproxy"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine in turn; a test that replays asks for it, with `usefixtures` where it needs no more than that."""
    return str(request.param)


CASSETTES = str(Path(__file__).parent.parent.parent / "cassettes")
SERVING = {
    "record": ("record", "-o", "a.yaml", "--rights", "own-synthetic"),
    "replay": ("replay", CASSETTES),
    "replay inside mitmproxy": ("replay", CASSETTES, "--engine", "mitmproxy"),
}


@pytest.fixture(params=SERVING.values(), ids=list(SERVING))
def words(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Each way to serve in turn: a recording to a.yaml, and a replay in each engine."""
    found: tuple[str, ...] = request.param
    return found


@pytest.fixture
def product(tmp_path: Path, request: pytest.FixtureRequest) -> Product:
    """The product, in a folder of the test's own; it replays with the test's engine, if that has one."""
    return Product(tmp_path, request.getfixturevalue("engine") if "engine" in request.fixturenames else "native")


@pytest.fixture
def wait() -> Callable[[Callable[[], bool]], None]:
    """`wait_for`."""
    return wait_for


@dataclass
class Upstream:
    """A listening port whose connections a function of the test answers; it counts them."""

    port: int
    hits: int = 0


type Answer = Callable[[socket.socket], Any]


@pytest.fixture
def upstreams() -> Iterator[Callable[..., Upstream]]:
    """Makes upstreams of raw sockets: `upstreams(answer, tls=None, host="127.0.0.1")`."""
    with contextlib.ExitStack() as stack:

        def make(answer: Answer, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Upstream:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = stack.enter_context(socket.create_server((host, 0), family=family))
            made = Upstream(listener.getsockname()[1])
            threading.Thread(target=accepting, args=(listener, made, answer, tls), daemon=True).start()
            stack.callback(listener.shutdown, socket.SHUT_RDWR)  # close() does not wake who waits in accept()
            return made

        yield make


def accepting(listener: socket.socket, made: Upstream, answer: Answer, tls: ssl.SSLContext | None) -> None:
    """Answer every connection in a thread of its own, until LISTENER is closed."""
    while True:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        made.hits += 1
        threading.Thread(target=answering, args=(link, answer, tls), daemon=True).start()


def answering(link: socket.socket, answer: Answer, tls: ssl.SSLContext | None) -> None:
    """One connection: TLS if there is to be, a head read, then the test's answer."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        stack.enter_context(link)
        link.settimeout(SECONDS)
        if tls is not None:
            link = stack.enter_context(tls.wrap_socket(link, server_side=True))
        head = b""
        while b"\r\n\r\n" not in head and not head.startswith(b"\x16"):  # the start of a TLS handshake
            piece = link.recv(65536)
            if not piece:
                return
            head += piece
        answer(link)


HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


@pytest.fixture
def hello() -> Answer:
    """An upstream that says hello."""
    return lambda link: link.sendall(HELLO)


@pytest.fixture
def fetching() -> Callable[..., tuple[str, ...]]:
    """A command that GETs URLs, prints their statuses, and ends with a code: `fetching(url, …, code=0)`."""
    script = """
import sys, urllib.request, urllib.error
for url in sys.argv[2:]:
    try:
        print(urllib.request.urlopen(url, timeout=20).status)
    except urllib.error.HTTPError as error:
        print(error.status)
sys.exit(int(sys.argv[1]))
"""
    return lambda *urls, code=0: (sys.executable, "-c", script, str(code), *urls)
