"""Options that several commands share, and the types that check them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from replayproxy.core.errors import UsageError

from .text import printable

type Address = tuple[str, int]


class AddressType(click.ParamType[Any]):
    """`HOST:PORT`, IPv6 in brackets; an empty host is every address."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        """The address that VALUE spells; a usage error otherwise."""
        if isinstance(value, tuple):
            return value
        host, colon, port = str(value).rpartition(":")
        if not colon or not _is_port(port):
            self.fail(f"{value!r} is not HOST:PORT, for example 127.0.0.1:8080", param, ctx)
        return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - an empty host is the user's word for it


class ListenType(AddressType):
    """`HOST:PORT` where HOST is an address of this machine, or `localhost`: no name is resolved to listen on it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        """The address that VALUE spells; a usage error otherwise."""
        host, port = super().convert(value, param, ctx)
        if host == "localhost":
            return "127.0.0.1", port
        try:
            ip_address(host)
        except ValueError:
            self.fail(f"{host!r} is not an address, such as 127.0.0.1, 0.0.0.0 or [::1]", param, ctx)
        return host, port


class ControlType(ListenType):
    """`HOST:PORT` or `unix:PATH`."""

    name = "HOST:PORT|unix:PATH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """An address, or the text `unix:PATH`."""
        if isinstance(value, str) and value.startswith("unix:") and len(value) > len("unix:"):
            return value
        return super().convert(value, param, ctx)


class ConnectToType(click.ParamType[Any]):
    """`HOST:PORT:ADDR:PORT`, as curl's: requests to the first pair connect to the second."""

    name = "HOST:PORT:ADDR:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """((host, port), (address, port))."""
        if isinstance(value, tuple):
            return value
        parts = _split_outside_brackets(str(value))
        if len(parts) != 4 or not all(parts) or not (_is_port(parts[1]) and _is_port(parts[3])):
            self.fail(f"{value!r} is not HOST:PORT:ADDR:PORT, for example api.test:443:127.0.0.1:8443", param, ctx)
        host, port, address, to_port = parts
        return (host.strip("[]").lower().removesuffix("."), int(port)), (address.strip("[]"), int(to_port))


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) <= 65535


def _split_outside_brackets(text: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every command takes."""

    config: Path | None
    state_dir: Path


def default_state_dir() -> Path:
    """`$XDG_STATE_HOME/replayproxy`, by the XDG base directory specification `~/.local/state` without it."""
    base = Path(os.environ.get("XDG_STATE_HOME", ""))
    if base.is_absolute():  # the specification has a relative one ignored
        return base / "replayproxy"
    try:
        return Path.home() / ".local" / "state" / "replayproxy"
    except RuntimeError:
        raise UsageError(
            "no home folder is known to keep the CA and keys in", hint="name one: --state-dir DIR"
        ) from None


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config and --state-dir."""
    command = click.option(
        "--state-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=default_state_dir,
        show_default="$XDG_STATE_HOME/replayproxy",
        metavar="DIR",
        help="Where the CA, keys and tokens are kept.",
    )(command)
    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Configuration file.  [default: ./replayproxy.yaml if present]",
    )(command)


def output_format(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format table|json."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(["table", "json"]),
        default="table",
        show_default=True,
        help="json carries a `schema` field with a version.",
    )(command)


def serving(arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that `record` and `replay` share, and the ARGUMENTS behind them as help shows them."""
    options = [
        click.option(
            "--listen",
            type=ListenType(),
            help="Where the proxy listens; port 0 picks one.  [default: 127.0.0.1:8080; 127.0.0.1:0 with CMD]",
        ),
        click.option(
            "--control",
            type=ControlType(),
            help="Where the control API listens.  [default: 127.0.0.1:8081; off with CMD]",
        ),
        click.option(
            "--ready-file",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Written once serving (JSON: proxy, control, ca, token); removed at exit.",
        ),
        click.option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="JSON report, written at exit.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Say only what is wrong."),
        click.option("-v", "--verbose", is_flag=True, help="Say more, with traces of internal errors."),
        click.argument("command_line", metavar=arguments, nargs=-1, type=click.UNPROCESSED),
    ]

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return common(command)

    return decorated


CLEAR_LINE = "\r\x1b[K"
"""Takes back what stands in the terminal's line."""


def set_up_logging(*, quiet: bool = False, verbose: bool = False, progress: bool = False) -> None:
    """Log records of ours go to stderr as plain lines; mitmproxy's own only with -v.

    With PROGRESS, a line that stands on the terminal while we serve makes way for them.
    """
    level = logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO
    handler = logging.StreamHandler(sys.stderr)
    makes_way = progress and sys.stderr is not None and sys.stderr.isatty()
    handler.setFormatter(logging.Formatter(f"{CLEAR_LINE if makes_way else ''}%(message)s"))
    ours = logging.getLogger("replayproxy")
    ours.handlers[:] = [handler]
    ours.setLevel(level)
    ours.propagate = False
    theirs = logging.getLogger("mitmproxy")
    theirs.handlers[:] = [handler] if verbose else [logging.NullHandler()]
    theirs.propagate = False


def say(text: str, *, quiet: bool = False) -> None:
    """TEXT goes to stderr, which is for talk, unless QUIET."""
    if not quiet:
        click.echo(printable(text), err=True)


def split_command(paths: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands before `--` and what after it in the command line of this process.

    click drops the `--` itself, so the number of words behind it is taken from the raw arguments.
    """
    raw = click.get_current_context().find_root().obj or sys.argv[1:]
    words = list(raw)
    if "--" not in words:
        return paths, ()
    after = len(words) - words.index("--") - 1
    if after == 0:
        raise UsageError("there is no command after `--`", hint="replayproxy … -- CMD [ARGUMENT …]")
    return paths[: len(paths) - after], paths[len(paths) - after :]
