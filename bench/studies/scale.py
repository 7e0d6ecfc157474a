"""100,000 interactions beside 1,000: time to be ready, throughput, memory."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median
from typing import Any

from bench.client import Order, Seen, write_plan
from bench.recordings import Recordings
from bench.rounds import Bench, exchanges, say
from bench.servers import Server

FEW, MANY = 1_000, 100_000
STARTS = 4
CONNECTIONS = 32


def scale(bench: Bench) -> dict[str, Any]:
    """Both counts, native engine, plain, alternating rounds; the cold pass of each is told apart."""
    kind = bench.kind("native")
    place = bench.place / "scale"
    place.mkdir()
    readies: dict[int, list[float]] = {}
    cold: dict[int, Seen] = {}
    legs: dict[int, list[float]] = {FEW: [], MANY: []}
    memory: dict[int, tuple[int, int]] = {}
    with ExitStack() as stack:
        up: dict[int, Server] = {}
        plans = {}
        for count in (FEW, MANY):
            recordings, folder = Recordings(count=count), place / str(count)
            folder.mkdir()
            kind.prepare(recordings, folder)
            readies[count] = []
            for _ in range(STARTS - 1):
                with kind.start(recordings, folder, bench.core) as server:
                    readies[count].append(server.ready_seconds)
            up[count] = stack.enter_context(kind.start(recordings, folder, bench.core))
            readies[count].append(up[count].ready_seconds)
            say(f"scale: {count} interactions, ready in {', '.join(f'{one:.2f}' for one in readies[count])} s")
            asked = exchanges(recordings, "GET", "absolute", kind.missing)
            plans[count] = write_plan(place / f"{count}.plan", asked)
            memory[count] = (up[count].group.resident(), 0)
        for count, server in up.items():
            order = Order(connections=CONNECTIONS, requests=count)
            cold[count] = bench.client.run(plans[count], server.doors["http"], order, server.group.pids())
            say(f"scale: {count} interactions, each asked for once: {cold[count].per_core:,.0f}/core-s")
        for number in range(bench.rounds):
            for count in (FEW, MANY) if number % 2 == 0 else (MANY, FEW):
                seen = _warm_pass(bench, up[count], plans[count], count)
                legs[count].append(seen.per_core)
        memory = {count: (memory[count][0], server.group.resident()) for count, server in up.items()}
    return _told(readies, cold, legs, memory)


def _warm_pass(bench: Bench, server: Server, plan: Any, count: int) -> Seen:
    """One leg that goes on through the whole recording, at least once."""
    order = Order(connections=CONNECTIONS, requests=max(count, MANY))
    return bench.client.run(plan, server.doors["http"], order, server.group.pids())


def _told(
    readies: dict[int, list[float]], cold: dict[int, Seen], legs: dict[int, list[float]],
    memory: dict[int, tuple[int, int]],
) -> dict[str, Any]:  # fmt: skip
    ready = {count: median(found[1:]) for count, found in readies.items()}
    ratio = median(many / few for few, many in zip(legs[FEW], legs[MANY], strict=True))
    lines = [
        f"{count:,} interactions: ready in {ready[count]:.3f} s (first start {readies[count][0]:.2f} s), "
        f"each asked for once {cold[count].per_core:,.0f}/core-s, then {median(legs[count]):,.0f}/core-s, "
        f"{memory[count][0] / 1e6:.0f} MB resident once ready, {memory[count][1] / 1e6:.0f} MB after all passes"
        for count in (FEW, MANY)
    ]
    return {
        "name": "scale",
        "what": "native engine, plain, 300 octets; ready is the median of the starts after the first, which indexes",
        "lines": lines,
        "metrics": {
            "scale ready-ratio": ready[MANY] / ready[FEW],
            "scale ready-few": ready[FEW],
            "scale ready-many": ready[MANY],
            "scale first-start-many": readies[MANY][0],
            "scale throughput-ratio": ratio,
            "scale cold-throughput-ratio": cold[MANY].per_core / cold[FEW].per_core,
            "scale resident-ready": memory[MANY][0] / 1e6,
            "scale resident": memory[MANY][1] / 1e6,
        },
    }
