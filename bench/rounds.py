"""The rounds: every server of a batch is up, and asked in turn, forwards in one round and backwards in the next."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.client import CONTAINS, STAMP, BenchError, Client, Exchange, Order, Seen, write_plan
from bench.plan import Case
from bench.recordings import ASKED, HOST, Recordings
from bench.servers import Kind, Missing, Server, request_of

MISSES = 1000
OURS = frozenset({"native", "mitmproxy-engine"})
"""A failure of these ends a run; that of a peer is told beside the figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What all measurements share: the load, the kinds, a folder to work in, the servers' core, and how long.

    `rounds` of legs of `seconds`, each after `warm` seconds that do not count, in the first round `first_warm`;
    `starts` of each server, of which the first is told apart.
    """

    client: Client
    kinds: Sequence[Kind]
    place: Path
    core: int | None
    rounds: int = 5
    seconds: float = 1.0
    warm: float = 0.3
    first_warm: float = 1.2
    starts: int = 4

    def kind(self, name: str) -> Kind:
        """The kind of that name; raises BenchError where it is not measured in this run."""
        for kind in self.kinds:
            if kind.name == name:
                return kind
        raise BenchError(f"{name} is not measured in this run")


@dataclass(frozen=True, slots=True)
class Leg:
    """One server asked for one case in one round."""

    case: Case
    server: str
    round: int
    seen: Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a kind got ready with some recordings: medians of the starts, the first of all apart; octets resident.

    The first start makes what later ones find: a CA, an index.
    """

    server: str
    recordings: str
    first_seconds: float
    seconds: Sequence[float]
    cpu_seconds: Sequence[float]
    resident: int
    resident_after: int = 0


@dataclass(slots=True)
class Measured:
    """All legs and starts; and `failed`, the reason by server and case, where a peer could not be measured."""

    legs: list[Leg] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    failed: dict[tuple[str, str], str] = field(default_factory=dict)


def first_line(error: BenchError) -> str:
    """What ERROR says, without what the server said."""
    return str(error).split("\n", 1)[0]


def say(text: str) -> None:
    """TEXT on stderr, for whoever waits."""
    print(text, file=sys.stderr, flush=True)


def miss_request(path: str, recordings: Recordings, form: str) -> bytes:
    """A GET of what was not recorded."""
    base = f"http://{HOST}" if form == "absolute" and recordings.scheme == "http" else ""
    fields = "".join(f"{name}: {value}\r\n" for name, value in ASKED)
    return f"GET {base}{path} HTTP/1.1\r\n{fields}\r\n".encode("ascii")


def exchanges(recordings: Recordings, method: str, form: str, missing: Missing) -> Iterator[Exchange]:
    """What is asked, and what must come back."""
    fresh = f"X-Request-Id: {STAMP}\r\n".encode("ascii") if method == "GET-FRESH" else b""
    if not method.startswith("MISS"):
        for number, question in enumerate(recordings.questions):
            request = request_of(recordings, number, form).replace(b"\r\n\r\n", b"\r\n" + fresh + b"\r\n", 1)
            yield Exchange(request, recordings.bodies[question.body])
        return
    marks = [STAMP] if method == "MISS" else [f"{number:012d}" for number in range(MISSES)]
    for mark in marks:
        request = miss_request(f"/v1/nothing/{mark}?expand=all", recordings, form)
        yield Exchange(request, missing.contains, missing.status, CONTAINS)


def served(kind: Kind, method: str) -> bool:
    """Whether KIND answers such questions."""
    return method in kind.methods


