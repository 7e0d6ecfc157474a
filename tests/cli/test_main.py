"""What holds for every command: help, usage errors, codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
