"""What `record` and `replay` check before they serve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("mode", ["record", "replay"])
@pytest.mark.parametrize("option", ["--ready-file", "--report"])
def test_what_cannot_be_written_at_the_end_is_told_at_the_start(
    cli: Callable[..., Any], cassettes: Path, tmp_path: Path, mode: str, option: str
) -> None:
    """CMD does not run for hours in vain."""
    what = ("record", "-o", "a.yaml", "--rights", "unknown") if mode == "record" else ("replay", str(cassettes))
    cli(*what, option, "no/folder/r.json", "--", "touch", "ran").refused(3, "no/folder/r.json", "not a folder")
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "a.yaml").exists()


def test_a_command_that_is_no_program(cli: Callable[..., Any], cassettes: Path, tmp_path: Path) -> None:
    """A file without the right to be run, and a folder."""
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "folder").mkdir()
    cli("replay", str(cassettes), "--", "./script").refused(2, "./script is not executable")
    cli("replay", str(cassettes), "--", "./folder").refused(2, "not found: ./folder")
    (tmp_path / "script").write_text("#!/no/such/interpreter\n")
    (tmp_path / "script").chmod(0o700)
    ran = cli("replay", str(cassettes), "--", "./script")
    assert (ran.code, "hint: " in ran.err, "Traceback" in ran.err) == (2, True, False)
    # a recorder that has begun leaves nothing behind
    ran = cli("record", "-o", "a.yaml", "--rights", "unknown", "--", "./script")
    assert (ran.code, "./script" in ran.err, "Traceback" in ran.err) == (2, True, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "script", "state"]
