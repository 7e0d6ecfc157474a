"""Records the cassettes that ship with the package anew, each against its vendor, and checks that it replays.

    uv run python examples/vendors/record.py [NAME …] [--into cassettes] [--replayproxy "uv run replayproxy"]

For each NAME the vendor is served here, its client runs once behind `record` and, with the vendor gone, once
behind `replay`; what the client printed must be the same both times. Exit code 1 where it is not.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NAMES = ("directory", "payments", "chat")
STOP_SECONDS = 20.0
RUN_SECONDS = 120.0


@contextmanager
def vendor(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Vendor NAME, serving TLS with an identity made in FOLDER; afterwards it has ended."""
    line = [sys.executable, str(HERE / "serve.py"), name, "--tls", str(folder)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            if not told:
                raise SystemExit(f"the vendor {name} did not start (code {process.wait(STOP_SECONDS)})")
            ready = json.loads(told)
            yield {**ready["vendors"][name], "ca": ready["ca"]}
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def record_line(command: list[str], served: dict[str, Any], cassette: Path, state: Path) -> list[str]:
    """The command that records; it is the one that cassettes/README.md shows."""
    host, port = served["host"], served["port"]
    return [
        *command, "record", "-o", str(cassette), "--on-existing", "replace", "--rights", "own-synthetic",
        "--allow-host", host, "--connect-to", f"{host}:443:127.0.0.1:{port}", "--upstream-ca", served["ca"],
        "--state-dir", str(state), "--note", f"examples/vendors/record.py {cassette.stem}",
    ]  # fmt: skip


def run(line: list[str], client: list[str]) -> str:
    """What CLIENT printed behind LINE; ends the program where that failed."""
    done = subprocess.run([*line, "--", *client], stdout=subprocess.PIPE, text=True, timeout=RUN_SECONDS, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(line)}: code {done.returncode}")
    return done.stdout


def differences(name: str, command: list[str], into: Path) -> list[str]:
    """Record NAME into INTO; the lines in which the replayed client differs from the recorded one."""
    client = [sys.executable, str(HERE / f"client_{name}.py")]
    cassette = into / f"{name}.yaml"
    with tempfile.TemporaryDirectory(prefix="vendor-") as folder:
        state = Path(folder) / "state"
        with vendor(name, Path(folder)) as served:
            recorded = run(record_line(command, served, cassette, state), client)
        replayed = run([*command, "replay", str(cassette), "--state-dir", str(state)], client)
    return list(difflib.unified_diff(recorded.splitlines(), replayed.splitlines(), "recorded", "replayed", n=0))


def main(words: list[str]) -> int:
    """Record what WORDS ask for; 1 where a replay differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--into", type=Path, default=ROOT / "cassettes")
    parser.add_argument("--replayproxy", type=shlex.split, default=["replayproxy"], metavar="COMMAND")
    asked = parser.parse_args(words)
    if unknown := set(asked.names) - set(NAMES):
        parser.error(f"no such vendor: {', '.join(sorted(unknown))}")
    code = 0
    for name in asked.names:
        found = differences(name, asked.replayproxy, asked.into.resolve())
        print(f"{name}: {'differs' if found else 'recorded; its replay is the same'}", *found, sep="\n")
        code |= bool(found)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
