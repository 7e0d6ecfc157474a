"""`record`, and then `replay`, on real parts: what a user asks for, and what goes wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replayproxy.demo import client
from replayproxy.demo.upstream import HOST
from replayproxy.store import read

RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
REPORT = {
    "schema", "mode", "recorded", "served", "misses", "refusals", "unused", "faults", "pinned", "warnings", "digest",
    "world", "exit",
}  # fmt: skip
SECONDS = 30.0


def test_the_round(process: Callable[..., Any], vendor: Any, tmp_path: Path) -> None:
    """Recorded, then replayed with the upstream gone: the same output, byte for byte, and two reports."""
    run_client = ("--", sys.executable, str(client.__file__), vendor.url)
    live = process(
        "record", "-o", "tea.yaml", "--rights", "own-synthetic", *vendor.options, "--report", "r.json", *run_client
    )
    assert live.code == 0, live.err
    hits = vendor.server.hits
    again = process("replay", "tea.yaml", "--report", "p.json", *run_client)
    assert (again.code, again.out) == (0, live.out)
    assert vendor.server.hits == hits == 6
    recorded, replayed = (json.loads((tmp_path / name).read_text()) for name in ("r.json", "p.json"))
    assert set(recorded) == set(replayed) == REPORT
    assert (len(recorded["recorded"]), recorded["mode"]) == (6, "record")
    assert (len(replayed["served"]), replayed["misses"], replayed["unused"]) == (6, [], [])
    assert len(replayed["digest"]) == 64


def test_a_miss_is_code_4_and_can_be_forgiven(
    process: Callable[..., Any], cassettes: Path, fetch: tuple[str, ...]
) -> None:
    """CMD's own code comes first."""
    never = (*fetch, "https://chat.vendors.example/never")
    path = str(cassettes / "chat.yaml")
    missed = process("replay", path, "--", *never)
    assert (missed.code, missed.out.split()) == (4, ["424", "miss"])
    assert "missed: GET https://chat.vendors.example/never" in missed.err
    assert process("replay", path, "--allow-misses", "--", *never).code == 0
    assert process("replay", path, "--", "sh", "-c", "exit 7").code == 7


def test_a_purpose_that_rights_forbid_is_refused(
    process: Callable[..., Any], cassettes: Path, tmp_path: Path, fetch: tuple[str, ...]
) -> None:
    """451 with the finding's code; the answer is never served."""
    path = tmp_path / "chat.yaml"
    path.write_text((cassettes / "chat.yaml").read_text().replace("train: granted", "train: forbidden"))
    url = "https://chat.vendors.example/v1/models"
    ran = process("replay", str(path), "--purpose", "internal-training", "--", *fetch, url)
    assert ran.code == 4
    assert ran.out.split() in (["451", "refused"], ["424", "miss"])


@pytest.mark.parametrize(
    ("host", "options", "told"),
    [
        (HOST, (), "under which rights"),
        (HOST, ("--rights", "own-synthetic", "--allow-host", "*.example.org"), "not among the hosts"),
        ("127.0.0.1", ("--rights", "own-synthetic"), "loopback"),
    ],
)
def test_what_may_not_be_recorded_is_refused(
    process: Callable[..., Any], vendor: Any, fetch: tuple[str, ...], host: str, options: tuple[str, ...], told: str
) -> None:
    """451, with what would change it; the upstream is not called."""
    ran = process("record", "-o", "a.yaml", *vendor.options, *options, "--", *fetch, f"https://{host}/x")
    assert (ran.code, ran.out.split()) == (4, ["451", "refused"])
    assert told in ran.err
    assert "hint: " in ran.err
    assert vendor.server.hits == 0


