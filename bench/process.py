"""Programs that are measured: started on a core of their own, and what they have used of processor and memory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 10.0
POLL_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class Group:
    """A program and all that it started: the processes of a group of their own."""

    process: subprocess.Popen[bytes]
    log: Path

    def pids(self) -> tuple[int, ...]:
        """Its processes that are alive."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # one that ends meanwhile
                fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
                if int(fields[2]) == self.process.pid and fields[0] != "Z":
                    found.append(int(stat.parent.name))
        return tuple(sorted(found))

    def cpu_seconds(self) -> float:
        """Processor time that they have used, all their threads, to the nanosecond."""
        return sum(time.clock_gettime(clock_of(pid)) for pid in self.pids())

    def resident(self) -> int:
        """Octets that they have in memory."""
        total = 0
        for pid in self.pids():
            for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1]) * 1024
        return total

    def said(self) -> str:
        """What it has written, for a message."""
        return self.log.read_text("utf-8", "replace")[-2000:]


def clock_of(pid: int) -> int:
    """The number of the clock that counts the processor time of PID, as clock_getcpuclockid(3) makes it."""
    return (~pid << 3) | 2


def free_port() -> int:
    """A port of loopback on which nobody listens now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Whatever is started in the block runs on CORE only (None: anywhere)."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def started(line: Sequence[str], folder: Path, core: int | None, **environment: str) -> Iterator[Group]:
    """LINE, running in FOLDER as a group of its own; afterwards the group has ended."""
    bare = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    log = folder / "log"
    with log.open("wb") as file, pinned(core):
        process = subprocess.Popen(
            list(line),
            cwd=folder,
            env={**bare, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield Group(process, log)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Afterwards PROCESS and its group have ended, asked first and then made to."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_SECONDS)
