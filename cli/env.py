"""`replayproxy env`: the environment that a client needs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import click

from replayproxy.authority import Authority
from replayproxy.environment import proxy_url, render, variables

from .options import Address, AddressType, common


@dataclass(frozen=True, slots=True)
class Files:
    """The files a client is pointed at, as paths that the client sees."""

    ca: Path
    bundle: Path
    truststore: Path


def files_of(authority: Authority, seen_in: str | None) -> Files:
    """The authority's files; in the folder SEEN_IN where the client has them elsewhere."""
    own = Files(authority.ca_pem, authority.bundle, authority.truststore)
    if seen_in is None:
        return own
    folder = PurePosixPath(seen_in)
    return Files(*(Path(folder / path.name) for path in (own.ca, own.bundle, own.truststore)))


@click.command("env")
@click.option(
    "--format",
    "form",
    type=click.Choice(["shell", "dotenv", "json", "docker"]),
    default="shell",
    show_default=True,
    help="docker is a file for `docker run --env-file`.",
)
@click.option(
    "--listen",
    type=AddressType(),
    default="127.0.0.1:8080",
    show_default=True,
    help="Where the client reaches the proxy.",
)
@click.option("--ca-dir", metavar="DIR", help="Where the client sees the CA's files, if not in the state folder.")
@click.option("--episode", default="", metavar="ID", help="The episode that the client's requests belong to.")
@common
def command(form: str, listen: Address, ca_dir: str | None, episode: str, config: Path | None, state_dir: Path) -> None:
    """Print the environment that leads a client to the proxy and makes it trust the interception CA.

    \b
    Examples:
      eval "$(replayproxy env)"
      replayproxy env --format docker --listen replayproxy:8080 --ca-dir /ca > proxy.env
    """
    del config
    files = files_of(Authority.load_or_create(state_dir), ca_dir)
    found = variables(
        proxy_url(*listen, episode),
        ca=files.ca,
        bundle=files.bundle,
        truststore=files.truststore,
        java_options=os.environ.get("JAVA_TOOL_OPTIONS", ""),
    )
    click.echo(render(found, form), nl=False)  # type: ignore[arg-type]  # click has checked the choice
