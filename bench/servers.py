"""The servers that are compared: how each is started, when it is ready, and through which door a request gets in.

Each kind reads the same recordings in its own form. A server is ready when it has given its first right answer.
"""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.client import BenchError, Door
from bench.process import Group, free_port, started
from bench.recordings import HOST, Recordings, fields_of, write_cassette, write_flows, write_static
from replayproxy.demo import certificate

READY_SECONDS = 120.0
POLL_SECONDS = 0.002
MITMDUMP = (sys.executable, "-c", "from mitmproxy.tools.main import mitmdump; mitmdump()")
"""mitmdump of the environment that runs this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One that is ready: its processes, its door for each scheme, and what it took to get ready.

    `control` is where its control API listens, with `token`, where it has one.
    """

    name: str
    group: Group
    doors: Mapping[str, Door]
    ready_seconds: float
    ready_cpu: float
    control: int = 0
    token: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """How a kind answers what was not recorded: the status, and octets that are in the body."""

    status: int
    contains: bytes


METHODS = frozenset({"GET", "POST", "GET-FRESH", "MISS", "MISS-AGAIN"})
NOT_FOUND = Missing(404, b"")
UNKNOWN = Missing(424, b"miss-unknown")


class Kind(Protocol):
    """A kind of server, by its name; `methods` are those of the cases that it is asked for."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def methods(self) -> frozenset[str]:
        """Of a case: those of METHODS that it is asked for."""

    @property
    def missing(self) -> Missing:
        """How it answers what was not recorded."""

    def lacking(self) -> str:
        """Why it cannot be started here, or empty."""

    def prepare(self, recordings: Recordings, folder: Path) -> None:
        """Fill FOLDER, which is new, with what it serves."""

    def start(self, recordings: Recordings, folder: Path, core: int | None) -> AbstractContextManager[Server]:
        """It, ready, in a folder that has been prepared; afterwards it has ended."""


def request_of(recordings: Recordings, number: int, form: str) -> bytes:
    """The octets of the question NUMBER, with its target in FORM (`absolute` or `origin`)."""
    question = recordings.questions[number]
    base = f"{recordings.scheme}://{HOST}" if form == "absolute" and recordings.scheme == "http" else ""
    head = f"{question.method} {base}{question.path} HTTP/1.1\r\n"
    fields = "".join(f"{name}: {value}\r\n" for name, value in fields_of(question))
    return (head + fields + "\r\n").encode("ascii") + question.asked


def answers(door: Door, request: bytes) -> bool:
    """Whether a 200 comes to REQUEST through DOOR; its certificate is not looked at. Raises OSError."""
    with socket.create_connection(("127.0.0.1", door.port), 10) as plain:
        if not door.tls:
            plain.sendall(request)
            return plain.recv(65536).startswith(b"HTTP/1.1 200")
        if door.tunnel:
            plain.sendall(f"CONNECT {door.name}:443 HTTP/1.1\r\nHost: {door.name}:443\r\n\r\n".encode("ascii"))
            if b" 200" not in plain.recv(65536)[:16]:
                return False
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(plain, server_hostname=door.name) as secure:
            secure.sendall(request)
            return secure.recv(65536).startswith(b"HTTP/1.1 200")


@contextmanager
def serving(
    line: Sequence[str], folder: Path, core: int | None, door: Door, recordings: Recordings, **environment: str
) -> Iterator[tuple[Group, float, float]]:
    """LINE, once it has answered the first question through DOOR: its group, seconds and cpu seconds until then."""
    request = request_of(recordings, 0, door.form)
    began = time.monotonic()
    with started(line, folder, core, **environment) as group:
        while time.monotonic() - began < READY_SECONDS and group.process.poll() is None:
            with suppress(OSError):
                if answers(door, request):
                    took = time.monotonic() - began
                    yield group, took, group.cpu_seconds()
                    return
            time.sleep(POLL_SECONDS)
        raise BenchError(f"{' '.join(line)[:200]} was not ready within {READY_SECONDS:g} s:\n{group.said()}")


def proxy_doors(port: int, ca: Path) -> dict[str, Door]:
    """The doors of a proxy: absolute-form for http, CONNECT for https."""
    return {"http": Door(port=port), "https": Door(port=port, form="origin", tls=True, tunnel=True, name=HOST, ca=ca)}


@dataclass(frozen=True)
class Replayproxy:
    """`replayproxy replay`, in one of its engines, journal and full matching on, as always."""

    name: str = "native"
    command: Sequence[str] = ("replayproxy",)
    engine: str = "native"
    configuration: str = ""
    methods: frozenset[str] = METHODS
    missing: Missing = UNKNOWN

    def lacking(self) -> str:
        """Why it cannot be started here, or empty."""
        return "" if shutil.which(self.command[0]) else f"there is no {self.command[0]}"

    def prepare(self, recordings: Recordings, folder: Path) -> None:
        """A cassette."""
        write_cassette(recordings, folder / "bench.yaml")
        (folder / "replayproxy.yaml").write_text(f"version: 1\n{self.configuration}", "utf-8")

    @contextmanager
    def start(self, recordings: Recordings, folder: Path, core: int | None) -> Iterator[Server]:
        """It, ready."""
        port, told = free_port(), folder / "ready.json"
        line = [
            *self.command, "replay", "bench.yaml", "--listen", f"127.0.0.1:{port}", "--control", "127.0.0.1:0",
            "--state-dir", str(folder / "state"), "--ready-file", str(told), "--engine", self.engine, "--quiet",
        ]  # fmt: skip
        door = proxy_doors(port, Path())[recordings.scheme]
        with serving(line, folder, core, door, recordings) as (group, seconds, cpu):
            facts = json.loads(told.read_text("utf-8"))
            yield Server(
                name=self.name, group=group, doors=proxy_doors(port, Path(facts["ca"])), ready_seconds=seconds,
                ready_cpu=cpu, control=int(facts["control"].rpartition(":")[2].rstrip("/")), token=facts["token"],
            )  # fmt: skip


@dataclass(frozen=True)
class Mitmdump:
    """mitmdump's server replay, with the settings that let it answer without any upstream."""

    name: str = "mitmdump"
    command: Sequence[str] = MITMDUMP
    methods: frozenset[str] = METHODS
    missing: Missing = NOT_FOUND
    settings: Mapping[str, str] = field(
        default_factory=lambda: {
            "server_replay_reuse": "true",  # or each recording answers once
            "server_replay_refresh": "false",  # or dates are rewritten, which replayproxy does not do either
            "server_replay_extra": "404",  # or what is not recorded goes to the network
            "connection_strategy": "lazy",  # or it dials the upstream before it looks
            "upstream_cert": "false",
        }
    )

    def lacking(self) -> str:
        """Why it cannot be started here, or empty."""
        return "" if shutil.which(self.command[0]) else f"there is no {self.command[0]}"

    def prepare(self, recordings: Recordings, folder: Path) -> None:
        """A flow file."""
        write_flows(recordings, folder / "bench.flows")

    @contextmanager
    def start(self, recordings: Recordings, folder: Path, core: int | None) -> Iterator[Server]:
        """It, ready."""
        doors = proxy_doors(free_port(), folder / "confdir" / "mitmproxy-ca-cert.pem")
        settings = {"confdir": str(folder / "confdir"), **self.settings}
        options = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        line = [
            *self.command, "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(doors["http"].port),
            "--server-replay", "bench.flows", *options,
        ]  # fmt: skip
        with serving(line, folder, core, doors[recordings.scheme], recordings) as (group, seconds, cpu):
            yield Server(name=self.name, group=group, doors=doors, ready_seconds=seconds, ready_cpu=cpu)


