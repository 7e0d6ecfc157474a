"""A slow client beside one that floods: how long the slow one waits."""

from __future__ import annotations

from typing import Any

from bench.client import Order, Seen, write_plan
from bench.recordings import Recordings
from bench.rounds import Bench, exchanges

SECONDS = 3.0
SLOW = Order(connections=1, seconds=SECONDS, warm=0.3, pause_us=5_000)
FLOODS = {
    "alone": None,
    "beside 32 connections, one request each": Order(connections=32, seconds=SECONDS + 1.5),
    "beside 8 connections, 64 requests pipelined on each": Order(connections=8, depth=64, seconds=SECONDS + 1.5),
}


def fairness(bench: Bench) -> dict[str, Any]:
    """Native engine, plain: the slow client's waiting, alone, beside many, and beside a pipelining flood."""
    kind, recordings, folder = bench.kind("native"), Recordings(), bench.place / "fairness"
    folder.mkdir()
    kind.prepare(recordings, folder)
    found: dict[str, Seen] = {}
    flooded: dict[str, Seen] = {}
    with kind.start(recordings, folder, bench.core) as server:
        door = server.doors["http"]
        plan = write_plan(folder / "plan", exchanges(recordings, "GET", door.form, kind.missing))
        for name, flood in FLOODS.items():
            if flood is None:
                found[name] = bench.client.run(plan, door, SLOW, server.group.pids())
                continue
            with bench.client.started(plan, door, flood) as load:
                found[name] = bench.client.run(plan, door, SLOW, server.group.pids())
                flooded[name] = bench.client.finish(load, 60)
    lines = [
        f"{name}: p50 {seen.p50_us / 1000:.2f} ms, p99 {seen.p99_us / 1000:.2f} ms, worst {seen.max_us / 1000:.2f} ms "
        f"over {seen.requests} requests"
        + (f"; the others {flooded[name].requests / flooded[name].seconds:,.0f}/s" if name in flooded else "")
        for name, seen in found.items()
    ]
    waits = list(found.values())
    return {
        "name": "fairness",
        "what": "one client that asks every 5 ms, native engine, plain; the figures hold that both loads share a core",
        "lines": lines,
        "metrics": {
            "fairness alone p99-ms": waits[0].p99_us / 1000,
            "fairness many p99-ms": waits[1].p99_us / 1000,
            "fairness flood p99-ms": waits[2].p99_us / 1000,
        },
    }
