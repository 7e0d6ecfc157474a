"""Where the time of a server goes: py-spy looks at it while it is asked, and its samples are summed by function."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from bench import plan
from bench.client import BenchError, Order, write_plan
from bench.report import columns
from bench.rounds import Bench, exchanges

RATE = 250
SECONDS = 6
SHOWN = 40


def profile(bench: Bench, name: str, server: str) -> str:
    """The functions of SERVER that most samples are in, during the case NAME; raises BenchError without py-spy."""
    spy = shutil.which("py-spy") or shutil.which(str(Path(sys.executable).with_name("py-spy")))
    if not spy:
        raise BenchError("there is no py-spy\nhint: uv run --with py-spy python -m bench --profile CASE")
    known = {case.name: case for case in plan.full_cases()}
    if name not in known:
        raise BenchError(f"there is no case {name}\nhint: --list --full shows them")
    case, kind, folder = known[name], bench.kind(server), bench.place / "profile"
    folder.mkdir()
    kind.prepare(case.recordings, folder)
    raw = folder / "samples"
    with kind.start(case.recordings, folder, bench.core) as up:
        door = up.doors[case.recordings.scheme]
        asked = write_plan(folder / "plan", exchanges(case.recordings, case.method, door.form, kind.missing))
        order = Order(connections=case.connections, seconds=SECONDS + 2, fresh=case.mode == "tls-new")
        with bench.client.started(asked, door, order) as load:
            line = [spy, "record", "-p", str(up.group.process.pid), "-f", "raw", "-o", str(raw), "-r", str(RATE)]
            done = subprocess.run([*line, "-d", str(SECONDS)], capture_output=True, text=True, check=False)
            bench.client.finish(load, SECONDS + 60)
    if done.returncode:
        raise BenchError(f"py-spy: {done.stderr.strip()}")
    return inclusive(raw.read_text("utf-8").splitlines(), f"{server}, {name}")


def inclusive(samples: Iterable[str], title: str) -> str:
    """A table of the functions in SAMPLES (py-spy's raw form: frames joined by `;`, a count), by inclusive share."""
    within: Counter[str] = Counter()
    top: Counter[str] = Counter()
    total = 0
    for line in samples:
        stack, _, count = line.rpartition(" ")
        frames = [frame.rpartition(":")[0] or frame for frame in stack.split(";")]
        total += int(count)
        top[frames[-1]] += int(count)
        for frame in set(frames):
            within[frame] += int(count)
    if not total:
        raise BenchError("py-spy saw nothing")
    lines = [
        [name, "", f"{count / total:.1%}", f"{top[name] / total:.1%}"] for name, count in within.most_common(SHOWN)
    ]
    return f"{title}: {total} samples\n{columns(('function', '', 'inclusive', 'own'), lines)}"
