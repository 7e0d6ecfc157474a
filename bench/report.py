"""The outcome as JSON and as text: facts of the machine, versions, rows, starts, studies and verdicts."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.bars import verdicts
from bench.figures import Spread, metrics, rounded, rows
from bench.rounds import Bench, Measured
from bench.servers import PATH

SCHEMA = "replayproxy-bench/1"
PACKAGES = ("replayproxy", "mitmproxy", "uvloop", "httptools", "cryptography", "pyopenssl")


def machine() -> dict[str, Any]:
    """Facts that figures depend on; no name of the machine."""
    text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text("utf-8"), re.MULTILINE)
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_mb": int(memory[1]) // 1024 if memory else None,
        "kernel": platform.release(),
        "load": rounded(os.getloadavg()[0]),
    }


def told_version(line: Sequence[str]) -> str:
    """The first version number that a program tells, or an empty text where it is not there."""
    program = shutil.which(line[0], path=f"{os.environ.get('PATH', '')}:{PATH}")
    if not program:
        return ""
    done = subprocess.run([program, *line[1:]], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+[a-z]?", done.stdout + done.stderr)
    return found[0] if found else ""


def versions() -> dict[str, str]:
    """Of everything that takes part."""
    programs = {
        "nginx": ["nginx", "-v"],
        "openssl": ["openssl", "version"],
        "compiler": ["cc", "--version"],
        "java": ["java", "-version"],
        "node": ["node", "--version"],
    }
    found = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {**found, **{name: told for name, line in programs.items() if (told := told_version(line))}}


def summary(
    bench: Bench, form: str, measured: Measured, studies: Sequence[Mapping[str, Any]], skipped: Mapping[str, str]
) -> dict[str, Any]:
    """Everything, as JSON holds it."""
    figures = all_metrics(measured, studies)
    return {
        "schema": SCHEMA,
        "form": form,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),  # noqa: TID251 - when it was measured
        "machine": machine(),
        "versions": versions(),
        "setting": {"rounds": bench.rounds, "seconds": bench.seconds, "warm": bench.warm},
        "skipped": dict(skipped),
        "failed": list(measured.failed.values()),
        "rows": rows(measured.legs),
        "starts": [start_row(start) for start in measured.starts],
        "studies": [dict(study) for study in studies],
        "metrics": {name: spread.to_json() for name, spread in figures.items()},
        "verdicts": verdicts(figures),
    }


def all_metrics(measured: Measured, studies: Iterable[Mapping[str, Any]]) -> dict[str, Spread]:
    """The figures of the rounds, of the starts and of the studies, by name."""
    found = metrics(measured.legs, measured.starts)
    for study in studies:
        found.update({name: Spread(value, value, value) for name, value in study["metrics"].items()})
    return found


def start_row(start: Any) -> dict[str, Any]:
    """A start as JSON holds it."""
    return {
        "server": start.server,
        "recordings": start.recordings,
        "first_seconds": rounded(start.first_seconds),
        "seconds": Spread.of(start.seconds).to_json(),
        "cpu_seconds": Spread.of(start.cpu_seconds).to_json(),
        "resident_mb": rounded(start.resident / 1e6),
        "resident_after_mb": rounded(start.resident_after / 1e6),
    }


def columns(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as text; the first two columns to the left, the others to the right."""
    table = [head, *lines]
    widths = [max(len(line[index]) for line in table) for index in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )


def number(value: float) -> str:
    """VALUE for people: whole and with commas from 100 on, else two digits that count and one more."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread_text(spread: Mapping[str, float]) -> str:
    """The median, and the range in brackets."""
    if spread["least"] == spread["most"]:
        return number(spread["median"])
    return f"{number(spread['median'])} ({number(spread['least'])}–{number(spread['most'])})"


ROW_HEAD = ("case", "server", "requests/core-s", "requests/s", "p50 µs", "p99 µs", "server", "client", "bound by")
START_HEAD = ("recordings", "server", "ready s", "first s", "cpu s", "MB ready", "MB after")
VERDICT_HEAD = ("bar", "measured", "wanted", "met")


def row_cells(row: Mapping[str, Any]) -> list[str]:
    """A row as cells of ROW_HEAD."""
    return [
        row["case"], row["server"], spread_text(row["per_core_second"]), number(row["per_second"]),
        number(row["p50_us"]), number(row["p99_us"]), f"{row['server_busy']:.2f}", f"{row['client_busy']:.2f}",
        row["bound_by"],
    ]  # fmt: skip


def start_cells(start: Mapping[str, Any]) -> list[str]:
    """A start as cells of START_HEAD."""
    return [
        start["recordings"], start["server"], spread_text(start["seconds"]), number(start["first_seconds"]),
        spread_text(start["cpu_seconds"]), number(start["resident_mb"]), number(start["resident_after_mb"]),
    ]  # fmt: skip


def verdict_cells(verdict: Mapping[str, Any]) -> list[str]:
    """A verdict as cells of VERDICT_HEAD."""
    measured = spread_text(verdict["measured"]) if verdict["measured"] else "–"
    met = {True: "yes", False: "NO", None: "not measured"}[verdict["met"]]
    return [verdict["what"], measured, verdict["wanted"], met]


def not_measured(told: Mapping[str, Any]) -> list[str]:
    """What is missing from the figures, and why, a line each."""
    skipped = [f"{name} was not measured: {why}" for name, why in told["skipped"].items()]
    return skipped + [f"{failure}: left out from then on" for failure in told["failed"]]


def text(told: Mapping[str, Any]) -> str:
    """The whole outcome for people."""
    parts = []
    if told["rows"]:
        parts.append(columns(ROW_HEAD, [row_cells(row) for row in told["rows"]]))
        parts.append(columns(START_HEAD, [start_cells(start) for start in told["starts"]]))
    for study in told["studies"]:
        lines = [f"{study['name']}: {study['what']}", *(f"  {line}" for line in study["lines"])]
        parts.append("\n".join(lines))
    shown = [verdict for verdict in told["verdicts"] if verdict["met"] is not None]
    if shown:
        parts.append(columns(VERDICT_HEAD, [verdict_cells(verdict) for verdict in shown]))
    parts += not_measured(told)
    return "\n\n".join(parts)
