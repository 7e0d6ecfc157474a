"""The entry point: one group of commands, one way to print an error, one place that chooses the exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from replayproxy import __version__
from replayproxy.core.errors import ReplayproxyError

from .later import LATER, later

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
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command line ARGUMENTS; errors have been printed to stderr."""
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        code = cli.main(words, prog_name="replayproxy", standalone_mode=False, obj=words)
    except ReplayproxyError as error:
        return fail(str(error), error.exit_code)
    except click.exceptions.Abort:
        return fail("interrupted", 130)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "replayproxy"
        return fail(f"{error.format_message()}\n\nhint: {where} --help", 2)
    except click.ClickException as error:
        return fail(error.format_message(), error.exit_code)
    except BrokenPipeError:
        # the reader of our stdout has gone; there is nobody left to tell
        sys.stderr.close()
        return 1
    return code if isinstance(code, int) else 0


def fail(text: str, code: int) -> int:
    """CODE, after TEXT has gone to stderr."""
    click.echo(f"error: {text}", err=True)
    return code
