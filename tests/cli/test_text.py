"""Forms of text that several commands print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HOSTILE = r"""interactions:
- request: {method: GET, uri: "http://a.test/\e]0;title\a", body: null, headers: {X-One: ["\e[31mred"]}}
  response: {status: {code: 200, message: "OK\e[2J"}, headers: {}, body: {string: "two\e[2J\u202ethree\nfour"}}
version: 1
"""


@pytest.mark.parametrize(
    "command",
    [("show", "--why"), ("ls",), ("scan",), ("verify",), ("audit", "--purpose", "open-source"), ("diff",)],
    ids=lambda command: command[0],
)
def test_a_terminal_does_not_obey_a_recording(
    cli: Callable[..., Any], tmp_path: Path, cassettes: Path, command: tuple[str, ...]
) -> None:
    """Escape sequences and turned text are spelled out, wherever they stand."""
    (tmp_path / "hostile.yaml").write_text(HOSTILE)
    more = (str(cassettes / "chat.yaml"),) if command == ("diff",) else ()
    ran = cli(*command, "hostile.yaml", *more)
    assert [letter for letter in "\x1b\a\u202e" if letter in ran.out + ran.err] == []
    if command[0] == "show":
        for text in (r"http://a.test/\x1b]0;title\x07", r"X-One: \x1b[31mred", r"two\x1b[2J\u202ethree", "     four"):
            assert text in ran.out


def test_what_an_encoding_cannot_hold_is_spelled_out(
    process: Callable[..., Any], tmp_path: Path, cassettes: Path
) -> None:
    """A terminal of another encoding is no reason to end."""
    ran = process("show", str(cassettes / "chat.yaml"), env={"PYTHONIOENCODING": "latin-1"})
    assert ran.code == 0
    assert r"\u2192 200 OK" in ran.out
