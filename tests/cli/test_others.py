"""`init`, `env`, `demo`, `determinism`: each as its users run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_init_writes_what_can_be_loaded(cli: Callable[..., Any], cassettes: Path, tmp_path: Path) -> None:
    """Once, and never over a file that is there."""
    assert cli("init").code == 0
    text = (tmp_path / "replayproxy.yaml").read_text()
    assert "yaml-language-server: $schema=" in text
    assert cli("ls", str(cassettes)).code == 0
    cli("init").refused(2, "replayproxy.yaml exists already")
    assert (tmp_path / "replayproxy.yaml").read_text() == text
    cli("init", "--config", "no/folder/r.yaml").refused(3, "no/folder/r.yaml")


def test_env_in_every_form(cli: Callable[..., Any], tmp_path: Path) -> None:
    """A shell takes it as it is; files can be those that a container sees."""
    ran = cli("env", "--listen", "127.0.0.1:3128", "--episode", "left")
    shell = subprocess.run(
        ["sh", "-c", f"{ran.out}\necho $https_proxy; test -f $SSL_CERT_FILE && echo there"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert shell.stdout.split() == ["http://left:x@127.0.0.1:3128", "there"]
    found = json.loads(cli("env", "--format", "json", "--ca-dir", "/ca").out)
    assert found["schema"]
    assert found["variables"]["SSL_CERT_FILE"].startswith("/ca/")
    for form in ("dotenv", "docker"):
        assert "HTTPS_PROXY=http://127.0.0.1:8080" in cli("env", "--format", form).out
    assert (tmp_path / "state" / "replayproxy").is_dir()


def test_the_environment_of_the_command(process: Callable[..., Any], cassettes: Path) -> None:
    """It leads to the proxy, exempts nobody, and holds no token."""
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    ran = process(
        *("replay", str(cassettes), "--control", "127.0.0.1:0", "--", sys.executable, "-c", show),
        env={"NO_PROXY": "*", "http_proxy": "http://elsewhere:1", "JAVA_TOOL_OPTIONS": "-Dmine=1"},
    )
    found = json.loads(ran.out)
    assert found["HTTPS_PROXY"] == found["http_proxy"] == found["REPLAYPROXY_URL"]
    assert found["NO_PROXY"] == found["no_proxy"] == ""
    assert found["JAVA_TOOL_OPTIONS"].startswith("-Dmine=1 ")
    assert not [name for name in found if "TOKEN" in name and "REPLAYPROXY" in name]


def test_determinism(process: Callable[..., Any], cassettes: Path, fetch: tuple[str, ...], tmp_path: Path) -> None:
    """A program that depends on the recording alone passes; one that does not is code 1, and the report says why."""
    base = ("determinism", "--seed", "1", "--seed", "2", str(cassettes / "chat.yaml"))
    assert process(*base, "--", *fetch, "https://chat.vendors.example/never").code == 0
    noisy = process(*base, "--report", "d.json", "--", sys.executable, "-c", "import uuid; print(uuid.uuid4())")
    assert noisy.code == 1
    assert "output differs" in noisy.err
    report = json.loads((tmp_path / "d.json").read_text())
    assert (report["schema"], report["differs"]) == ("replayproxy/determinism/1", ["output"])


def test_demo(process: Callable[..., Any], tmp_path: Path) -> None:
    """Everything it claims holds, and it leaves nothing behind."""
    ran = process("demo", env={"TMPDIR": str(tmp_path)})
    assert ran.code == 0, ran.err
    assert ran.out.count("✓") == 5
    assert list(tmp_path.glob("replayproxy-demo-*")) == []


def test_options_that_are_to_come_say_so(cli: Callable[..., Any], cassettes: Path) -> None:
    """They are not taken for granted."""
    for option in (("--jail",), ("--dns", "127.0.0.1:53")):
        cli("replay", str(cassettes), *option, "--", "true").refused(3, "not in this version")
    cli("replay", str(cassettes), "--clock", "seed", "--", "true").refused(2, "seed")
