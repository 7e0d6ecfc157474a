"""Upstreams that fail while they are recorded: told, recorded as what they were or not at all, replayed so."""

from __future__ import annotations

import datetime
import http.client
import json
import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replayproxy.demo import certificate
from replayproxy.store import read

RIGHTS = ("--rights", "own-synthetic")
LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def reset(link: socket.socket) -> None:
    """End a connection with a reset."""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


def reset_in_the_body(link: socket.socket) -> None:
    """Half of what was promised, then a reset; the client's proxy has read the half before it."""
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    link.shutdown(socket.SHUT_WR)
    link.recv(1)


def expired(folder: Path, monkeypatch: pytest.MonkeyPatch) -> certificate.Identity:
    """An identity of the host `expired.test` that has run out."""
    folder.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(certificate, "NOT_AFTER", LONG_AGO)
        return certificate.make(folder, ("expired.test",), "expired")


def identity(folder: Path, name: str) -> certificate.Identity:
    """An identity of the host NAME."""
    folder.mkdir()
    return certificate.make(folder, (name,), name)


@pytest.mark.usefixtures("engine")
def test_upstreams_that_fail(
    product: Any, upstreams: Callable[..., Any], hello: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each is told to the client and on stderr; what was no answer is a fault, what did not verify is nothing."""
    old, wrong, good = expired(tmp_path / "1", monkeypatch), identity(tmp_path / "2", "a.test"), tmp_path / "all.pem"
    good.write_bytes(old.authority.read_bytes() + wrong.authority.read_bytes())
    with socket.create_server(("127.0.0.1", 0)) as gone:
        refused = gone.getsockname()[1]
    ports = {
        "refused.test:80": refused,
        "reset.test:80": upstreams(reset).port,
        "silent.test:80": upstreams(socket.socket.close).port,
        "half.test:80": upstreams(reset_in_the_body).port,
        "expired.test:443": upstreams(hello, old.context()).port,
        "name.test:443": upstreams(hello, wrong.context()).port,
        "plain.test:443": upstreams(hello).port,
        "fine.test:80": upstreams(hello).port,
    }
    to = [word for name, port in ports.items() for word in ("--connect-to", f"{name}:127.0.0.1:{port}")]
    tls = ("expired", "name", "plain")
    with product.serving(
        "record", "-o", "a.yaml", *RIGHTS, *to, "--upstream-ca", str(good), "--report", "r.json"
    ) as running:
        for host in ("refused", "reset", "silent", "unknown"):
            name = "unknown.invalid" if host == "unknown" else f"{host}.test"
            status, decision, body = running.get(f"http://{name}/{host}")
            assert (status, decision) == (502, "upstream-failed"), host
            problem = json.loads(body)
            assert problem["hint"]
            assert name in json.dumps(problem)
        with pytest.raises(http.client.IncompleteRead):
            running.get("http://half.test/half")
        for host in tls:
            status, decision, body = running.get(f"https://{host}.test/{host}")
            assert (status, decision) == (502, "upstream-failed"), host
        assert running.get("http://fine.test/fine")[::2] == (200, b"hello")
        ended = running.stop()
    assert ended.code == 0
    assert "Traceback" not in ended.err
    for host in ("refused", "reset", "silent", "unknown", "half", *tls):
        assert host in ended.err
    recorded = {one.request.path[1:]: one.response for one in read(tmp_path / "a.yaml").cassette.interactions}
    faults = {name: response.fault and response.fault.kind for name, response in recorded.items()}
    assert faults.keys() & set(tls) == set()
    assert (faults["refused"], faults["unknown"], faults["fine"]) == ("refused", "dns", None)
    assert all(faults[name] for name in ("reset", "silent", "half"))
    report = json.loads((tmp_path / "r.json").read_text())
    assert len(report["faults"]) == 5
    with product.serving("replay", "a.yaml") as running:
        for host in ("refused", "reset", "silent"):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
                running.get(f"http://{host}.test/{host}")
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            running.get("http://half.test/half")
        for host in ("expired", "name"):
            assert running.get(f"https://{host}.test/{host}")[:2] == (424, "miss")
        assert running.stop(signal.SIGINT).code == 130


def test_connect_to_an_ipv6_address(product: Any, upstreams: Callable[..., Any], hello: Any, tmp_path: Path) -> None:
    """The request keeps its name, the connection goes to the literal address; a request to a literal has one too."""
    try:
        there = upstreams(hello, host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    to = ("--connect-to", f"a.test:80:[::1]:{there.port}", "--connect-to", f"[2001:db8::7]:80:[::1]:{there.port}")
    with product.serving("record", "-o", "a.yaml", *RIGHTS, *to) as running:
        assert running.get("http://a.test/x")[::2] == (200, b"hello")
        assert running.get("http://[2001:db8::7]/x")[::2] == (200, b"hello")
        assert running.stop().code == 0
    assert there.hits == 2
    urls = [one.request.url for one in read(tmp_path / "a.yaml").cassette.interactions]
    assert urls == ["http://a.test/x", "http://[2001:db8::7]/x"]


def test_a_host_without_rights_is_not_called(product: Any, upstreams: Callable[..., Any], hello: Any) -> None:
    """451 before a byte leaves; the rest of the run goes on."""
    there = upstreams(hello)
    to = ("--connect-to", f"a.test:80:127.0.0.1:{there.port}")
    with product.serving("record", "-o", "a.yaml", *to, "--report", "r.json") as running:
        status, decision, body = running.get("http://a.test/x")
        assert (status, decision) == (451, "refused")
        assert json.loads(body)["hint"]
        assert running.stop().code == 0
    assert there.hits == 0
    assert json.loads((product.folder / "r.json").read_text())["refusals"] == ["GET http://a.test/x"]
