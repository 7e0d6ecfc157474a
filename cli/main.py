"""The entry point: one group of commands, one way to print an error, one place that chooses the exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from replayproxy import __version__
from replayproxy.core.errors import ReplayproxyError

from .later import LATER, later
from .text import printable

COMMANDS = {
    "demo": "record a client, replay it with the upstream gone, and show that nothing got out",
    "init": "write a commented replayproxy.yaml",
    "record": "proxy to the live APIs and write a cassette",
    "replay": "serve cassettes; open no upstream connection",
    "env": "print the environment that a client needs",
    "ls": "list what cassettes hold",
    "show": "show interactions, with what is redacted, left out of the match, and tagged",
    "diff": "compare two cassettes",
    "scan": "find secrets in cassettes that exist",
    "verify": "check digests, and recover what a crash has left",
    "audit": "say whether cassettes may be used for a purpose",
    "determinism": "run a command three times and compare what it saw and said",
}
EPILOG = """\b
Examples:
  replayproxy demo
  replayproxy record -o cassettes/checkout.yaml --rights unknown -- python checkout.py
  replayproxy replay cassettes/ -- python checkout.py

Completion for your shell:
  eval "$(_REPLAYPROXY_COMPLETE=bash_source replayproxy)"
  (zsh_source and fish_source likewise)
"""


class Commands(click.Group):
    """Loads a command's module only when it is asked for, so that `--help` and completion stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command of the contract, in its order of use."""
        return [*COMMANDS, *LATER]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command called CMD_NAME, or None."""
        if cmd_name in LATER:
            return later(cmd_name)
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".{cmd_name}", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *((name, text) for name, (text, _) in LATER.items())])


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="replayproxy")
def cli() -> None:
    """Record an application's third-party calls once; replay them exactly, with no way out."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: with the command's code, or as the table in `core.errors` says."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # what a terminal's encoding cannot hold is spelled out; it is no reason to end
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command line ARGUMENTS; errors have been printed to stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(words, prog_name="replayproxy", standalone_mode=False, obj=words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except ReplayproxyError as error:
        return fail(str(error), error.exit_code)
    except click.exceptions.Abort:
        return fail("interrupted", 130)
    except click.ClickException as error:
        return misused(error)
    except OSError as error:
        return _unwritten(error)
    except Exception as error:  # noqa: BLE001 - the last resort, which shows no traceback unless it is asked for
        return _defect(error)
    return code if isinstance(code, int) else 0


def misused(error: click.ClickException) -> int:
    """The exit code of a command line that click refuses, which has been told."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return 2
    context = error.ctx if isinstance(error, click.UsageError) else None
    where = context.command_path if context else "replayproxy"
    return fail(f"{error.format_message().rstrip('.')}\n\nhint: {where} --help", 2)


def _unwritten(error: OSError) -> int:
    """The code where the operating system refuses what no command expects, most often to take our output."""
    _discard_output()
    if error.errno == errno.EPIPE:
        return 1  # the reader of our stdout has gone, and may have all that it wanted
    what = error.filename or "the output"
    return fail(f"cannot use {what}: {error.strerror or error}\n\nhint: is there room, and permission?", 3)


def _defect(error: Exception) -> int:
    """The code of a fault of ours: said in a line; `-v` shows the whole of it."""
    logging.getLogger("replayproxy").debug("the fault in full", exc_info=error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = f"internal error: {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return fail(f"{what}\n\nhint: this is a defect of replayproxy: please report it, with the command line", 3)


def _discard_output() -> None:
    """What is still in the buffer of a stdout that takes nothing goes nowhere, or Python tells of it at its exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def fail(text: str, code: int) -> int:
    """CODE, after TEXT has gone to stderr."""
    click.echo(f"error: {printable(text)}", err=True)
    return code
