"""A real recorder on loopback, and an upstream that sends exactly the octets a test gives it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from replayproxy.authority import Authority
from replayproxy.core.admission import Admission
from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Interaction
from replayproxy.core.recorder import Recorder
from replayproxy.core.redaction import Redactor
from replayproxy.core.rights import Tag, preset
from replayproxy.demo import certificate
from replayproxy.mitm.addon import MitmproxySockets, RecordAddon
from replayproxy.mitm.master import RecordMaster
from replayproxy.mitm.recording import clock_us
from replayproxy.mitm.session import Session
from replayproxy.store import BlobWriter

HOST = "api.example.test"
RESET = "reset"
WAIT = "wait"
BODY = "body"
"""A step that waits for all of the request's body, which the upstream otherwise leaves unread behind an Expect."""
LINGER_ZERO = struct.pack("ii", 1, 0)
SECONDS = 10.0

type Step = bytes | str


class Upstream:
    """Answers the n-th request for a path with its n-th script; the last repeats. Connections are kept open."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.scripts: dict[str, list[Sequence[Step]]] = {}
        self.heads: list[bytes] = []
        self.connections = 0
        self.greeting = b""
        self.go_on = threading.Event()
        self._open = True
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.port, self.tls_port = (listener.getsockname()[1] for listener in self._listeners)
        for listener, tls in zip(self._listeners, (None, context), strict=True):
            threading.Thread(target=self._accept, args=(listener, tls), daemon=True).start()

    def on(self, path: str, *scripts: Sequence[Step]) -> None:
        """Answer requests for PATH with SCRIPTS in turn."""
        self.scripts[path] = list(scripts)

    def close(self) -> None:
        """Stop accepting."""
        self._open = False
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _accept(self, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
        while self._open:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, tls), daemon=True).start()

    def _serve(self, connection: socket.socket, tls: ssl.SSLContext | None) -> None:
        connection.settimeout(SECONDS)
        try:
            stream = tls.wrap_socket(connection, server_side=True) if tls else connection
            with stream:
                stream.sendall(self.greeting)
                buffered = b""
                while (found := self._read(stream, buffered)) is not None:
                    head, buffered = found
                    if not self._answer(stream, head, buffered):
                        return
        except OSError:
            return

    def _read(self, stream: socket.socket, buffered: bytes) -> tuple[bytes, bytes] | None:
        """A request's head, its body with Content-Length read away, and what follows."""
        while b"\r\n\r\n" not in buffered:
            data = stream.recv(65536)
            if not data:
                return None
            buffered += data
        head, _, rest = buffered.partition(b"\r\n\r\n")
        self.heads.append(head)
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if b"expect" in fields:
            return head, rest
        wanted = int(fields.get(b"content-length", b"0"))
        while len(rest) < wanted:
            rest += stream.recv(65536)
        return head, rest[wanted:]

    def _answer(self, stream: socket.socket, head: bytes, early: bytes) -> bool:
        path = head.split(b" ")[1].decode()
        scripts = self.scripts[path]
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        for step in script:
            if isinstance(step, bytes):
                stream.sendall(step)
            elif step == WAIT:
                self.go_on.wait(SECONDS)
            elif step == RESET:
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_ZERO)
                return False
            elif step == BODY:
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: "))
                left = int(length.partition(b": ")[2]) - len(early)
                while left:
                    left -= len(stream.recv(left))
            else:
                return False
        return True


@dataclass
class Kept:
    """A log in memory; `fail` makes it a full disk."""

    interactions: list[Interaction] = field(default_factory=list)
    fail: ReplayproxyError | None = None
    folder: Path = Path()
    writers: int = 0

    def blob_writer(self) -> BlobWriter:
        """A writer into the test's folder."""
        self.writers += 1
        return BlobWriter(self.folder, self.writers, [])

    def append(self, interaction: Interaction) -> None:
        """Keep INTERACTION, or fail as told."""
        if self.fail is not None:
            raise self.fail
        self.interactions.append(interaction)


@dataclass
class Lab:
    """A running recorder."""

    upstream: Upstream
    session: Session
    log: Kept
    authority: Authority
    address: tuple[str, int]
    failures: list[ReplayproxyError]

    @property
    def recorded(self) -> list[Interaction]:
        """What has been recorded, in the order of the requests."""
        return sorted(self.log.interactions, key=lambda one: one.order)

    def connect(self, origin: str = f"http://{HOST}", alpn: Sequence[str] = ("http/1.1",)) -> socket.socket:
        """A connection to ORIGIN through the recorder: a tunnel with TLS for https."""
        scheme, _, netloc = origin.partition("://")
        link = socket.create_connection(self.address, timeout=SECONDS)
        if scheme == "http":
            return link
        host, _, port = netloc.partition(":")
        link.sendall(f"CONNECT {host}:{port or 443} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert link.recv(4096).startswith(b"HTTP/1.1 200")
        context = ssl.create_default_context(cafile=str(self.authority.ca_pem))
        context.set_alpn_protocols(list(alpn))
        return context.wrap_socket(link, server_hostname=host)

    def exchange(self, path: str, *, origin: str = f"http://{HOST}", request: bytes = b"") -> bytes:
        """All octets that come back for a request that closes the connection."""
        target = path if origin.startswith("https") else f"{origin}{path}"
        with self.connect(origin) as link:
            link.sendall(request or f"GET {target} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            return read_all(link)


def read_all(link: socket.socket) -> bytes:
    """What comes until the connection ends; `!reset` is put behind it where it was reset."""
    received = b""
    try:
        while data := link.recv(65536):
            received += data
    except ConnectionResetError:
        return received + b"!reset"
    except ssl.SSLEOFError:
        return received
    return received


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    """A recorder for `HOST` (ports 80 and 443), under rights of one's own."""
    with running_lab(tmp_path, preset("own-synthetic")) as made:
        yield made


@pytest.fixture
def running(tmp_path: Path) -> Callable[..., object]:
    """Starts a recorder under other rights, as a context manager."""
    return lambda tag: running_lab(tmp_path, tag)


class running_lab:  # noqa: N801 - used like a function
    """A recorder while the block runs; TAG are the rights of every host."""

    def __init__(self, folder: Path, tag: Tag | None) -> None:
        identity = certificate.make(folder, (HOST, "localhost"))
        self.upstream = Upstream(identity.context())
        self.authority = Authority.load_or_create(folder / "state")
        log = Kept(folder=folder)
        failures: list[ReplayproxyError] = []
        ports = {80: self.upstream.port, 443: self.upstream.tls_port}
        session = Session(
            admission=Admission(rights_of=lambda _host, _path: tag),
            recorder=Recorder(Redactor("00" * 16, lambda _host: ())),
            log=log,
            sockets=MitmproxySockets(),
            clock_us=clock_us,
            on_failure=failures.append,
            connect_to={(HOST, port): ("127.0.0.1", here) for port, here in ports.items()},
            shared_rights=tag,
        )
        self.bundle = self.authority.upstream_bundle(identity.authority)
        self.lab = Lab(self.upstream, session, log, self.authority, ("", 0), failures)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            self._master = RecordMaster(RecordAddon(self.lab.session, self.authority), ("127.0.0.1", 0), self.bundle)
            await self._master.run(self._ready.set)

        asyncio.run(serve())

    def __enter__(self) -> Lab:
        self._thread.start()
        assert self._ready.wait(SECONDS)
        self.lab.address = self._master.address
        return self.lab

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._master.stop)
        self._thread.join(SECONDS)
        self.upstream.close()
        assert not self._thread.is_alive()
