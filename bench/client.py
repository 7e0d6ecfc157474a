"""The load as a value: what to ask, through which door, for how long; and what came of it.

`client.c` does the asking. It is compiled once into a folder of the caller's, against OpenSSL.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.process import pinned

SOURCE = Path(__file__).with_name("client.c")
STAMP = "@" * 12
"""In a request: twelve digits, another number each time that it is sent."""
EQUAL, CONTAINS = 0, 1
SLACK_SECONDS = 90


class BenchError(Exception):
    """A measurement that cannot be made, or an answer that was wrong."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Octets to send, the status that answers them, and of its body all octets, or some that it must contain."""

    request: bytes
    body: bytes
    status: int = 200
    kind: int = EQUAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where a server listens, and how a request gets in.

    `form` of the target is `absolute` (as to a proxy) or `origin`. With `tls`, the connection is TLS 1.3 to `name`,
    verified by `ca`; `tunnel`: after a CONNECT, with `proxy_fields` in it.
    """

    port: int
    form: str = "absolute"
    tls: bool = False
    tunnel: bool = False
    name: str = ""
    ca: Path = Path()
    proxy_fields: str = ""

    def words(self) -> list[str]:
        """The client's options for it."""
        words = ["address=127.0.0.1", f"port={self.port}"]
        if self.tls:
            words += ["tls=1", f"name={self.name}", f"ca={self.ca}"]
        if self.tunnel:
            target = f"{self.name}:443"
            words.append(f"tunnel=CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{self.proxy_fields}\r\n")
        return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How much to ask: for `seconds` after `warm` seconds that do not count, or `requests` in all.

    `fresh`: a new connection for each request. `resume`: offer the TLS sessions that the server gave. `depth`: requests
    under way on each connection. `pause_us` between an answer and the next request. `first`: where in the plan to
    begin. `stamp`: the first number to put for STAMP. `hold`: stay connected, at rest, until told to end. `spin`: never
    sleep, where the load has a core of its own.
    """

    connections: int = 32
    seconds: float = 0
    warm: float = 0
    requests: int = 0
    fresh: bool = False
    resume: bool = False
    depth: int = 1
    pause_us: int = 0
    first: int = 0
    stamp: int = 0
    hold: bool = False
    spin: bool = False

    def words(self) -> list[str]:
        """The client's options for it."""
        return [f"{name}={value + 0}" for name in self.__slots__ if (value := getattr(self, name))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of an order: right answers, seconds of wall and of processor time, microseconds of waiting."""

    requests: int
    seconds: float
    server_cpu: float
    client_cpu: float
    sent: int
    handshakes: int
    resumed: int
    p50_us: int
    p99_us: int
    max_us: int

    @property
    def per_core(self) -> float:
        """Requests for each second of the server's processor time."""
        return self.requests / self.server_cpu if self.server_cpu else 0.0

    @property
    def server_busy(self) -> float:
        """The share of one core that the server used."""
        return self.server_cpu / self.seconds if self.seconds else 0.0

    @property
    def client_busy(self) -> float:
        """The share of one core that the load used."""
        return self.client_cpu / self.seconds if self.seconds else 0.0


def build(folder: Path) -> Path:
    """The client, compiled in FOLDER; raises BenchError where there is no compiler, or no OpenSSL for it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise BenchError("no C compiler for bench/client.c\nhint: apt-get install gcc libc6-dev libssl-dev")
    program = folder / "client"
    line = [compiler, "-O2", "-o", str(program), str(SOURCE), "-lssl", "-lcrypto"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"bench/client.c does not compile\nhint: apt-get install libssl-dev\n{done.stderr.strip()}")
    return program


def write_plan(path: Path, exchanges: Iterable[Exchange]) -> Path:
    """Make PATH what the client reads: counted 32-bit numbers in the machine's order, and octets.

    Bodies: how many; of each its size and octets. Exchanges: how many; of each the request's size, the status, the
    kind, the body's number, and the request.
    """
    listed = list(exchanges)
    numbers: dict[bytes, int] = {}
    for one in listed:
        numbers.setdefault(one.body, len(numbers))
    with path.open("wb") as file:
        file.write(struct.pack("=I", len(numbers)))
        for body in numbers:
            file.write(struct.pack("=I", len(body)) + body)
        file.write(struct.pack("=I", len(listed)))
        for one in listed:
            file.write(struct.pack("=4I", len(one.request), one.status, one.kind, numbers[one.body]) + one.request)
    return path


@dataclass(frozen=True, slots=True)
class Client:
    """The compiled client, on a core of its own (None: on any)."""

    program: Path
    core: int | None = None

    def line(self, plan: Path, door: Door, order: Order, pids: Sequence[int]) -> list[str]:
        """The command line."""
        return [str(self.program), f"plan={plan}", *door.words(), *order.words(), *(f"pid={pid}" for pid in pids)]

    def run(self, plan: Path, door: Door, order: Order, pids: Sequence[int] = ()) -> Seen:
        """What came of ORDER; raises BenchError for a wrong answer."""
        with self.started(plan, door, order, pids) as running:
            return self.finish(running, order.seconds + order.warm + SLACK_SECONDS)

    def started(self, plan: Path, door: Door, order: Order, pids: Sequence[int] = ()) -> subprocess.Popen[str]:
        """ORDER under way; read its one line of JSON, and close its stdin where it holds."""
        pipe = subprocess.PIPE
        with pinned(self.core):
            line = self.line(plan, door, order, pids)
            return subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    @staticmethod
    def finish(running: subprocess.Popen[str], seconds: float) -> Seen:
        """What RUNNING saw, once it has ended; raises BenchError."""
        try:
            told, why = running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            raise BenchError(f"the load did not end within {seconds:g} s") from None
        return Client.seen(told, why, running.returncode)

    @staticmethod
    def seen(told: str, why: str, code: int) -> Seen:
        """The figures that the client told, or BenchError with its reason."""
        if code or not told:
            raise BenchError(why.strip() or f"the load ended with code {code}")
        return Seen(**json.loads(told))
