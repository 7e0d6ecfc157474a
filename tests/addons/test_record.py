"""The recording addon inside a real mitmdump."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from replayproxy.demo.upstream import upstream
from replayproxy.store import read

SECONDS = 30.0
MITMDUMP = "from mitmproxy.tools.main import mitmdump; mitmdump()"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def line(folder: Path, port: int, *options: str) -> list[str]:
    """mitmdump with the addon; OPTIONS are NAME=VALUE."""
    script = str(files("replayproxy.addons").joinpath("record.py"))
    given = [f"replayproxy_state_dir={folder / 'state'}", f"confdir={folder / 'mitmproxy'}", *options]
    sets = [word for option in given for word in ("--set", option)]
    return [sys.executable, "-c", MITMDUMP, "-q", "--listen-host", "127.0.0.1", "-p", str(port), "-s", script, *sets]


@contextlib.contextmanager
def mitmdump(folder: Path, *options: str) -> Iterator[str]:
    """A running mitmdump's proxy URL; it has ended, and written, behind the block."""
    port = free_port()
    with subprocess.Popen(line(folder, port, *options), cwd=folder, env={**os.environ, "HOME": str(folder)}) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


def status(proxy: str, url: str) -> int:
    """The status of a GET through PROXY."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    try:
        with opener.open(url, timeout=SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_mitmdump_records(tmp_path: Path) -> None:
    """What it forwards is recorded under our rules; what is not admitted is refused, and dials nothing."""
    options = ("cassette=out.yaml", "rights=own-synthetic", "allow_hosts_recorded=127.0.0.1")
    with upstream() as vendor, mitmdump(tmp_path, *options) as proxy:
        assert status(proxy, f"{vendor.url}/v1/orders") == 401
        assert status(proxy, "http://localhost:1/") == 451
        assert vendor.hits == 1
    (one,) = read(tmp_path / "out.yaml").cassette.interactions
    assert one.response.status == 401
    assert one.request.path == "/v1/orders"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "--set cassette=NAME.yaml"),
        (("cassette=out.txt",), "ends in .yaml"),
        (("cassette=out.yaml", "rights=nobody"), "nobody"),
    ],
)
def test_a_mistake_ends_mitmdump_before_it_listens(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    """Without a recording there is no proxy."""
    done = subprocess.run(
        line(tmp_path, free_port(), *options),
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert told in done.stdout + done.stderr
