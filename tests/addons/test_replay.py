"""The replay addon inside a real mitmdump: cassettes are served in its modes, and nothing is dialled in any."""

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

from replayproxy.core.exchange import Cassette, Interaction, Request, Response, interaction_id, split_url
from replayproxy.core.rights import preset
from replayproxy.demo.upstream import upstream
from replayproxy.store import write

SECONDS = 30.0
MITMDUMP = "from mitmproxy.tools.main import mitmdump; mitmdump()"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def taped(folder: Path, url: str) -> Path:
    """A cassette in FOLDER that answers a GET of URL."""
    origin, target = split_url(url)
    request = Request(method="GET", origin=origin, target=target, headers=(("Host", origin.netloc),))
    one = Interaction(
        id=interaction_id(0, request),
        order=0,
        request=request,
        response=Response(status=200, reason="OK", headers=(("Content-Length", "8"),), body=b"recorded"),
    )
    path = folder / "tape.yaml"
    write(path, Cassette(name="tape", interactions=(one,), rights=preset("own-synthetic"), salt="00" * 16))
    return path


def line(folder: Path, port: int, *options: str, mode: str = "regular") -> list[str]:
    """mitmdump with the addon; OPTIONS are NAME=VALUE."""
    script = str(files("replayproxy.addons").joinpath("replay.py"))
    given = [f"replayproxy_state_dir={folder / 'state'}", f"confdir={folder / 'mitmproxy'}", *options]
    sets = [word for option in given for word in ("--set", option)]
    where = ["--listen-host", "127.0.0.1", "-p", str(port), "--mode", mode]
    return [sys.executable, "-c", MITMDUMP, "-q", *where, "-s", script, *sets]


@contextlib.contextmanager
def mitmdump(folder: Path, *options: str, mode: str = "regular") -> Iterator[int]:
    """The port of a running mitmdump."""
    port = free_port()
    command = line(folder, port, *options, mode=mode)
    with subprocess.Popen(command, cwd=folder, env={**os.environ, "HOME": str(folder)}) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.02)
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


def get(url: str, proxy: int | None = None) -> tuple[int, bytes]:
    """Status and body of a GET of URL, through the proxy on a port where one is given."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{proxy}"} if proxy else {})
    )
    try:
        with opener.open(url, timeout=SECONDS) as answer:
            return int(answer.status), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_proxy_serves_what_is_recorded_and_dials_nothing(tmp_path: Path) -> None:
    """Not even an upstream that there is, for a path that is not recorded."""
    with upstream() as vendor:
        path = taped(tmp_path, f"{vendor.url}/kept")
        with mitmdump(tmp_path, f"cassettes={path}") as port:
            assert get(f"{vendor.url}/kept", port) == (200, b"recorded")
            assert get(f"{vendor.url}/v1/orders", port)[0] == 424
        assert vendor.hits == 0


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_reverse_proxy_serves_what_is_recorded_of_its_server(tmp_path: Path) -> None:
    """The client takes us for the server, and the server is not called."""
    with upstream() as vendor:
        path = taped(tmp_path, f"{vendor.url}/kept")
        with mitmdump(tmp_path, f"cassettes={path}", mode=f"reverse:{vendor.url}") as port:
            assert get(f"http://127.0.0.1:{port}/kept") == (200, b"recorded")
            assert get(f"http://127.0.0.1:{port}/v1/orders")[0] == 424
        assert vendor.hits == 0


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_replay_without_cassettes_lets_nothing_out(tmp_path: Path) -> None:
    """Where the addon was told of no cassette it still stands between the client and the network."""
    with upstream() as vendor:
        with mitmdump(tmp_path) as port, pytest.raises((OSError, urllib.error.URLError)):
            get(f"{vendor.url}/v1/orders", port)
        assert vendor.hits == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("cassettes=nowhere.yaml",), "nowhere.yaml"),
        (("cassettes=tape.yaml", "purpose=nothing-known"), "nothing-known"),
        (("cassettes=tape.yaml", "clock=yesterday"), "yesterday"),
    ],
)
def test_a_mistake_ends_mitmdump_before_it_listens(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    """Without a replay there is no proxy."""
    taped(tmp_path, "http://api.example.test/kept")
    # `cassettes` comes last, since the replay begins with it
    done = subprocess.run(
        line(tmp_path, free_port(), *reversed(options)),
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert told in done.stdout + done.stderr
