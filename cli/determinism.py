"""`replayproxy determinism`: does a command do the same under the same seed?

It runs twice under the first seed and once under the second, each time against a fresh replay. What it printed, its
exit code, the journal (as a set: arrival order is not the command's to choose) and the digest must be the same in the
first two runs.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from replayproxy.authority import Authority
from replayproxy.core.clock import RECORDED
from replayproxy.core.digest import digest
from replayproxy.core.errors import OperationError, UsageError
from replayproxy.engine.native import NativeHost, new_event_loop
from replayproxy.settings import load

from . import render
from .environ import child_environment
from .options import common, output_format, say, set_up_logging, split_command
from .replay import ReplayHost
from .serving import Ending, Plan, check_command, check_files, serve, write_json
from .staging import build

HEADINGS = ("RUN", "SEED", "EXIT", "OUTPUT", "JOURNAL", "DIGEST", "WORLD")
SCHEMA = "replayproxy/determinism/1"
SHORT = 12


@dataclass(frozen=True, slots=True)
class Run:
    """What one run did: digests of what it printed and asked for, and of the state it left."""

    seed: int
    code: int
    output: str
    journal: str
    digest: str
    world: str

    def differences(self, other: Run) -> list[str]:
        """In what two runs under one seed differ; nothing if they are the same."""
        pairs = {
            "exit code": (self.code, other.code),
            "output": (self.output, other.output),
            "journal": (self.journal, other.journal),
            "digest": (self.digest, other.digest),
        }
        return [name for name, (mine, its) in pairs.items() if mine != its]


@click.command("determinism")
@click.option("--seed", "seeds", type=click.IntRange(min=0), multiple=True, required=True, help="Give it twice.")
@click.option("--purpose", default="local-debug", show_default=True, metavar="P", help="What for.")
@click.option("--clock", default=RECORDED, show_default=True, metavar="SPEC", help="As for replay.")
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The comparison as JSON, as --format json prints it.",
)
@click.argument("command_line", metavar="PATH … -- CMD …", nargs=-1, type=click.UNPROCESSED)
@output_format
@common
def command(  # noqa: PLR0917 - the options, as click hands them over
    seeds: tuple[int, ...],
    purpose: str,
    clock: str,
    report: Path | None,
    command_line: tuple[str, ...],
    output: str,
    config: Path | None,
    state_dir: Path,
) -> int:
    """Run CMD twice under the first seed and once under the second, and compare.

    Ends with 1 if the two runs under one seed differ in output, exit code, journal or digest.

    \b
    Example:
      replayproxy determinism --seed 1 --seed 2 cassettes/checkout.yaml -- python checkout.py
    """
    set_up_logging(quiet=True)
    paths, words = split_command(command_line)
    if len(seeds) != 2 or seeds[0] == seeds[1]:
        raise UsageError("two different seeds are needed", hint="--seed 1 --seed 2")
    if not words:
        raise UsageError("there is no command to run", hint="replayproxy determinism … PATH -- CMD")
    check_command(words)
    check_files(report)
    first, again, other = (
        run(paths, words, seed=seed, purpose=purpose, clock=clock, config=config, state_dir=state_dir)
        for seed in (seeds[0], seeds[0], seeds[1])
    )
    found = first.differences(again)
    rows = rows_of((first, again, other))
    document = {"deterministic": not found, "differs": found, "runs": render.records(HEADINGS, rows)}
    if report is not None:
        write_json(report, {"schema": SCHEMA, **document})
    if output == "json":
        render.as_json(SCHEMA, **document)
    else:
        render.table(HEADINGS, rows)
    for name in found:
        say(f"not deterministic: {name} differs between two runs under seed {first.seed}")
    return 1 if found else 0


def run(
    paths: Sequence[str],
    words: Sequence[str],
    *,
    seed: int,
    purpose: str,
    clock: str,
    config: Path | None,
    state_dir: Path,
) -> Run:
    """One run of WORDS against a fresh replay of PATHS under SEED."""
    settings = load(config)
    stage = build(paths, settings, state_dir, purpose=purpose, seed=seed, clock=clock, quiet=True)
    authority = Authority.load_or_create(state_dir)
    token = secrets.token_urlsafe(32)
    with tempfile.TemporaryFile() as out:
        plan = Plan(
            command=words,
            environment=child_environment(authority, token),
            ready_file=None,
            ca=authority.ca_pem,
            token=token,
            quiet=True,
            banner=lambda _proxy, _control: "",
            output=out,
        )
        host = ReplayHost(NativeHost(stage.service, authority, limits=settings.limits), ("127.0.0.1", 0))
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            ending: Ending = runner.run(serve(host, None, plan))
        if ending.interrupted is not None:
            raise _stopped(ending.interrupted)
        out.seek(0)
        printed = out.read()
    lines = [{**line.to_dict(), "n": 0} for line in stage.default.journal]
    journal = sorted(json.dumps(line, sort_keys=True) for line in lines)
    state = stage.default
    return Run(seed, ending.exit_code(0), digest(printed.hex()), digest(journal), state.digest, state.world)


def _stopped(by: signal.Signals) -> Exception:
    """Half a comparison says nothing: it is an interruption, or a failure, and never the code of a result."""
    if by is signal.SIGINT:
        return click.exceptions.Abort()
    return OperationError("stopped before the runs could be compared", hint="run it again")


def rows_of(runs: tuple[Run, ...]) -> list[tuple[render.Cell, ...]]:
    """A line for each run; digests cut to what tells them apart."""
    return [
        (
            number,
            one.seed,
            one.code,
            one.output[:SHORT],
            one.journal[:SHORT],
            one.digest[:SHORT],
            one.world[:SHORT],
        )
        for number, one in enumerate(runs, 1)
    ]