def test_upstreams_that_fail(process: Callable[..., Any], fetch: tuple[str, ...], tmp_path: Path) -> None:
    """Refused and unknown: 502 while recording, a fault in the cassette, the fault itself on replay."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    to = ("--connect-to", f"refused.example:80:127.0.0.1:{port}", "--rights", "own-synthetic")
    urls = ("http://refused.example/a", "http://unknown.invalid/a")
    ran = process("record", "-o", "a.yaml", *to, "--", *fetch, *urls)
    assert ran.out.split() == ["502", "upstream-failed"] * 2
    faults = [one.response.fault for one in read(tmp_path / "a.yaml").cassette.interactions]
    assert [(fault and fault.kind, fault and fault.phase) for fault in faults] == [
        ("refused", "connect"),
        ("dns", "connect"),
    ]
    again = process("replay", "a.yaml", "--report", "p.json", "--", *fetch, urls[0])
    assert again.code == 1
    assert "RemoteDisconnected" in again.err or "ConnectionReset" in again.err
    (fault,) = json.loads((tmp_path / "p.json").read_text())["faults"]
    assert fault.endswith("GET http://refused.example/a refused")


def test_an_upstream_certificate_must_verify(
    process: Callable[..., Any], vendor: Any, fetch: tuple[str, ...], tmp_path: Path
) -> None:
    """Without its CA the client gets 502, and nothing is recorded as an answer."""
    ran = process(
        "record", "-o", "a.yaml", "--rights", "own-synthetic", *vendor.options[:2], "--", *fetch, f"{vendor.url}/x"
    )
    assert ran.out.split() == ["502", "upstream-failed"]
    assert "--upstream-ca" in ran.err
    assert read(tmp_path / "a.yaml").cassette.interactions == ()


@pytest.mark.parametrize("mode", ["record", "replay"])
@pytest.mark.parametrize("option", ["--listen", "--control"])
def test_a_port_in_use_is_code_3(cli: Callable[..., Any], cassettes: Path, mode: str, option: str) -> None:
    """The address is named, and nothing is left behind."""
    what = ("-o", "a.yaml", "--rights", "unknown") if mode == "record" else (str(cassettes),)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        ran = cli(mode, *what, option, where, "--", "true")
        ran.refused(3, where) if mode == "replay" else None
        assert (ran.code, where in ran.err) == (3, True)
    assert not Path("a.yaml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "there.yaml"), "there.yaml exists already"),
        (("-o", "a.txt"), "a.txt is not a cassette name"),
        (("-o", "no/such/folder/a.yaml"), "no/such/folder"),
        (("-o", "x" * 300 + ".yaml"), "too long"),
        (("-o", "a.yaml", "--rights", "nobody"), "nobody"),
        (("-o", "a.yaml", "--rights", "bad.yaml"), "permissions.ship"),
        (("-o", "a.yaml", "--config", "typo.yaml"), "providers.api.mtach"),
        (("-o", "a.yaml", "--upstream-ca", "nowhere.pem"), "nowhere.pem"),
    ],
)
def test_what_cannot_be_recorded_to_or_under(
    cli: Callable[..., Any], tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    """Code 2 before CMD runs, and nothing is lost."""
    (tmp_path / "there.yaml").write_text("interactions: []\nversion: 1\n")
    (tmp_path / "bad.yaml").write_text("permissions: {ship: no}\n")
    (tmp_path / "typo.yaml").write_text("version: 1\nproviders: {api: {hosts: [a.test], mtach: {}}}\n")
    ran = cli("record", *words, "--", "sh", "-c", "touch ran")
    ran.refused(2, told)
    assert not (tmp_path / "ran").exists()
    assert (tmp_path / "there.yaml").read_text() == "interactions: []\nversion: 1\n"


def test_a_command_that_is_not_there(cli: Callable[..., Any], cassettes: Path) -> None:
    """Told before anything is started or written."""
    cli("record", "-o", "a.yaml", "--rights", "unknown", "--", "no-such-command").refused(2, "no-such-command")
    cli("replay", str(cassettes), "--", "no-such-command").refused(2, "no-such-command")
    assert not Path("a.yaml").exists()


def test_a_failing_command_leaves_the_cassette_alone(
    process: Callable[..., Any], vendor: Any, tmp_path: Path, fetch: tuple[str, ...]
) -> None:
    """Its recording stands beside it, and its code comes through."""
    options = ("-o", "a.yaml", "--rights", "own-synthetic", *vendor.options)
    assert process("record", *options, "--", *fetch, f"{vendor.url}/x").code == 0
    before = (tmp_path / "a.yaml").read_bytes()
    failing = f"{sys.executable} -c '{fetch[2]}' {vendor.url}/y; exit 3"
    ran = process("record", *options, "--on-existing", "append", "--", "sh", "-c", failing)
    assert ran.code == 3
    assert (tmp_path / "a.yaml").read_bytes() == before
    assert [one.request.path for one in read(tmp_path / "a.incomplete.yaml").cassette.interactions] == ["/y"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
def test_signals(
    process: Callable[..., Any], vendor: Any, tmp_path: Path, fetch: tuple[str, ...], number: int, code: int
) -> None:
    """What was finished is kept: written at once, or recovered by the next command that looks."""
    ready = tmp_path / "ready.json"
    line = ["record", "-o", "a.yaml", "--rights", "own-synthetic", *vendor.options, "--ready-file", str(ready)]
    line += ["--listen", "127.0.0.1:0", "--control", f"unix:{tmp_path}/c.sock"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *line], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
    ) as recorder:
        deadline = time.monotonic() + SECONDS
        while not ready.exists():
            assert recorder.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        told = json.loads(ready.read_text())
        assert ready.stat().st_mode & 0o777 == 0o600
        assert told["control"] == f"unix:{tmp_path}/c.sock"
        assert (tmp_path / "c.sock").stat().st_mode & 0o777 == 0o600
        environment |= {"HTTPS_PROXY": told["proxy"], "SSL_CERT_FILE": told["ca"]}
        done = subprocess.run(
            [*fetch, f"{vendor.url}/x"], env=environment, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        assert done.stdout.split() == ["401", "-"]
        recorder.send_signal(number)
        assert recorder.wait(SECONDS) == code
    if number == signal.SIGKILL:
        assert not (tmp_path / "a.yaml").exists()
        served = process("replay", "a.yaml", "--", *fetch, f"{vendor.url}/x")
        assert served.out.split() == ["401", "-"]
        verified = process("verify", "a.yaml")
        assert verified.code == 0
        assert "recovered" in verified.err
    else:
        assert not ready.exists()
    assert [one.request.path for one in read(tmp_path / "a.yaml").cassette.interactions] == ["/x"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
