"""The vendor of the demo, and its client as a program of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from http.client import HTTPMessage
from pathlib import Path

from replayproxy.demo import client
from replayproxy.demo.server import Request, Server
from replayproxy.demo.upstream import CLIENT_SECRET, HOST, TeaShop, upstream

CLIENT = Path(client.__file__)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The client, run by its path without any proxy."""
    return subprocess.run(
        [sys.executable, str(CLIENT), *arguments],
        env={},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def ordered(server: Server) -> list[str]:
    """The lines of a client that ordered tea at SERVER."""
    done = run(server.url)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_client_sees_its_write() -> None:
    """Before the write the order is received, after it brewing, and the events tell both."""
    with upstream() as server:
        lines = ordered(server)
        assert server.hits == 6
    stages = {line.partition(":")[0]: re.findall(r'"status": "(\w+)"|event: (\w+)', line) for line in lines}
    assert stages["ordered"] == stages["before"] == [("received", "")]
    assert stages["advanced"] == stages["after"] == [("brewing", "")]
    assert stages["events"] == [("", "received")]
    assert "event: brewing" in lines


def test_every_run_is_another() -> None:
    """Identifiers and times differ from run to run, so equal output can only come from a recording."""
    with upstream() as server:
        first, second = ordered(server), ordered(server)
    assert len(first) == len(second)
    assert not {line for line in first if "ord_" in line} & set(second)


def test_the_secret_is_not_printed() -> None:
    """What the client prints may be shown: neither its secret nor the token is in it."""
    with upstream() as server:
        text = "\n".join(ordered(server))
    assert CLIENT_SECRET not in text
    assert "access_token" not in text


def test_without_the_token_nothing_is_told() -> None:
    """The vendor answers 401 to a client without a token; `--fetch` says who decided."""
    with upstream() as server:
        done = run("--fetch", f"{server.url}/v1/orders/ord_1")
    assert (done.returncode, done.stdout) == (0, "401 -\n")


def test_both_sides_know_the_same_secret() -> None:
    """The client imports nothing of the package, so its copy of the secret is compared here."""
    assert client.CREDENTIALS["client_secret"] == CLIENT_SECRET


def test_wrong_arguments_are_refused() -> None:
    """Arguments that mean neither use are code 2, with the usage on stderr."""
    done = run("--order")
    assert (done.returncode, done.stdout) == (2, "")
    assert "client.py BASE" in done.stderr


def asking(method: str, path: str, body: bytes = b"", token: str = "") -> Request:
    """A request as the server hands it over."""
    headers = HTTPMessage()
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Request(base=f"https://{HOST}", method=method, path=path, query={}, headers=headers, body=body)


def test_what_cannot_be_is_refused() -> None:
    """A wrong secret, an unknown path and an order that is ready already have answers of their own."""
    shop = TeaShop()
    assert shop(asking("POST", "/oauth/token", b"client_secret=guess")).status == 401
    issued = shop(asking("POST", "/oauth/token", f"client_secret={CLIENT_SECRET}".encode()))
    assert isinstance(issued.body, bytes)
    token = json.loads(issued.body)["access_token"]
    made = shop(asking("POST", "/v1/orders", b'{"item": "oolong", "quantity": 1}', token))
    path = dict(made.headers)["Location"]
    assert [shop(asking("POST", f"{path}/advance", token=token)).status for _ in range(3)] == [200, 200, 409]
    assert shop(asking("GET", "/v1/orders/unknown", token=token)).status == 404
