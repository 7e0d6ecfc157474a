"""`replayproxy replay`: serve cassettes; open no upstream connection, resolve no name."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import click

from replayproxy.authority import Authority
from replayproxy.control import Router
from replayproxy.core.clock import RECORDED
from replayproxy.core.errors import OperationError, ReplayproxyError
from replayproxy.engine.native import NativeHost, new_event_loop
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.timing import Timing
from replayproxy.settings import load
from replayproxy.wire.limits import Limits

from .control import ControlServer
from .environ import child_environment
from .options import Address, say, serving, set_up_logging, split_command
from .serving import Ending, Plan, check_command, check_files, end_on_sigterm, serve, write_json
from .staging import Stage, build

DEFAULT_LISTEN = ("127.0.0.1", 8080)
DEFAULT_CONTROL = ("127.0.0.1", 8081)
REPORT_SCHEMA = "replayproxy/report/1"
MISSED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options of the command, checked by click."""

    purpose: str
    seed: int
    clock: str
    timing: str
    engine: str
    allow_misses: bool
    transparent: bool
    dns: Address | None
    jail: bool
    listen: Address | None
    control: Address | str | None
    ready_file: Path | None
    report: Path | None
    quiet: bool
    verbose: bool
    config: Path | None
    state_dir: Path
    command_line: tuple[str, ...]

    def refuse_what_is_to_come(self) -> None:
        """Raises OperationError for options of the contract that this version does not have."""
        asked = {
            "--dns": (self.dns is not None, "let the client's names lead to the proxy, with --transparent"),
            "--jail": (self.jail, "leave it out: replay itself opens no connection, but CMD is not kept from it"),
        }
        for name, hint in ((name, hint) for name, (given, hint) in asked.items() if given):
            raise OperationError(f"{name} is not in this version", hint=hint)


@click.command("replay")
@click.option("--purpose", default="local-debug", metavar="P", help="What for.  [default: local-debug]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the first episode.")
@click.option(
    "--clock",
    default=RECORDED,
    show_default=True,
    metavar="SPEC",
    help="recorded: time stands at the recording; or a moment, such as 2030-01-02T03:04:05Z.",
)
@click.option("--timing", default="instant", show_default=True, metavar="instant|recorded|xN", help="Pace of streams.")
@click.option("--engine", type=click.Choice(["native", "mitmproxy"]), default="native", show_default=True)
@click.option("--allow-misses", is_flag=True, help="Misses and refusals do not make the exit code 4.")
@click.option("--transparent", is_flag=True, help="Also serve clients that ignore proxy variables: by SNI and Host.")
@click.option("--dns", type=click.UNPROCESSED, metavar="HOST:PORT", help="Not in this version.")
@click.option("--jail", is_flag=True, help="Not in this version.")
@serving("[PATH …] [-- CMD …]")
def command(command_line: tuple[str, ...], **given: Any) -> int:
    """Serve cassettes (files or folders); open no upstream connection, resolve no name.

    PATHs come before `--`, CMD after it. With CMD, runs it with proxy and CA in its environment and ends with its code,
    or with 4 if anything was missed or refused. A miss is answered 424, a refusal 451.

    \b
    Examples:
      replayproxy replay cassettes/checkout.yaml -- python checkout.py
      replayproxy replay cassettes/ --purpose internal-training --listen 0.0.0.0:8080
    """
    end_on_sigterm()
    paths, words = split_command(command_line)
    options = ReplayOptions(command_line=words, **given)
    set_up_logging(quiet=options.quiet, verbose=options.verbose, progress=not words)
    options.refuse_what_is_to_come()
    # mitmproxy makes its tasks eager, which uvloop's loop does not take
    loop = asyncio.new_event_loop if options.engine == "mitmproxy" else new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(_run(paths, options))


