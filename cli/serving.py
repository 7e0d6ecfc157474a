"""What `record` and `replay` do alike: serve until CMD ends or a signal comes, tell where, and report.

Exit codes: CMD's own if it is not 0, else what the host says; 130 after SIGINT, 0 after SIGTERM.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from replayproxy.core.errors import OperationError, ReplayproxyError, UsageError

from .options import CLEAR_LINE, Address, say

GRACE_SECONDS = 5.0
PROGRESS_SECONDS = 0.5


class Host(Protocol):
    """A proxy that can be started and stopped."""

    async def start(self) -> Address:
        """Serve; the address that is listened on. Raises OperationError."""

    async def stop(self) -> None:
        """Serve no more; the port is free again."""

    async def failed(self) -> ReplayproxyError:
        """Returns only if the host cannot go on, with the reason."""


class Control(Protocol):
    """A control API that can be started and stopped."""

    async def start(self) -> str:
        """Serve; `http://HOST:PORT` or `unix:PATH`. Raises OperationError."""

    async def stop(self) -> None:
        """Serve no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run is set up. `environment` makes CMD's environment from the proxy's URL."""

    command: Sequence[str]
    environment: Callable[[str], Mapping[str, str]]
    ready_file: Path | None
    ca: Path
    token: str
    quiet: bool
    banner: Callable[[str, str], str]
    progress: Callable[[], str] = lambda: ""
    """What to show while serving, on a terminal and without CMD, whose own lines must not be broken."""
    output: IO[bytes] | None = None
    """Where CMD's standard output goes; None for ours."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: CMD's exit code (None without CMD), the signal that ended it, an error of the host."""

    command_code: int | None = None
    interrupted: signal.Signals | None = None
    error: ReplayproxyError | None = None

    def exit_code(self, otherwise: int) -> int:
        """The exit code of the contract, OTHERWISE where nothing went wrong so far."""
        if self.error is not None:
            return self.error.exit_code
        if self.interrupted is not None:
            return 130 if self.interrupted is signal.SIGINT else 0
        return self.command_code or otherwise


def end_on_sigterm() -> None:
    """SIGTERM is a clean stop before anything serves, too: by default the first process of a container ignores it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def check_command(command: Sequence[str]) -> None:
    """CMD can be run; raises UsageError before anything is started or written."""
    if not command or shutil.which(command[0]) is not None:
        return
    name = command[0]
    if os.sep in name and Path(name).is_file():
        raise UsageError(f"the command cannot be run: {name} is not executable", hint=f"chmod +x {name}")
    raise UsageError(f"the command is not found: {name}", hint="is it spelled right, and on PATH or given as a path?")


def check_files(*paths: Path | None) -> None:
    """What a run writes at its start or end can be written; raises OperationError before hours have gone into it."""
    for path in paths:
        if path is not None and not os.access(path.parent, os.W_OK | os.X_OK):
            reason = "no permission" if path.parent.is_dir() else f"{path.parent} is not a folder"
            raise OperationError(f"cannot write {path}: {reason}", hint="name a place that you may write to")


async def serve(host: Host, control: Control | None, plan: Plan) -> Ending:
    """Run HOST and CONTROL until CMD ends, a signal comes or the host fails; both are stopped afterwards."""
    signals: asyncio.Queue[signal.Signals] = asyncio.Queue()
    with _catching(signals):
        address = await host.start()
        try:
            url = f"http://{_netloc(address)}"
            where = await control.start() if control is not None else ""
            with _announced(plan, url, where):
                async with _progress_line(plan):
                    return await _until_over(host, plan, url, signals)
        finally:
            if control is not None:
                await control.stop()
            await host.stop()


@contextlib.asynccontextmanager
async def _progress_line(plan: Plan) -> AsyncIterator[None]:
    """A line on the terminal that tells how far the run is, gone afterwards."""
    if plan.quiet or plan.command or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    showing = asyncio.ensure_future(_show_progress(plan))
    try:
        yield
    finally:
        showing.cancel()
        sys.stderr.write(CLEAR_LINE)
        sys.stderr.flush()


async def _show_progress(plan: Plan) -> None:
    while True:
        sys.stderr.write(f"{CLEAR_LINE}{plan.progress()}")
        sys.stderr.flush()
        await asyncio.sleep(PROGRESS_SECONDS)


async def _until_over(host: Host, plan: Plan, url: str, signals: asyncio.Queue[signal.Signals]) -> Ending:
    failed = asyncio.ensure_future(host.failed())
    stopped = asyncio.ensure_future(signals.get())
    await asyncio.sleep(0)  # a signal that has come already ends the run before CMD begins
    process = await _spawn(plan, url) if plan.command and not stopped.done() else None
    ended = asyncio.ensure_future(process.wait()) if process else None
    waiting = {task for task in (failed, stopped, ended) if task is not None}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            return Ending(error=failed.result())
        if stopped.done():
            return Ending(interrupted=stopped.result())
        assert process is not None
        return Ending(command_code=_shell_code(await process.wait()))
    finally:
        for task in waiting:
            task.cancel()
        if process is not None:
            await _end(process)


async def _spawn(plan: Plan, url: str) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(*plan.command, env=dict(plan.environment(url)), stdout=plan.output)
    except OSError as error:
        raise UsageError(
            f"the command cannot be run: {plan.command[0]}: {error.strerror}", hint="is it executable?"
        ) from error


async def _end(process: asyncio.subprocess.Process) -> None:
    """PROCESS is over: asked to end if it runs, killed if it does not listen."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), GRACE_SECONDS)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _shell_code(code: int) -> int:
    """An exit code as a shell gives it: 128 + N for a process that signal N ended."""
    return 128 - code if code < 0 else code


@contextlib.contextmanager
def _catching(signals: asyncio.Queue[signal.Signals]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, signals.put_nowait, number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _announced(plan: Plan, url: str, control: str) -> Iterator[None]:
    """Say where we serve, on stderr and in the readiness file, which is gone afterwards."""
    say(plan.banner(url, control), quiet=plan.quiet)
    if plan.ready_file is None:
        yield
        return
    ready = {"proxy": url, "control": control, "ca": str(plan.ca), "token": plan.token}
    write_json(plan.ready_file, ready, private=True)
    try:
        yield
    finally:
        plan.ready_file.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, private: bool = False) -> None:
    """VALUE is in PATH as JSON, whole or not at all; with PRIVATE readable by its owner only."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            if not private:
                Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(path)
        except OSError:
            Path(name).unlink()
            raise
    except OSError as error:
        hint = "does its folder exist, with room in it and permission to write?"
        raise OperationError(f"cannot write {path}: {error.strerror}", hint=hint) from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _netloc(address: Address) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
