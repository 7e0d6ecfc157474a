"""The servers that are compared: how each is started, when it is ready, and what processor time it has used.

All get the same recordings: `replayproxy replay` as a cassette in VCR.py's form, mitmdump as a flow file.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mitmproxy import connection, http
from mitmproxy.io import FlowWriter

START_SECONDS = 30.0
STOP_SECONDS = 10.0
HOST = "bench.example"
SCHEMES = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Running:
    """A server that is ready: where its proxy listens, the CA it signs with, and its process group."""

    name: str
    proxy: tuple[str, int]
    ca: Path
    group: int

    def cpu_seconds(self) -> float:
        """Processor time that all its threads have used, from the scheduler, to the nanosecond."""
        total = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # a process that ends meanwhile
                if int(stat.read_text("utf-8", "replace").rpartition(")")[2].split()[2]) == self.group:
                    total += sum(int(task.read_text().split()[0]) for task in stat.parent.glob("task/*/schedstat"))
        return total / 1e9


def write_cassette(path: Path, bodies: Mapping[str, bytes]) -> None:
    """Write a cassette of a GET for each path over each scheme; JSON is YAML too."""
    interactions = [
        {
            "request": {"method": "GET", "uri": f"{scheme}://{HOST}{path_}", "body": None, "headers": {}},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"Content-Type": ["text/plain"], "Content-Length": [str(len(body))]},
                "body": {"string": body.decode("ascii")},
            },
        }
        for scheme in SCHEMES
        for path_, body in bodies.items()
    ]
    path.write_text(json.dumps({"interactions": interactions, "version": 1}), "utf-8")


def write_flows(path: Path, bodies: Mapping[str, bytes]) -> None:
    """Write the same interactions as mitmproxy keeps them."""
    with path.open("wb") as file:
        writer = FlowWriter(file)  # type: ignore[no-untyped-call]  # mitmproxy leaves its constructor untyped
        for scheme, port in SCHEMES.items():
            for path_, body in bodies.items():
                client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
                flow = http.HTTPFlow(client, connection.Server(address=(HOST, port)))
                flow.request = http.Request.make("GET", f"{scheme}://{HOST}{path_}")
                flow.response = http.Response.make(200, body, {"Content-Type": "text/plain"})
                writer.add(flow)


def free_port() -> int:
    """A port of loopback on which nobody listens now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def pinned(processor: int | None) -> Iterator[None]:
    """Whatever is started in the block runs on PROCESSOR only (None: anywhere)."""
    before = os.sched_getaffinity(0)
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def started(line: Sequence[str], folder: Path, processor: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """LINE, running in FOLDER as a process group of its own; afterwards the group has ended."""
    bare = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with (folder / "log").open("wb") as log, pinned(processor):
        process = subprocess.Popen(
            list(line),
            cwd=folder,
            env=bare,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS)


def await_ready(process: subprocess.Popen[bytes], folder: Path, path: Path, address: tuple[str, int] | None) -> None:
    """Return once PATH is there and ADDRESS, if given, takes connections; end the program otherwise."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if path.exists() and path.stat().st_size:
            with suppress(OSError):
                if address:
                    socket.create_connection(address, 1).close()
                return
        time.sleep(0.02)
    raise SystemExit(f"{process.args!r} did not get ready:\n{(folder / 'log').read_text('utf-8', 'replace')}")


@contextmanager
def replayproxy(
    name: str, command: Sequence[str], folder: Path, bodies: Mapping[str, bytes], processor: int | None
) -> Iterator[Running]:
    """`replay` of COMMAND, ready."""
    folder.mkdir()
    write_cassette(folder / "bench.yaml", bodies)
    ready = folder / "ready.json"
    line = [
        *command, "replay", "bench.yaml", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
        "--state-dir", str(folder / "state"), "--ready-file", str(ready), "--quiet",
    ]  # fmt: skip
    with started(line, folder, processor) as process:
        await_ready(process, folder, ready, None)
        told = json.loads(ready.read_text("utf-8"))
        host, _, port = told["proxy"].removeprefix("http://").rstrip("/").rpartition(":")
        yield Running(name, (host, int(port)), Path(told["ca"]), process.pid)


@contextmanager
def mitmdump(
    name: str, command: Sequence[str], folder: Path, bodies: Mapping[str, bytes], processor: int | None
) -> Iterator[Running]:
    """mitmdump's server replay, ready, with the settings that let it answer without any upstream."""
    folder.mkdir()
    write_flows(folder / "bench.flows", bodies)
    address, authority = ("127.0.0.1", free_port()), folder / "confdir" / "mitmproxy-ca-cert.pem"
    settings = {
        "confdir": str(folder / "confdir"),
        "server_replay_reuse": "true",  # or each recording answers once
        "server_replay_refresh": "false",  # or dates are rewritten, which replayproxy does not do either
        "server_replay_extra": "404",  # or what is not recorded goes to the network
        "connection_strategy": "lazy",  # or it dials the upstream before it looks
        "upstream_cert": "false",
    }
    options = [word for setting, value in settings.items() for word in ("--set", f"{setting}={value}")]
    line = [
        *command, "--quiet", "--listen-host", address[0], "--listen-port", str(address[1]),
        "--server-replay", "bench.flows", *options,
    ]  # fmt: skip
    with started(line, folder, processor) as process:
        await_ready(process, folder, authority, address)
        yield Running(name, address, authority, process.pid)


MITMDUMP = [sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()"]
"""mitmdump of the environment that runs this."""


def random_text(size: int) -> bytes:
    """SIZE octets of text that does not compress."""
    return base64.b64encode(os.urandom(size))[:size]