NGINX = """daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile 16384;
{user}
events {{ worker_connections 8192; }}
http {{
    access_log off;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 3600;
    open_file_cache max=200000 inactive=1h;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    root {folder}/www;
    server {{ listen 127.0.0.1:{http} backlog=4096; }}
    server {{
        listen 127.0.0.1:{https} ssl backlog=4096;
        ssl_certificate {identity.chain};
        ssl_certificate_key {identity.key};
        ssl_protocols TLSv1.3;
    }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """nginx, one worker, the same bodies as files; TLS ends at it directly, as it knows no CONNECT."""

    name: str = "nginx"
    methods: frozenset[str] = frozenset({"GET", "GET-FRESH"})
    missing: Missing = NOT_FOUND

    def lacking(self) -> str:
        """Why it cannot be started here, or empty."""
        return "" if shutil.which("nginx", path=PATH) else "nginx is not installed"

    def prepare(self, recordings: Recordings, folder: Path) -> None:
        """Files, a certificate of an EC key on P-256, and the ports."""
        write_static(recordings, folder / "www")
        (folder / "tls").mkdir()
        certificate.make(folder / "tls", (HOST,))

    @contextmanager
    def start(self, recordings: Recordings, folder: Path, core: int | None) -> Iterator[Server]:
        """It, ready."""
        tls = folder / "tls"
        identity = certificate.Identity(tls / "ca.pem", tls / "server.pem", tls / "server.key")
        http, https = free_port(), free_port()
        user = "user root;" if Path(folder).owner() == "root" else ""
        text = NGINX.format(folder=folder, identity=identity, http=http, https=https, user=user)
        (folder / "nginx.conf").write_text(text, "utf-8")
        doors = {
            "http": Door(port=http),
            "https": Door(port=https, form="origin", tls=True, name=HOST, ca=identity.authority),
        }
        program = shutil.which("nginx", path=PATH) or "nginx"
        line = [program, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]
        with serving(line, folder, core, doors[recordings.scheme], recordings) as (group, seconds, cpu):
            yield Server(name=self.name, group=group, doors=doors, ready_seconds=seconds, ready_cpu=cpu)


PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where a web server is; /usr/sbin is not on every user's path."""