class Engine(Protocol):
    """What serves a replay: `engine.native.NativeHost` or `mitm.replaying.MitmproxyHost`."""

    @property
    def address(self) -> Address:
        """The address and port listened on."""

    async def listen(self, host: str, port: int = 0) -> None:
        """Accept clients. Raises OperationError where the address cannot be had."""

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Serve no more; answers on their way have GRACE_SECONDS to arrive."""

    async def failed(self) -> ReplayproxyError:
        """Returns only where it cannot go on, with the reason."""


def _host(
    engine: str, stage: Stage, authority: Authority, limits: Limits, timing: Timing, *, transparent: bool
) -> Engine:
    """The host that `--engine` names."""
    if engine == "native":
        remembered = Remembered()
        return NativeHost(
            stage.service, authority, limits=limits, timing=timing, transparent=transparent, remembered=remembered
        )
    from replayproxy.mitm.replaying import MitmproxyHost  # noqa: PLC0415 - it takes a while, and native needs none of it

    return MitmproxyHost(stage.service, authority, limits=limits, timing=timing, transparent=transparent)


class ReplayHost:
    """The host of an engine, as `serving.Host`."""

    def __init__(self, host: Engine, listen: Address) -> None:
        self._host = host
        self._listen = listen

    async def start(self) -> Address:
        """Serve."""
        await self._host.listen(*self._listen)
        return self._host.address

    async def stop(self) -> None:
        """Serve no more; answers on their way have a moment to arrive."""
        await self._host.stop(1.0)

    async def failed(self) -> ReplayproxyError:
        """Returns only where the engine cannot go on."""
        return await self._host.failed()


async def _run(paths: Sequence[str], options: ReplayOptions) -> int:
    check_command(options.command_line)
    check_files(options.ready_file, options.report)
    settings = load(options.config)
    timing = Timing.parse(options.timing)
    stage = build(
        paths,
        settings,
        options.state_dir,
        purpose=options.purpose,
        seed=options.seed,
        clock=options.clock,
        quiet=options.quiet,
    )
    authority = Authority.load_or_create(options.state_dir)
    say(f"purpose: {options.purpose}", quiet=options.quiet)
    token = secrets.token_urlsafe(32)
    with_command = bool(options.command_line)
    listen = options.listen or (("127.0.0.1", 0) if with_command else DEFAULT_LISTEN)
    control = options.control or (None if with_command else DEFAULT_CONTROL)
    plan = Plan(
        command=options.command_line,
        environment=child_environment(authority, token),
        ready_file=options.ready_file,
        ca=authority.ca_pem,
        token=token,
        quiet=options.quiet,
        progress=lambda: str(stage.episodes.total()),
        banner=lambda proxy, where: _banner(stage, proxy, where),
    )
    router = ControlServer(Router(stage.episodes, token), control) if control else None
    host = _host(options.engine, stage, authority, settings.limits, timing, transparent=options.transparent)
    ending = await serve(ReplayHost(host, listen), router, plan)
    return _conclude(stage, options, ending)


def _banner(stage: Stage, proxy: str, control: str) -> str:
    count = len(stage.library.recordings)
    where = f", control {control}" if control else ""
    return f"serving {count} interactions of {len(stage.sources)} cassettes: proxy {proxy}{where}"


def _conclude(stage: Stage, options: ReplayOptions, ending: Ending) -> int:
    total = stage.episodes.total()
    negative = bool(total.misses or total.refusals)
    otherwise = MISSED if options.command_line and negative and not options.allow_misses else 0
    code = ending.exit_code(otherwise)
    if options.report is not None:
        write_json(options.report, report(stage, code))
    say(summary(stage), quiet=options.quiet and not negative)
    return code


def report(stage: Stage, code: int) -> dict[str, object]:
    """The --report of a replay; lists over all episodes since the start, digests of the default one."""
    total = stage.episodes.total()
    library = stage.library
    return {
        "schema": REPORT_SCHEMA,
        "mode": "replay",
        "recorded": [],
        "served": [one for position, one in enumerate(library.ids()) for _ in range(total.served[position])],
        "misses": list(total.misses.elements()),
        "refusals": list(total.refusals.elements()),
        "unused": [title for position, title in library.titles() if position not in total.served],
        "faults": [f"{one} {one.fault}" for one in library.recordings if one.fault and one.position in total.served],
        "pinned": sorted(stage.service.pinned_by),
        "warnings": [warning for one in stage.sources for warning in one.warnings],
        "digest": stage.default.digest,
        "world": stage.default.world,
        "exit": code,
    }


def summary(stage: Stage) -> str:
    """What a person wants to know at the end."""
    total = stage.episodes.total()
    lines = [f"{total}, unused {len(stage.library.recordings) - len(total.served)}"]
    for title, requests in (("missed", total.misses), ("refused", total.refusals)):
        lines += [f"  {title}: {request}" for request in requests]
    return "\n".join(lines)
