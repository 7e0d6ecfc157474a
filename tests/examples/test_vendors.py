"""The made-up vendors and their clients, run as programs, as examples/vendors/record.py runs them."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
VENDORS = ROOT / "examples" / "vendors"
NAMES = ("directory", "payments", "chat")


def environment(**more: str) -> dict[str, str]:
    """This one without proxies, with the checkout importable."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **more}


@contextmanager
def served(*words: str) -> Iterator[Any]:
    """What serve.py says when it is ready; afterwards it has ended by SIGTERM, with code 0."""
    line = [sys.executable, str(VENDORS / "serve.py"), *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(20)
    assert process.returncode == 0


def client(name: str, base: str) -> list[str]:
    """The lines that the client of NAME prints about BASE."""
    line = [sys.executable, str(VENDORS / f"client_{name}.py"), base]
    done = subprocess.run(
        line, capture_output=True, text=True, encoding="utf-8", env=environment(), timeout=50, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def vendors() -> Iterator[dict[str, str]]:
    """The URL of each vendor, all in one process."""
    with served(*NAMES) as told:
        yield {name: each["url"] for name, each in told["vendors"].items()}


def test_the_directory_has_pages_and_entity_tags(vendors: dict[str, str]) -> None:
    """Seven people on three pages, each once; the first page asked again is 304 without a body."""
    lines = client("directory", vendors["directory"])
    people = [line.split() for line in lines if line.startswith("page")]
    assert [words[1] for words in people] == ["1", "1", "1", "2", "2", "2", "3"]
    assert len({words[2] for words in people}) == 7
    assert lines[-1] == "again 304 0 octets True"


def test_a_payment_moves_on_and_a_write_changes_reads(vendors: dict[str, str]) -> None:
    """It is polled through its states; balance and payment are others after the capture."""
    lines = client("payments", vendors["payments"])
    assert lines[1:6] == [
        "same key, same payment True",
        "polled pending",
        "polled processing",
        "polled authorized",
        lines[5],
    ]
    assert lines[6] == "noted gift wrap gift wrap"
    assert lines[-1] == "captured twice not_authorized"
    before, after = int(lines[5].split()[-1]), int(lines[-2].split()[-1])
    assert after - before == 4200


def test_the_chat_streams_what_it_says(vendors: dict[str, str]) -> None:
    """The streamed pieces, joined, end in the message; all events carry one id; the stream ends."""
    lines = client("chat", vendors["chat"])
    events = [line.split(" ", 2) for line in lines[2:-1]]
    said = "".join(json.loads(delta).get("content", "") for _, _, delta in events)
    assert said.endswith(": Tea for two, 謝謝")
    assert lines[1].endswith(": Tea for two, 謝謝")
    assert len({identifier for identifier, _, _ in events}) == 1
    assert lines[-1] == "done"


@pytest.mark.parametrize("name", NAMES)
def test_every_run_is_another(vendors: dict[str, str], name: str) -> None:
    """Identifiers and times differ between two runs: equal output can only come from a recording."""
    with served(name) as told:
        assert client(name, told["vendors"][name]["url"]) != client(name, vendors[name])


def test_with_tls_it_has_a_name_and_a_certificate(tmp_path: Path) -> None:
    """The certificate in the folder is the CA of the name that is told; the key stays private."""
    with served("directory", "chat", "--tls", str(tmp_path)) as told:
        assert told["ca"] == str(tmp_path / "ca.pem")
        for name in ("directory", "chat"):
            vendor = told["vendors"][name]
            assert vendor["host"] == f"{name}.vendors.example"
            context = ssl.create_default_context(cafile=told["ca"])
            with (
                socket.create_connection(("127.0.0.1", vendor["port"]), timeout=20) as plain,
                context.wrap_socket(plain, server_hostname=vendor["host"]) as secure,
            ):
                assert secure.version() in ("TLSv1.2", "TLSv1.3")


def test_an_unknown_vendor_is_refused() -> None:
    """Code 2, and the names that there are."""
    done = subprocess.run(
        [sys.executable, str(VENDORS / "serve.py"), "bank"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=50,
        check=False,
    )
    assert done.returncode == 2
    assert all(name in done.stderr for name in NAMES)
