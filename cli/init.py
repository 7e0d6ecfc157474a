"""`replayproxy init`: write a commented replayproxy.yaml."""

from __future__ import annotations

from pathlib import Path

import click

from replayproxy.core.errors import OperationError, UsageError
from replayproxy.settings import CONFIG_NAME, template

from .options import common, say


@click.command("init")
@common
def command(config: Path | None, state_dir: Path) -> None:
    """Write a commented replayproxy.yaml with every setting and its default.

    \b
    Examples:
      replayproxy init
      replayproxy init --config deploy/replayproxy.yaml
    """
    del state_dir
    path = config or Path(CONFIG_NAME)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        raise UsageError(f"{path} exists already", hint="edit it, or name another one with --config FILE") from None
    except OSError as error:
        raise OperationError(f"cannot write {path}: {error.strerror}", hint="does its folder exist?") from error
    say(f"wrote {path}")
