"""The command line: what to measure, where to write it, and what its code says."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import bars, document, plan, report
from bench.client import BenchError, Client, build
from bench.figures import Spread
from bench.peers import peers
from bench.profiling import profile
from bench.rounds import Bench, measure, say
from bench.servers import MITMDUMP, Kind, Mitmdump, Nginx, Replayproxy
from bench.studies import STUDIES

FINE, LOST, BAD_INPUT, FAILED = 0, 1, 2, 3
DEFAULT: Mapping[str, Any] = {"rounds": 5, "seconds": 1.0, "warm": 0.3, "first_warm": 1.2, "starts": 4}
SHORT: Mapping[str, Any] = {"rounds": 3, "seconds": 0.5, "warm": 0.2, "first_warm": 0.2, "starts": 2}
HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
DOCUMENT = HERE.parent / "docs" / "performance.md"


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure replayproxy beside its peers: requests per second of the server's processor time.",
        epilog="codes: 0 fine; 1 a ratio was lost (--short); 2 bad input; 3 could not measure, or an answer was wrong",
    )
    parser.add_argument(
        "--short", action="store_true", help="the corners only, in under a minute; held to baseline.json"
    )
    parser.add_argument("--full", action="store_true", help="every point of the axes: hours")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="cases and studies of such a name"
    )
    parser.add_argument("--servers", metavar="NAME,…", help="only these (native, mitmproxy-engine, mitmdump, nginx, …)")
    parser.add_argument("--list", action="store_true", help="print what would be measured, and end")
    parser.add_argument("--rounds", type=int, help="(default: 5; 3 with --short)")
    parser.add_argument("--seconds", type=float, help="of each leg (default: 1; 0.5 with --short)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    parser.add_argument("--read", type=Path, metavar="FILE", help="measure nothing; take the figures from there")
    parser.add_argument("--document", action="store_true", help="write docs/performance.md from the figures")
    parser.add_argument("--update-baseline", action="store_true", help="write bench/baseline.json from the figures")
    parser.add_argument(
        "--profile", metavar="CASE", help="only show where the native engine's time goes (needs py-spy)"
    )
    parser.add_argument("--engine", choices=("native", "mitmproxy"), default="native", help="whose profile")
    parser.add_argument(
        "--peers-dir", type=Path, metavar="DIR", help="where npm puts WireMock and mountebank, to be kept"
    )
    parser.add_argument("--replayproxy", type=shlex.split, metavar="COMMAND", default=default_command())
    parser.add_argument("--mitmdump", type=shlex.split, metavar="COMMAND", default=list(MITMDUMP))
    return parser.parse_args(words)


def default_command() -> list[str]:
    """The product of the environment that runs this."""
    beside = Path(sys.executable).with_name("replayproxy")
    return [str(beside)] if beside.exists() else ["replayproxy"]


def kinds(asked: argparse.Namespace) -> tuple[list[Kind], dict[str, str]]:
    """The kinds that can be measured here, and for those that cannot the reason."""
    methods = frozenset({"GET"}) if asked.short else frozenset(plan.METHODS)
    known: list[Kind] = [
        Replayproxy(command=asked.replayproxy),
        Replayproxy("mitmproxy-engine", asked.replayproxy, "mitmproxy", methods=methods),
        Mitmdump(command=asked.mitmdump, methods=methods),
        Nginx(),
    ]
    if not asked.short:
        known += peers(asked.peers_dir)
    wanted = asked.servers.split(",") if asked.servers else [kind.name for kind in known]
    strangers = set(wanted) - {kind.name for kind in known}
    if strangers:
        raise SystemExit(f"bench: there is no server {', '.join(sorted(strangers))}")
    skipped = {kind.name: why for kind in known if kind.name in wanted and (why := kind.lacking())}
    skipped |= {kind.name: "it was not asked for" for kind in known if kind.name not in wanted}
    return [kind for kind in known if kind.name not in skipped], skipped


def cases(asked: argparse.Namespace) -> list[plan.Case]:
    """The cases that the command line selects."""
    if asked.short:
        return plan.chosen(((case.name, case) for case in plan.short_cases()), asked.only)
    known = plan.full_cases() if asked.full else plan.default_cases()
    return plan.chosen(((case.name, case) for case in known), asked.only)


def studies(asked: argparse.Namespace) -> list[str]:
    """The studies that the command line selects, by name."""
    return [] if asked.short else plan.chosen(((name, name) for name in STUDIES), asked.only)


def cores() -> tuple[int | None, int | None]:
    """A core for the servers and one for the load; none of their own where there is only one."""
    own = sorted(os.sched_getaffinity(0))
    return (own[0], own[1]) if own[1:] else (None, None)


def run(asked: argparse.Namespace) -> dict[str, Any]:
    """Measure what ASKED selects."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        servers, skipped = kinds(asked)
        server_core, client_core = cores()
        form = SHORT if asked.short else DEFAULT
        bench = Bench(
            client=Client(build(place), client_core), kinds=servers, place=place, core=server_core,
            **{**form, **{name: value for name in ("rounds", "seconds") if (value := getattr(asked, name))}},
        )  # fmt: skip
        if asked.profile:
            print(profile(bench, asked.profile, "native" if asked.engine == "native" else "mitmproxy-engine"))
            return {}
        measured = measure(bench, plan.batches(cases(asked)))
        found = []
        for name in studies(asked):
            say(f"study {name}")
            found.append(STUDIES[name](bench))
        name = "short" if asked.short else "full" if asked.full else "default"
        return report.summary(bench, name, measured, found, skipped)


def conclude(asked: argparse.Namespace, told: Mapping[str, Any]) -> int:
    """Print and write TOLD; the command's code."""
    print(report.text(told))
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if asked.document:
        document.write(DOCUMENT, told)
    metrics = {name: Spread(**spread) for name, spread in told["metrics"].items()}
    if asked.update_baseline:
        BASELINE.write_text(json.dumps(bars.baseline(metrics), indent=2) + "\n", "utf-8")
        return FINE
    if not asked.short or asked.only:
        return FINE
    lost = bars.losses(metrics, json.loads(BASELINE.read_text("utf-8")), told["skipped"])
    for line in lost:
        print(f"lost: {line}", file=sys.stderr)
    return LOST if lost else FINE


def main(words: Sequence[str]) -> int:
    """Do what WORDS ask; the code says how it went."""
    asked = arguments(words)
    if asked.list:
        print("\n".join([*(case.name for case in cases(asked)), *studies(asked)]))
        return FINE
    if asked.short and asked.full:
        print("bench: --short and --full exclude each other", file=sys.stderr)
        return BAD_INPUT
    try:
        told = json.loads(asked.read.read_text("utf-8")) if asked.read else run(asked)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return FAILED
    except (OSError, ValueError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return BAD_INPUT if asked.read else FAILED
    return conclude(asked, told) if told else FINE
