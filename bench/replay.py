"""Compares native replay with mitmdump's server replay, in one run, and prints a table or JSON.

    uv run python bench/replay.py [--replayproxy "replayproxy"] [--json FILE] [--seconds 1.0] [--rounds 4]

Both servers are up the whole time, pinned to one core; the load runs on another. Rounds alternate their order
(ABBA), so that a machine that slows down slows both. The figure is requests per second of processor time that
the server used: wall time says as much about the load and the neighbours. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from load import Plan
from servers import HOST, MITMDUMP, Running, mitmdump, pinned, random_text, replayproxy

SCHEMA = "replayproxy-bench-replay/1"
MODES = ("plain", "connect")
LOAD = Path(__file__).with_name("load.py")
WARM_SECONDS = 0.3
BASE, OURS = "mitmdump", "native"


@dataclass(frozen=True, slots=True)
class Leg:
    """One server under one mode of load for a while."""

    server: str
    mode: str
    seen: dict[str, Any]
    cpu_seconds: float

    @property
    def per_core(self) -> float:
        """Requests for each second of processor time that the server used."""
        return float(self.seen["requests"]) / self.cpu_seconds

    @property
    def per_second(self) -> float:
        """Requests for each second of the clock."""
        return float(self.seen["requests"] / self.seen["seconds"])


def run_load(plan: Plan, processor: int | None) -> dict[str, Any]:
    """What the load saw; ends the program where one answer was wrong, for then the figures mean nothing."""
    with pinned(processor):
        process = subprocess.Popen(
            [sys.executable, str(LOAD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    out, err = process.communicate(plan.to_json(), timeout=plan.seconds + 60)
    if process.returncode:
        raise SystemExit(f"{plan.mode} on {plan.proxy[1]}: {err.strip()}")
    seen: dict[str, Any] = json.loads(out)
    if seen["wrong"] or not seen["requests"]:
        raise SystemExit(f"{plan.mode} on {plan.proxy[1]}: {seen['wrong']} wrong answers: {seen['first_wrong']}")
    return seen


def measure(server: Running, mode: str, asked: argparse.Namespace, bodies: dict[str, bytes]) -> Leg:
    """One leg: a short load first, so that caches and certificates are there, then the one that counts."""
    plan = {
        "proxy": server.proxy, "host": HOST, "mode": mode, "ca": str(server.ca),
        "connections": asked.connections, "bodies": bodies,
    }  # fmt: skip
    run_load(Plan(**plan, seconds=WARM_SECONDS), asked.load_core)
    before = server.cpu_seconds()
    seen = run_load(Plan(**plan, seconds=asked.seconds), asked.load_core)
    return Leg(server.name, mode, seen, server.cpu_seconds() - before)


def run(asked: argparse.Namespace) -> list[Leg]:
    """All legs of all rounds."""
    bodies = {f"/items/{number}": random_text(asked.body) for number in range(asked.interactions)}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        place, core = Path(folder), asked.server_core
        servers = [
            stack.enter_context(replayproxy(OURS, asked.replayproxy, place / OURS, bodies, core)),
            stack.enter_context(mitmdump(BASE, asked.mitmdump, place / BASE, bodies, core)),
        ]
        legs = []
        for number in range(asked.rounds):
            for mode in MODES:
                for server in servers if number % 2 == 0 else reversed(servers):
                    legs.append(measure(server, mode, asked, bodies))
                    say(f"round {number + 1}/{asked.rounds} {mode} {server.name}: {legs[-1].per_core:,.0f}/s")
        return legs


def say(text: str) -> None:
    """TEXT on stderr, where a person is looking."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


def summarise(legs: Sequence[Leg], asked: argparse.Namespace) -> dict[str, Any]:
    """Medians of each server and mode, and the ratio of each round."""
    rows = []
    for mode in MODES:
        of = {name: [leg for leg in legs if (leg.server, leg.mode) == (name, mode)] for name in (OURS, BASE)}
        ratios = sorted(ours.per_core / base.per_core for ours, base in zip(of[OURS], of[BASE], strict=True))
        for name, own in of.items():
            rows.append({
                "server": name,
                "mode": mode,
                "requests_per_core_second": round(median(leg.per_core for leg in own)),
                "requests_per_second": round(median(leg.per_second for leg in own)),
                "p50_us": median(leg.seen["p50_us"] for leg in own),
                "p99_us": median(leg.seen["p99_us"] for leg in own),
                "ratio": round(median(ratios), 1) if name == OURS else 1.0,
                "ratio_range": [round(ratios[0], 1), round(ratios[-1], 1)] if name == OURS else [1.0, 1.0],
            })  # fmt: skip
    return {
        "schema": SCHEMA,
        "machine": {"cores": os.cpu_count(), "load": os.getloadavg()[0], "system": platform.platform()},
        "versions": {"python": platform.python_version(), "mitmproxy": version("mitmproxy")},
        "setting": {
            name: getattr(asked, name) for name in ("connections", "seconds", "rounds", "interactions", "body")
        },
        "rows": rows,
    }


def table(summary: dict[str, Any]) -> str:
    """The rows as text."""
    lines = [f"{'server':10}{'mode':9}{'req/core-s':>12}{'req/s':>10}{'p50 µs':>9}{'p99 µs':>9}  ratio"]
    for row in summary["rows"]:
        low, high = row["ratio_range"]
        spread = f" ({low:g}–{high:g})" if row["server"] == OURS else ""
        lines.append(
            f"{row['server']:10}{row['mode']:9}{row['requests_per_core_second']:12,}{row['requests_per_second']:10,}"
            f"{row['p50_us']:9,.0f}{row['p99_us']:9,.0f}  {row['ratio']:g}{spread}"
        )
    return "\n".join(lines)


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """The command line, read; cores are picked where the machine has two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replayproxy", type=shlex.split, default=["replayproxy"], metavar="COMMAND")
    parser.add_argument("--mitmdump", type=shlex.split, default=MITMDUMP, metavar="COMMAND")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each leg (default: 1)")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--interactions", type=int, default=10)
    parser.add_argument("--body", type=int, default=300, help="octets of each answer (default: 300)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    asked = parser.parse_args(words)
    cores = sorted(os.sched_getaffinity(0))
    asked.server_core, asked.load_core = (cores[0], cores[1]) if cores[1:] else (None, None)
    return asked


def main(words: Sequence[str]) -> int:
    """Measure and print; 0 unless an answer was wrong or a server did not start."""
    asked = arguments(words)
    summary = summarise(run(asked), asked)
    print(table(summary))
    if asked.json:
        asked.json.write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
