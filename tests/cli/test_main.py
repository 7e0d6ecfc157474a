"""What holds for every command: help, usage errors, codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RUN = "import sys; from replayproxy.cli.main import main; main(sys.argv[1:])"
COMMANDS = """demo init record replay env ls show diff audit rights scan redact verify pack import export drift
determinism verify-egress ca keys""".split()  # noqa: SIM905 - a table
BUILT = "demo init record replay env ls show diff audit scan verify determinism".split()  # noqa: SIM905


def test_help_lists_every_command(cli: Callable[..., Any]) -> None:
    """Help is data, on stdout."""
    ran = cli("--help")
    assert ran.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ran.out


@pytest.mark.parametrize("name", BUILT)
def test_every_command_has_help_with_an_example(cli: Callable[..., Any], name: str) -> None:
    """A newcomer can copy a line of it."""
    ran = cli(name, "--help")
    assert ran.code == 0
    assert f"replayproxy {name}" in ran.out.partition("Example")[2]
    assert "--state-dir" in ran.out
    assert "--config" in ran.out


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(BUILT)))
def test_what_is_not_there_yet_says_so(cli: Callable[..., Any], name: str) -> None:
    """It does nothing, tells what can be done instead, and fails."""
    cli(name, "--whatever", "x").refused(3, "is not in this version")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nonsense",), "nonsense"),
        (("replay", "--nonsense"), "--nonsense"),
        (("record", "--", "true"), "--output"),
        (("record", "-o", "a.yaml", "--connect-to", "a:b"), "HOST:PORT:ADDR:PORT"),
        (("record", "-o", "a.yaml", "--listen", "8080"), "HOST:PORT"),
        (("replay", "a.yaml", "--seed", "-1"), "-1"),
        (("replay",), "no cassette is named"),
        (("replay", "a.yaml"), "a.yaml"),
        (("replay", "a.yaml", "--timing", "fast"), "fast"),
        (("replay", "a.yaml", "--"), "no command"),
        (("audit", "a.yaml"), "--purpose"),
        (("show",), "CASSETTE"),
        (("determinism", "--seed", "1", "a.yaml", "--", "true"), "two different seeds"),
        (("determinism", "--seed", "1", "--seed", "2", "a.yaml"), "no command"),
        (("ls", "--config", "nowhere.yaml", "x"), "nowhere.yaml"),
    ],
)
def test_usage_errors(cli: Callable[..., Any], words: tuple[str, ...], told: str) -> None:
    """Code 2: what is wrong, and a hint; nothing on stdout."""
    cli(*words).refused(2, told)


def test_completion(process: Callable[..., Any]) -> None:
    """A shell is given what completes our commands."""
    ran = process(env={"_REPLAYPROXY_COMPLETE": "bash_source"})
    assert ran.code == 0
    assert "complete" in ran.out


def test_help_does_not_load_what_only_recording_needs(process: Callable[..., Any]) -> None:
    """mitmproxy takes most of a second to load."""
    ran = process("--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert "mitmproxy" not in ran.err


def test_no_arguments_show_the_help(cli: Callable[..., Any]) -> None:
    """It is a usage error, and no error message."""
    ran = cli()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: replayproxy ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without room")
@pytest.mark.parametrize("words", [("--help",), ("ls", "CASSETTES"), ("env", "--format", "json")])
def test_an_output_that_takes_nothing(tmp_path: Path, cassettes: Path, words: tuple[str, ...]) -> None:
    """Code 3 and a reason; no traceback, from Python's own exit neither."""
    line = [str(cassettes) if word == "CASSETTES" else word for word in words]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", RUN, *line],
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=30,
        )
    assert done.returncode == 3
    assert done.stderr.startswith("error: cannot use the output: ")
    assert done.stderr.count("\n") == 3


def test_an_output_that_nobody_reads_any_more(tmp_path: Path, cassettes: Path) -> None:
    """`show … | head` is silent."""
    line = f"'{sys.executable}' -c '{RUN}' show '{cassettes}/payments.yaml' | head -n 1"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=30)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_defect_is_told_in_a_line(process: Callable[..., Any], tmp_path: Path, cassettes: Path) -> None:
    """No traceback for what we did not foresee, unless it is asked for."""
    (tmp_path / "sitecustomize.py").write_text(
        "import replayproxy.store as store\ndef find(paths): raise ZeroDivisionError('on purpose')\nstore.find = find\n"
    )
    broken = {"PYTHONPATH": str(tmp_path)}
    process("ls", str(cassettes), env=broken).refused(3, "internal error: ZeroDivisionError: on purpose")
    process("replay", str(cassettes), "--", "true", env=broken).refused(3, "sitecustomize.py:2")
    assert "Traceback" in process("replay", str(cassettes), "-v", "--", "true", env=broken).err


@pytest.mark.parametrize("words", [("record", "--help"), ("replay", "CASSETTES", "--", "true")])
def test_mitmproxy_is_loaded_to_record_only(process: Callable[..., Any], cassettes: Path, words: Any) -> None:
    """It takes most of a second."""
    line = [str(cassettes) if word == "CASSETTES" else word for word in words]
    ran = process(*line, env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert ran.code == 0
    assert "mitmproxy" not in ran.err
