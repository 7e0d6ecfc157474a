"""`replayproxy record`: proxy to the live APIs and write the cassette. What it does is in `recording`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from replayproxy.core.errors import UsageError
from replayproxy.store import OnExisting, check_target

from .options import Address, ConnectToType, serving, set_up_logging, split_command
from .serving import check_command, check_files, end_on_sigterm


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The options of the command, checked by click."""

    output: Path
    on_existing: OnExisting
    rights: str | None
    allow_host: tuple[str, ...]
    connect_to: tuple[tuple[Address, Address], ...]
    upstream_ca: Path | None
    note: str
    listen: Address | None
    control: Address | str | None
    ready_file: Path | None
    report: Path | None
    quiet: bool
    verbose: bool
    config: Path | None
    state_dir: Path
    command_line: tuple[str, ...]


@click.command("record", context_settings={"allow_interspersed_args": True})
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, metavar="CASSETTE", help="NAME.yaml")
@click.option(
    "--on-existing",
    type=click.Choice(["fail", "append", "replace", "new"]),
    default="fail",
    show_default=True,
    help="If CASSETTE exists. `new` serves what is known and records the rest.",
)
@click.option(
    "--rights",
    metavar="PRESET|FILE",
    help="Under which rights: own-synthetic, unknown, or a rights file. Without it hosts without rights are refused.",
)
@click.option("--allow-host", metavar="GLOB", multiple=True, help="Record only these hosts (repeatable).")
@click.option(
    "--connect-to",
    type=ConnectToType(),
    multiple=True,
    help="Connect to ADDR:PORT for requests to HOST:PORT, as curl does (repeatable).",
)
@click.option(
    "--upstream-ca",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Trust this CA for upstreams, beside the public ones. Certificates are always verified.",
)
@click.option("--note", metavar="TEXT", default="", help="Kept in the cassette.")
@serving("[-- CMD …]")
def command(command_line: tuple[str, ...], **given: Any) -> int:
    """Proxy to the live APIs and write CASSETTE.

    With CMD, runs it with proxy and CA in its environment and stops when it ends. Without, serves until interrupted;
    give clients the environment that `replayproxy env` prints. Secrets are masked before anything is written.

    \b
    Examples:
      replayproxy record -o checkout.yaml --rights unknown -- python checkout.py
      replayproxy record -o chat.yaml --rights rights/vendor.yaml --allow-host 'api.vendor.example'
    """
    end_on_sigterm()
    unexpected, words = split_command(command_line)
    if unexpected:
        raise UsageError(f"unexpected argument: {unexpected[0]}", hint="a command to run stands behind `--`")
    options = RecordOptions(command_line=words, **given)
    set_up_logging(quiet=options.quiet, verbose=options.verbose, progress=not words)
    check_target(options.output, "fail" if options.on_existing == "fail" else None)
    check_command(words)
    check_files(options.ready_file, options.report)
    recording = import_module(".recording", __package__)  # and with it mitmproxy, which takes most of a second
    code: int = asyncio.run(recording.run(options))
    return code
