"""`replayproxy demo`: the whole round on real parts, on this machine alone."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import click

from replayproxy.core.errors import OperationError
from replayproxy.demo import certificate
from replayproxy.demo.upstream import CLIENT_SECRET, HOST, upstream

from .options import common

RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
SECONDS = 60


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str


class Canary:
    """Stands where the upstream stood and counts who knocks; it answers nobody."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def connections(self) -> int:
        """How many connections have come so far."""
        count = 0
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.accept()[0].close()
                count += 1
        return count


@contextlib.contextmanager
def _canary(port: int) -> Iterator[Canary]:
    with socket.create_server(("127.0.0.1", port), backlog=128) as sock:
        yield Canary(sock)


def _replayproxy(state: Path, *words: str) -> Ran:
    """Run the product as a user does, in a process of its own."""
    split = words.index("--") if "--" in words else len(words)
    line = [*words[:split], "--state-dir", str(state), *words[split:]]
    environment = {k: v for k, v in os.environ.items() if k.upper() not in ("NO_PROXY", "HTTPS_PROXY", "HTTP_PROXY")}
    # standard input is closed to it: nothing in the demo asks
    done = subprocess.run(  # noqa: S603 - our own interpreter and the demo's own words
        [sys.executable, "-c", RUN, *line],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def _expect(step: str, ran: Ran, code: int = 0) -> Ran:
    if ran.code != code:
        raise OperationError(f"the demo failed: {step} ended with code {ran.code}: {ran.err.strip()}")
    return ran


def _show(heading: str, *lines: str) -> None:
    click.secho(f"\n{heading}", bold=True)
    for line in lines:
        click.echo(f"  {line}")


def _check(claim: str, holds: bool) -> None:
    if not holds:
        raise OperationError(f"the demo failed: it does not hold that {claim}")
    click.echo(f"  ✓ {claim}")


@click.command("demo")
@common
def command(config: Path | None, state_dir: Path) -> None:
    """Record a client, replay it with the upstream gone, show that nothing got out.

    Everything happens in a temporary folder and on loopback; your state folder and configuration are left alone.

    \b
    Example:
      replayproxy demo
    """
    del config, state_dir
    client = files("replayproxy.demo").joinpath("client.py")
    with tempfile.TemporaryDirectory(prefix="replayproxy-demo-") as name, as_file(client) as script:
        _demo(Path(name), script)


def _demo(folder: Path, script: Path) -> None:
    cassette, state = folder / "tea.yaml", folder / "state"
    (folder / "empty.yaml").write_text("version: 1\n", encoding="utf-8")
    run_client = [sys.executable, str(script), f"https://{HOST}"]
    identity = certificate.make(folder, (HOST,))
    with upstream(identity.context()) as vendor:
        port = vendor.port
        live = _record(state, cassette, port, identity.authority, run_client, folder)
        _show(f"1. Recorded a client against a live upstream ({vendor.hits} requests)", *_shorten(live.out))
    with _canary(port) as canary:
        replayed = _replay(state, cassette, folder, *run_client)
        _show("2. Replayed the same client, the upstream gone")
        _check("every answer is byte for byte the same", replayed.out == live.out)
        _misses(state, cassette, folder, script)
        _check("nothing knocked where the upstream was", canary.connections() == 0)
    _show("4. The recording may be shared")
    text = b"".join(path.read_bytes() for path in folder.rglob("tea*") if path.is_file())
    _check("the client's secret is nowhere in it", CLIENT_SECRET.encode() not in text)
    audit = _expect("audit", _replayproxy(state, "audit", str(cassette), "--purpose", "ship-to-customer"))
    _show("5. Rights audit for ship-to-customer", *audit.out.splitlines())
    click.echo("\nNext: replayproxy record -o cassettes/NAME.yaml --rights unknown -- YOUR COMMAND")


def _record(state: Path, cassette: Path, port: int, authority: Path, run_client: list[str], folder: Path) -> Ran:
    options = ["-o", str(cassette), "--rights", "own-synthetic", "--config", str(folder / "empty.yaml")]
    options += ["--connect-to", f"{HOST}:443:127.0.0.1:{port}", "--upstream-ca", str(authority)]
    return _expect("record", _replayproxy(state, "record", *options, "--", *run_client))


def _replay(state: Path, cassette: Path, folder: Path, *run: str, options: tuple[str, ...] = ()) -> Ran:
    config = ("--config", str(folder / "empty.yaml"))
    return _expect("replay", _replayproxy(state, "replay", str(cassette), *config, *options, "--", *run))


def _misses(state: Path, cassette: Path, folder: Path, script: Path) -> None:
    _show("3. Asked for what was never recorded")
    for url in (f"https://{HOST}/v1/never", "https://www.example.com/"):
        fetch = (sys.executable, str(script), "--fetch", url)
        ran = _replay(state, cassette, folder, *fetch, options=("--allow-misses",))
        _check(f"{url} is answered 424, a miss, here", ran.out.split() == ["424", "miss"])


def _shorten(text: str, width: int = 100) -> list[str]:
    return [line if len(line) <= width else f"{line[: width - 1]}…" for line in text.splitlines() if line]
