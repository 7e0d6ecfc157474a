"""The load: kept-alive connections through a proxy, one prebuilt request at a time, all answers checked.

Run as a process of its own, so that its work is not the server's. It reads a plan as JSON on stdin and writes
what it saw as JSON to stdout. An answer counts only if its status is 200 and its body is, octet by octet, the
one expected.
"""

from __future__ import annotations

import json
import os
import select
import socket
import ssl
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TIMEOUT_SECONDS = 10.0
RECEIVE = 65536


class WrongAnswerError(Exception):
    """An answer that is not the recorded one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to send, where, and for how long.

    `mode` is `plain` (absolute-form requests) or `connect` (CONNECT, then TLS 1.3 to `host`, verified by
    `ca`). `bodies` holds the expected body of each path.
    """

    proxy: tuple[str, int]
    host: str
    mode: str
    ca: str
    connections: int
    seconds: float
    bodies: Mapping[str, bytes]

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The plan that TEXT holds."""
        data: dict[str, Any] = json.loads(text)
        bodies = {path: body.encode("ascii") for path, body in data.pop("bodies").items()}
        return cls(**{**data, "proxy": (data["proxy"][0], data["proxy"][1]), "bodies": bodies})

    def to_json(self) -> str:
        """Text from which `from_json` makes this plan again."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({**values, "bodies": {path: body.decode("ascii") for path, body in self.bodies.items()}})


@dataclass(slots=True)
class Exchange:
    """A request in octets and what its answer must be; `whole` is the first answer that was checked."""

    request: bytes
    body: bytes
    whole: bytes | None = None

    def complete(self, answer: bytes) -> bool:
        """Whether ANSWER is all there; raises WrongAnswerError where it is another one."""
        if answer == self.whole:
            return True
        head, ended, body = answer.partition(b"\r\n\r\n")
        if not ended or len(body) < len(self.body):
            return False
        if not head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 200\r\n")):
            raise WrongAnswerError(head.split(b"\r\n", 1)[0].decode("latin-1"))
        if b"content-length: %d\r\n" % len(self.body) not in head.lower() + b"\r\n":
            raise WrongAnswerError("the length that it states is not the recorded one")
        if body != self.body:
            raise WrongAnswerError(f"a body of {len(body)} octets that is not the recorded one")
        self.whole = answer
        return True


@dataclass(slots=True)
class Line:
    """One kept-alive connection and what it waits for."""

    sock: socket.socket
    exchange: Exchange
    position: int
    sent_at: int = 0
    received: bytes = b""


@dataclass(slots=True)
class Tally:
    """What was seen: how long each answer took in nanoseconds, and what went wrong."""

    took: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def to_json(self, seconds: float, cpu_seconds: float) -> dict[str, Any]:
        """The figures, latencies in microseconds."""
        ordered = sorted(self.took) or [0]
        return {
            "requests": len(self.took),
            "wrong": len(self.wrong),
            "first_wrong": self.wrong[0] if self.wrong else "",
            "seconds": round(seconds, 4),
            "client_cpu_seconds": round(cpu_seconds, 4),
            "p50_us": round(ordered[len(ordered) // 2] / 1000, 1),
            "p99_us": round(ordered[len(ordered) * 99 // 100] / 1000, 1),
        }


def exchanges(plan: Plan) -> list[Exchange]:
    """The requests of PLAN, built once."""
    base = f"http://{plan.host}" if plan.mode == "plain" else ""
    return [
        Exchange(f"GET {base}{path} HTTP/1.1\r\nHost: {plan.host}\r\nAccept: */*\r\n\r\n".encode("ascii"), body)
        for path, body in plan.bodies.items()
    ]


def open_line(plan: Plan, context: ssl.SSLContext | None) -> socket.socket:
    """A connection that is ready for requests; in mode `connect` through a tunnel and its TLS handshake."""
    sock = socket.create_connection(plan.proxy, timeout=TIMEOUT_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is None:
        return sock
    sock.sendall(f"CONNECT {plan.host}:443 HTTP/1.1\r\nHost: {plan.host}:443\r\n\r\n".encode("ascii"))
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        received = sock.recv(1)  # not one octet of the tunnel's may be taken along
        if not received:
            raise WrongAnswerError("the proxy closed the connection on CONNECT")
        answer += received
    if answer.split(b" ", 2)[1] != b"200":
        raise WrongAnswerError(f"CONNECT: {answer.splitlines()[0].decode('latin-1')}")
    return context.wrap_socket(sock, server_hostname=plan.host)


class Load:
    """Keeps one request under way on each connection until the time is up."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._exchanges = exchanges(plan)
        self._context = None
        if plan.mode == "connect":
            self._context = ssl.create_default_context(cafile=plan.ca)
            self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._lines: dict[int, Line] = {}
        self._poll = select.epoll()
        self._tally = Tally()

    def run(self) -> dict[str, Any]:
        """The figures of the run; connections are opened, and each used once, before the clock starts."""
        try:
            for index in range(self._plan.connections):
                self._open(index % len(self._exchanges))
            self._await_all()
            self._tally.took.clear()
            started, cpu = time.perf_counter(), time.process_time()
            self._turn(time.perf_counter_ns() + int(self._plan.seconds * 1e9))
            return self._tally.to_json(time.perf_counter() - started, time.process_time() - cpu)
        finally:
            for line in self._lines.values():
                line.sock.close()
            self._poll.close()

    def _open(self, position: int) -> None:
        sock = open_line(self._plan, self._context)
        sock.setblocking(False)
        line = Line(sock, self._exchanges[position], position)
        self._lines[sock.fileno()] = line
        self._poll.register(sock.fileno(), select.EPOLLIN)
        self._send(line)

    def _await_all(self) -> None:
        until = time.perf_counter_ns() + int(TIMEOUT_SECONDS * 1e9)
        while len(self._tally.took) < self._plan.connections and self._lines:
            if time.perf_counter_ns() > until:
                raise WrongAnswerError(f"no answer within {TIMEOUT_SECONDS:g} s")
            for number, _ in self._poll.poll(0.1):
                self._receive(self._lines[number])

    def _turn(self, until: int) -> None:
        while time.perf_counter_ns() < until and self._lines:
            for number, _ in self._poll.poll(0.1):
                self._receive(self._lines[number])

    def _send(self, line: Line) -> None:
        line.received = b""
        line.sent_at = time.perf_counter_ns()
        line.sock.send(line.exchange.request)

    def _receive(self, line: Line) -> None:
        try:
            while not line.exchange.complete(line.received):
                octets = line.sock.recv(RECEIVE)
                if not octets:
                    raise WrongAnswerError("the proxy closed a kept-alive connection")
                line.received += octets
        except (BlockingIOError, ssl.SSLWantReadError):  # not all there yet, or only a session ticket
            return
        except (OSError, WrongAnswerError) as error:
            self._drop(line, str(error))
            return
        self._tally.took.append(time.perf_counter_ns() - line.sent_at)
        line.position = (line.position + 1) % len(self._exchanges)
        line.exchange = self._exchanges[line.position]
        self._send(line)

    def _drop(self, line: Line, why: str) -> None:
        self._tally.wrong.append(why)
        self._poll.unregister(line.sock.fileno())
        del self._lines[line.sock.fileno()]
        line.sock.close()


def main() -> int:
    """Run the plan on stdin; 1 where nothing was answered, with the reason on stderr."""
    try:
        print(json.dumps(Load(Plan.from_json(sys.stdin.read())).run()))
    except (OSError, WrongAnswerError) as error:
        print(f"load (process {os.getpid()}): {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
