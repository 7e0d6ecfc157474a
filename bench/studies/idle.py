"""10,000 connections that are open and at rest, plain and inside CONNECT: what memory they hold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bench.client import BenchError, Order, Seen, write_plan
from bench.recordings import Recordings
from bench.rounds import Bench, exchanges, say
from bench.servers import Replayproxy

CONNECTIONS = 10_000
SECONDS = 120
CONFIGURATION = f"limits:\n  connections: {CONNECTIONS + 100}\n  idle_seconds: 3600\n"


def idle(bench: Bench) -> dict[str, Any]:
    """Native engine; every connection has had one right answer before it rests."""
    kind = bench.kind("native")
    if not isinstance(kind, Replayproxy):
        raise BenchError("the native engine is another kind")
    kind = replace(kind, configuration=CONFIGURATION)
    lines, metrics = [], {}
    for name, scheme in (("plain", "http"), ("tls", "https")):
        recordings, folder = Recordings(scheme), bench.place / f"idle-{name}"
        folder.mkdir()
        kind.prepare(recordings, folder)
        with kind.start(recordings, folder, bench.core) as server:
            door, before = server.doors[scheme], server.group.resident()
            plan = write_plan(folder / "plan", exchanges(recordings, "GET", door.form, kind.missing))
            order = Order(connections=CONNECTIONS, requests=CONNECTIONS, hold=True)
            with bench.client.started(plan, door, order, server.group.pids()) as load:
                opened = load.stdout.readline() if load.stdout else ""
                held = server.group.resident()
                bench.client.finish(load, SECONDS) if not opened else load.communicate(timeout=SECONDS)
        seen = Seen(**json.loads(opened))
        each = (held - before) / CONNECTIONS
        say(f"idle: {CONNECTIONS:,} connections, {name}: {held / 1e6:.0f} MB")
        lines.append(
            f"{name}: {held / 1e6:.0f} MB resident, {before / 1e6:.0f} before; {each:,.0f} octets a connection; "
            f"opened and answered once each in {seen.seconds:.1f} s"
        )
        metrics[f"idle {name}"] = held / 1e6
    return {
        "name": "idle",
        "what": f"{CONNECTIONS:,} connections open and at rest, each after one answer, native engine",
        "lines": lines,
        "metrics": metrics,
    }
