"""What `replayproxy record` does: the recorder as a host, from its options to the cassette and the report."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path
from typing import Any

from replayproxy.authority import Authority
from replayproxy.control import RecordRouter
from replayproxy.core.errors import ReplayproxyError, UsageError
from replayproxy.core.exchange import normal_host
from replayproxy.mitm.addon import MitmproxySockets, RecordAddon
from replayproxy.mitm.known import answers_of
from replayproxy.mitm.master import RecordMaster
from replayproxy.mitm.recording import Wanted, begin
from replayproxy.mitm.session import Session, Tally
from replayproxy.settings import Settings, load, rights_from
from replayproxy.store import Recording

from .control import ControlServer
from .environ import child_environment
from .options import Address, say
from .record import RecordOptions
from .serving import Ending, Plan, serve, write_json

DEFAULT_LISTEN = ("127.0.0.1", 8080)
DEFAULT_CONTROL = ("127.0.0.1", 8081)
FLUSH_SECONDS = 0.5
PROPOSALS = 5
TOLD = 20
REFUSED = 4
REPORT_SCHEMA = "replayproxy/report/1"


async def run(options: RecordOptions) -> int:
    """Record as OPTIONS say until CMD ends or a signal comes; the exit code, the cassette being written."""
    settings = load(options.config)
    wanted = _wanted(options, settings)
    authority = Authority.load_or_create(options.state_dir)
    bundle = authority.upstream_bundle(options.upstream_ca)
    failure: asyncio.Future[ReplayproxyError] = asyncio.get_running_loop().create_future()

    def fail(error: ReplayproxyError) -> None:
        if not failure.done():
            failure.set_result(error)

    recording, session = begin(wanted, MitmproxySockets(), fail, answers_of(settings.providers))
    ended = False
    try:
        addon = RecordAddon(session, authority)
        host = RecordHost(RecordMaster(addon, _listen(options), bundle), recording, failure)
        plan, control = _plan(options, authority, session)
        ending = await serve(host, control, plan)
        ended = True
    finally:
        if not ended:
            recording.abandon()
    return _conclude(options, recording, session, ending)


class RecordHost:
    """The recorder as a host: mitmproxy's master, and the log's regular flush."""

    def __init__(self, master: RecordMaster, recording: Recording, failure: asyncio.Future[ReplayproxyError]) -> None:
        self._master = master
        self._recording = recording
        self._failure = failure
        self._tasks: list[asyncio.Future[None]] = []

    async def start(self) -> Address:
        """mitmproxy listens."""
        ready = asyncio.Event()
        running = asyncio.ensure_future(self._master.run(ready.set))
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set():
            waiting.cancel()
            await running
        self._tasks = [running, asyncio.ensure_future(self._flush())]
        return self._master.address

    async def stop(self) -> None:
        """mitmproxy has ended, and with it every connection."""
        self._master.stop()
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def failed(self) -> ReplayproxyError:
        """What keeps the recording from going on, usually a disk."""
        return await self._failure

    async def _flush(self) -> None:
        """Carry what was recorded through a power cut, within the second."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                self._recording.flush()
            except ReplayproxyError as error:
                if not self._failure.done():
                    self._failure.set_result(error)
                return


def _wanted(options: RecordOptions, settings: Settings) -> Wanted:
    return Wanted(
        output=options.output,
        on_existing=options.on_existing,
        rights=rights_from(options.rights) if options.rights else None,
        providers=settings.providers,
        registry=settings.registry,
        allow_hosts=options.allow_host,
        connect_to={(_name(host), port): address for (host, port), address in options.connect_to},
        limits=settings.limits,
        note=options.note,
    )


def _name(host: str) -> str:
    try:
        return normal_host(host)
    except ValueError as error:
        raise UsageError(f"--connect-to: {error}", hint="HOST:PORT:ADDR:PORT, as curl's") from error


def _listen(options: RecordOptions) -> Address:
    return options.listen or (("127.0.0.1", 0) if options.command_line else DEFAULT_LISTEN)


def _plan(options: RecordOptions, authority: Authority, session: Session) -> tuple[Plan, Any]:
    token = secrets.token_urlsafe(32)
    default = None if options.command_line else DEFAULT_CONTROL
    address = options.control or default
    control = ControlServer(RecordRouter(lambda: counts(session.tally), token), address) if address else None
    plan = Plan(
        command=options.command_line,
        environment=child_environment(authority, token),
        ready_file=options.ready_file,
        ca=authority.ca_pem,
        token=token,
        quiet=options.quiet,
        progress=lambda: _counted(session.tally),
        banner=lambda proxy, where: (
            f"recording to {options.output}: proxy {proxy}" + (f", control {where}" if where else "")
        ),
    )
    return plan, control


def counts(tally: Tally) -> dict[str, int]:
    """What the control API tells of a recording."""
    return {
        "faults": len(tally.faults),
        "recorded": len(tally.recorded),
        "refusals": len(tally.refusals),
        "served": len(tally.served),
    }


def _conclude(options: RecordOptions, recording: Recording, session: Session, ending: Ending) -> int:
    """Write the cassette, or what there is of it, beside the old one; report; give the exit code."""
    tally = session.tally
    failed = session.failure is not None or bool(ending.command_code)
    path = recording.abandon() if failed else recording.finish()
    code = ending.exit_code(otherwise=REFUSED if options.command_line and tally.refusals else 0)
    if options.report is not None:
        write_json(options.report, report(tally, code))
    say(_summary(tally, path, failed), quiet=options.quiet and not (failed or tally.refusals or tally.faults))
    if ending.error is not None:
        raise ending.error
    return code


def report(tally: Tally, code: int) -> dict[str, object]:
    """The --report of a recording."""
    return {
        "schema": REPORT_SCHEMA,
        "mode": "record",
        "recorded": tally.recorded,
        "served": tally.served,
        "misses": [],
        "refusals": tally.refusals,
        "unused": [],
        "faults": tally.faults,
        "pinned": tally.pinned,
        "warnings": tally.warnings,
        "digest": "",
        "world": "",
        "exit": code,
    }


def _summary(tally: Tally, path: Path | None, failed: bool) -> str:
    hosts = f" from {len(tally.hosts)} host{'s' * (len(tally.hosts) != 1)}" if tally.hosts else ""
    lines = [_counted(tally, hosts)]
    for title, requests in (("refused", tally.refusals), ("broke", tally.faults)):
        named = list(dict.fromkeys(requests))
        lines += [f"  {title}: {request}" for request in named[:TOLD]]
        lines += [f"  {title}: {len(named) - TOLD} others, which --report lists"] * (len(named) > TOLD)
    for place, times in tally.proposals.most_common(PROPOSALS):
        lines.append(
            f"echoed in {times} answers: {place}; to have the caller's value put there: match.bind: ['{place}']"
        )
    if path is not None:
        lines.append(f"wrote {path}" + (", since the run failed; the cassette is as it was" if failed else ""))
    return "\n".join(lines)


def _counted(tally: Tally, hosts: str = "") -> str:
    return f"recorded {len(tally.recorded)}{hosts}, refused {len(tally.refusals)}, faults {len(tally.faults)}"
