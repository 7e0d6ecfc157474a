"""Options that several commands share: what they take, and what they say of the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RECORD = ("record", "-o", "a.yaml", "--rights", "unknown")
BAD_CONNECT_TO = """a a:80 a:80:127.0.0.1 :80:127.0.0.1:80 a::127.0.0.1:80 a:80::80 a:80:127.0.0.1:99999
a:x:127.0.0.1:80 a:80:::1:80 a:80:127.0.0.1:-1""".split()  # noqa: SIM905 - a table
BAD_ADDRESSES = ["8080", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "api.test:80", "http://::1:80"]


@pytest.mark.parametrize("value", BAD_CONNECT_TO)
def test_connect_to_is_curls(cli: Callable[..., Any], value: str) -> None:
    """What is not HOST:PORT:ADDR:PORT is told by option and value, before anything starts."""
    cli(*RECORD, "--connect-to", value, "--", "true").refused(2, "--connect-to", value)


@pytest.mark.parametrize("option", ["--listen", "--control"])
@pytest.mark.parametrize("value", BAD_ADDRESSES)
@pytest.mark.parametrize("mode", ["record", "replay"])
def test_an_address_to_listen_on(cli: Callable[..., Any], cassettes: Path, mode: str, option: str, value: str) -> None:
    """It is a literal one: no name is resolved to listen."""
    what = RECORD if mode == "record" else ("replay", str(cassettes))
    cli(*what, option, value, "--", "true").refused(2, option)


@pytest.mark.parametrize("value", ["127.0.0.1:0", "localhost:0", ":0", "[::1]:0", "0.0.0.0:0"])
def test_addresses_that_can_be_listened_on(cli: Callable[..., Any], cassettes: Path, value: str) -> None:
    """IPv6 in brackets; no host is every address; localhost needs no resolver."""
    if value.startswith("[") and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6 loopback")
    ran = cli("replay", str(cassettes), "--listen", value, "--", "true")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("words", [RECORD, ("determinism", "--seed", "1", "--seed", "2")], ids=lambda words: words[0])
def test_a_command_stands_behind_two_dashes(cli: Callable[..., Any], tmp_path: Path, words: tuple[str, ...]) -> None:
    """A word that is no option is not run by mistake."""
    ran = cli(*words, "touch", "ran")
    ran.refused(2)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "a.yaml").exists()


def test_where_the_state_lies(process: Callable[..., Any], tmp_path: Path) -> None:
    """By the XDG specification: an absolute XDG_STATE_HOME, else below the home folder; or --state-dir."""
    for environment, found in (
        ({"XDG_STATE_HOME": str(tmp_path / "xdg")}, tmp_path / "xdg" / "replayproxy"),
        ({"XDG_STATE_HOME": "relative", "HOME": str(tmp_path)}, tmp_path / ".local" / "state" / "replayproxy"),
        ({"XDG_STATE_HOME": "", "HOME": str(tmp_path)}, tmp_path / ".local" / "state" / "replayproxy"),
    ):
        assert f"SSL_CERT_FILE={found}{os.sep}" in process("env", env=environment).out
    assert process("env", "--state-dir", "mine").code == 0
    assert (tmp_path / "mine").stat().st_mode & 0o077 == 0


def test_no_home_folder_is_told(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose user is in no list of users."""

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.delenv("XDG_STATE_HOME")
    cli("env").refused(2, "no home folder")
    assert cli("env", "--state-dir", "mine").code == 0
