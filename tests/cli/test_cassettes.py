"""The commands that look into cassettes: ls, show, diff, scan, verify, audit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.store import write

NAMES = ("chat", "directory", "payments")


def test_ls(cli: Callable[..., Any], cassettes: Path) -> None:
    """A line for each cassette of a folder, and the same for programs."""
    ran = cli("ls", str(cassettes))
    assert ran.code == 0
    assert [name in ran.out for name in NAMES] == [True] * 3
    found = json.loads(cli("ls", str(cassettes), "--format", "json").out)
    assert found["schema"] == "replayproxy/ls/1"
    assert [one["interactions"] for one in found["cassettes"]] == [3, 5, 12]


def test_show(cli: Callable[..., Any], cassettes: Path) -> None:
    """What is masked, what is a time, what was left out and by which rule, under which rights."""
    path = str(cassettes / "payments.yaml")
    ran = cli("show", path, "--why")
    assert ran.code == 0
    for text in ("[masked: key]", "time: header:date", "left out: header:idempotency-key", "rights: LicenseRef-own"):
        assert text in ran.out
    found = json.loads(cli("show", path, "--format", "json").out)
    assert found["schema"] == "replayproxy/show/1"
    first = found["interactions"][0]
    one = json.loads(cli("show", path, first["id"][:6], "--format", "json").out)
    assert [each["id"] for each in one["interactions"]] == [first["id"]]
    cli("show", path, "zzzz").refused(2, "no interaction zzzz")


def test_diff(cli: Callable[..., Any], cassettes: Path, tmp_path: Path) -> None:
    """Nothing between a cassette and itself; between two the changes, and code 1."""
    old, new = cassettes / "chat.yaml", tmp_path / "new.yaml"
    assert cli("diff", str(old), str(old)).code == 0
    new.write_text(old.read_text().replace("code: 200", "code: 503", 1).replace("Tea for two", "Tea for six", 1))
    ran = cli("diff", str(old), str(new), "--format", "json")
    assert ran.code == 1
    assert json.loads(ran.out)["schema"] == "replayproxy/diff/1"
    assert "status 200 → 503" in cli("diff", str(old), str(new)).out


def test_scan(cli: Callable[..., Any], cassettes: Path, tmp_path: Path) -> None:
    """What we recorded is clean; a credential that was put in is found and never repeated."""
    assert cli("scan", str(cassettes)).code == 0
    planted = tmp_path / "planted.yaml"
    planted.write_text((cassettes / "directory.yaml").read_text().replace("Bearer ", "Bearer planted-SECRET-0001-", 1))
    ran = cli("scan", str(planted))
    assert ran.code == 1
    assert "planted.yaml" in ran.out
    assert "authorization" in ran.out
    assert "SECRET-0001" not in ran.out + ran.err
    assert json.loads(cli("scan", str(planted), "--format", "json").out)["schema"] == "replayproxy/scan/1"


def test_scan_looks_into_body_files(cli: Callable[..., Any], tmp_path: Path) -> None:
    """A credential in a file beside the cassette is found as one in it is."""
    body = b"." * 300_000 + b' {"access_token": "planted-SECRET-0002"} ' + b"." * 300_000
    request = Request(method="GET", origin=Origin.of("http", "a.test"), target="/")
    one = Interaction(id="0" * 12, order=0, request=request, response=Response(status=200, body=body))
    write(tmp_path / "big.yaml", Cassette(name="big", interactions=(one,), salt="00" * 16))
    assert len(list((tmp_path / "big.blobs").iterdir())) == 1
    ran = cli("scan", "big.yaml")
    assert ran.code == 1
    assert "response.body" in ran.out
    assert "SECRET-0002" not in ran.out + ran.err


def test_verify(cli: Callable[..., Any], cassettes: Path, tmp_path: Path) -> None:
    """As recorded, or changed, which is code 1."""
    assert cli("verify", str(cassettes)).code == 0
    changed = tmp_path / "changed.yaml"
    changed.write_text((cassettes / "chat.yaml").read_text().replace("two", "six"))
    ran = cli("verify", str(changed), "--format", "json")
    assert ran.code == 1
    assert json.loads(ran.out)["schema"] == "replayproxy/verify/1"


@pytest.mark.parametrize(
    ("change", "purpose", "code"),
    [
        ((), "open-source", 0),
        (("publish: granted", "publish: unknown"), "open-source", 64 + 8),
        (("publish: granted", "publish: forbidden"), "open-source", 16 + 8),
        (("subject: synthetic", "subject: synthetic\n    expires: '2020-01-01'"), "local-debug", 32 + 8),
        (("two", "six"), "local-debug", 8),
        (("publish: granted", "publish: unknown"), "local-debug", 8),
    ],
)
def test_audit(
    cli: Callable[..., Any], cassettes: Path, tmp_path: Path, change: tuple[str, str], purpose: str, code: int
) -> None:
    """The sum of the verdicts that occur; a change of the file is one of them."""
    path = tmp_path / "audited.yaml"
    shutil.copy(cassettes / "chat.yaml", path)
    if change:
        path.write_text(path.read_text().replace(*change, 1))
    assert cli("audit", str(path), "--purpose", purpose).code == code
    narrowed = cli("audit", str(path), "--purpose", purpose, "--fail-on", "expired", "--format", "json")
    assert narrowed.code == code & 32
    assert json.loads(narrowed.out)["schema"] == "replayproxy/audit/1"


def test_audit_as_of_a_day(cli: Callable[..., Any], cassettes: Path) -> None:
    """An audit can be repeated as of its day; a day is a day."""
    path = str(cassettes / "chat.yaml")
    assert cli("audit", path, "--purpose", "local-debug", "--as-of", "2030-01-01").code == 0
    cli("audit", path, "--purpose", "local-debug", "--as-of", "soon").refused(2, "soon")
    cli("audit", path, "--purpose", "world-domination").refused(2, "world-domination")


BAD = {
    "empty": ("", "is empty"),
    "truncated": ("interactions:\n- request: {method: GET", ":"),
    "foreign": ('{"log": {"version": "1.2", "entries": []}}', "HAR"),
    "list": ("- request: {}\n", ":"),
    "future": ("interactions: []\nversion: 1\nreplayproxy: {format: 99}\n", "99"),
    "duplicate": ("interactions: []\ninteractions: []\nversion: 1\n", "twice"),
    "tag": ("interactions: !!python/object/apply:os.system [id]\nversion: 1\n", "tag"),
    "binary": ("\x00\x01", ":"),
}


@pytest.mark.parametrize(
    "command", [("ls",), ("verify",), ("scan",), ("audit", "--purpose", "local-debug"), ("replay",)]
)
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_cassette_is_told(
    cli: Callable[..., Any], tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    """Code 2 in every command, by name of the file; never taken for an empty cassette."""
    text, told = BAD[name]
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    tail = ("--", "true") if command == ("replay",) else ()
    ran = cli(*command, str(path), *tail)
    ran.refused(2, "bad.yaml")
    assert told.lower() in ran.err.lower()