class Batch:
    """The servers of some cases, up together."""

    def __init__(self, bench: Bench, cases: Sequence[Case]) -> None:
        self._bench = bench
        self._cases = cases
        self._up: dict[tuple[str, str], Server] = {}
        self._plans: dict[tuple[str, ...], Path] = {}
        self._stamp = 0
        self._place = bench.place / "-".join(str(part) for part in cases[0].batch)

    def run(self, into: Measured) -> None:
        """Measure all rounds; raises BenchError where one of ours fails: a peer that does is left out from then on."""
        self._place.mkdir(parents=True)
        with ExitStack() as stack:
            starts = [self._start(kind, recordings, stack) for recordings, kind in self._wanted()]
            for number in range(self._bench.rounds):
                into.legs.extend(self._round(number, into.failed))
            into.starts.extend(self._after(start) for start in starts)

    def _wanted(self) -> Iterator[tuple[Recordings, Kind]]:
        for recordings in dict.fromkeys(case.recordings for case in self._cases):
            for kind in self._bench.kinds:
                methods = {case.method for case in self._cases if case.recordings == recordings}
                if any(served(kind, method) for method in methods):
                    yield recordings, kind

    def _start(self, kind: Kind, recordings: Recordings, stack: ExitStack) -> Start:
        folder = self._place / f"{kind.name}-{recordings.name}"
        folder.mkdir()
        kind.prepare(recordings, folder)
        readies = []
        for _ in range(self._bench.starts - 1):
            with kind.start(recordings, folder, self._bench.core) as server:
                readies.append((server.ready_seconds, server.ready_cpu))
        server = stack.enter_context(kind.start(recordings, folder, self._bench.core))
        readies.append((server.ready_seconds, server.ready_cpu))
        self._up[kind.name, recordings.name] = server
        say(f"{kind.name} has {recordings.name}: ready in {readies[-1][0]:.2f} s")
        return Start(
            server=kind.name, recordings=recordings.name, first_seconds=readies[0][0],
            seconds=[ready for ready, _ in readies[1:]], cpu_seconds=[cpu for _, cpu in readies[1:]],
            resident=server.group.resident(),
        )  # fmt: skip

    def _after(self, start: Start) -> Start:
        return replace(start, resident_after=self._up[start.server, start.recordings].group.resident())

    def _round(self, number: int, failed: dict[tuple[str, str], str]) -> Iterator[Leg]:
        turns = [(case, kind) for case in self._cases for kind in self._bench.kinds if served(kind, case.method)]
        for case, kind in turns if number % 2 == 0 else reversed(turns):
            if (kind.name, case.name) in failed:
                continue
            try:
                seen = self._leg(case, kind, self._bench.warm if number else self._bench.first_warm)
            except BenchError as error:
                if kind.name in OURS:
                    raise
                failed[kind.name, case.name] = first_line(error)
                say(f"round {number + 1}/{self._bench.rounds} {failed[kind.name, case.name]}")
                continue
            say(f"round {number + 1}/{self._bench.rounds} {case.name} {kind.name}: {seen.per_core:,.0f}/core-s")
            yield Leg(case, kind.name, number, seen)

    def _leg(self, case: Case, kind: Kind, warm: float) -> Seen:
        server = self._up[kind.name, case.recordings.name]
        door = server.doors[case.recordings.scheme]
        plan = self._plan(case, kind, door.form)
        order = Order(
            connections=case.connections, seconds=self._bench.seconds, warm=warm,
            fresh=case.mode == "tls-new", stamp=self._stamp,
            spin=self._bench.client.core is not None,
        )  # fmt: skip
        pids = server.group.pids()
        try:
            seen = self._bench.client.run(plan, door, order, pids)
        except BenchError as error:
            raise BenchError(f"{kind.name}, {case.name}: {error}\n{server.group.said()}") from None
        if server.group.pids() != pids:
            raise BenchError(f"{kind.name}, {case.name}: its processes changed under way")
        self._stamp += seen.sent
        return seen

    def _plan(self, case: Case, kind: Kind, form: str) -> Path:
        method = "" if case.method in ("GET", "POST") else case.method
        key = (case.recordings.name, form, method, kind.name if method else "")
        if key not in self._plans:
            asked = exchanges(case.recordings, case.method, form, kind.missing)
            self._plans[key] = write_plan(self._place / ("-".join(key) + ".plan"), asked)
        return self._plans[key]


def measure(bench: Bench, batches: Iterable[Sequence[Case]]) -> Measured:
    """All legs of all rounds of all batches."""
    found = Measured()
    for cases in batches:
        Batch(bench, cases).run(found)
    return found
