"""Tests for replayproxy.core.rights.findings and vocabulary: every code and word is in the manual."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import PRESETS, PURPOSES, Finding, WideningError
from replayproxy.core.rights.findings import CODES
from replayproxy.core.rights.tag import TAG_KEYS
from replayproxy.core.rights.vocabulary import CONDITIONS, USE_MEANINGS, USES, VALUES, strictness

ROOT = Path(__file__).parents[3]
MANUAL = (ROOT / "docs" / "rights.md").read_text(encoding="utf-8")


def test_every_code_has_a_section_and_no_section_is_without_a_code() -> None:
    """Codes are unique and each is explained under its name."""
    sections = re.findall(r"^### (RP\d{3}) (.+)\n\n(.+)", MANUAL, re.MULTILINE)
    assert [(code, name) for code, name, _ in sections] == list(CODES.items())
    assert all(len(text) > 60 for _, _, text in sections)


def test_no_code_is_given_that_is_not_in_the_table() -> None:
    """A code in the source is a code in the table."""
    core = ROOT / "replayproxy" / "core"
    given = {code for file in core.rglob("*.py") for code in re.findall(r"\bRP\d{3}\b", file.read_text("utf-8"))}
    assert given == set(CODES)


@pytest.mark.parametrize("word", [*PRESETS, *CONDITIONS, *VALUES])
def test_every_word_is_in_the_manual(word: str) -> None:
    """Nobody has to read the source for a word."""
    assert f"| `{word}` |" in MANUAL


@pytest.mark.parametrize("use", USES)
def test_every_permission_is_in_the_manual(use: str) -> None:
    """With its meaning."""
    assert f"| `{use}` | {dict(USE_MEANINGS.items())[use]} |" in MANUAL  # type: ignore[index]


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_purpose_is_in_the_manual(purpose: str) -> None:
    """With what it requires."""
    assert f"| `{purpose}` | {', '.join(f'`{use}`' for use in PURPOSES[purpose])} |" in MANUAL


@pytest.mark.parametrize("key", TAG_KEYS, ids=lambda key: key.name)
def test_every_part_of_a_tag_is_in_the_manual(key: object) -> None:
    """With its shape and meaning, as the table has them."""
    name, shape, help_ = (getattr(key, part) for part in ("name", "shape", "help"))
    assert f"| `{name}` | {shape} | {help_} |" in MANUAL


def test_the_order_of_values() -> None:
    """Granted, conditional, unknown, forbidden."""
    assert [strictness(value) for value in VALUES] == [0, 1, 2, 3]


def test_a_widening_is_a_rights_error_that_keeps_its_findings() -> None:
    """The audit lists them; the command line prints them."""
    found = tuple(Finding(code="RP011", level="deny", message=text, hint=f"mend {text}") for text in ("a", "b"))
    error = WideningError(found)
    assert isinstance(error, RightsError)
    assert (error.what, error.hint, error.findings) == ("RP011 a; RP011 b", "mend a", found)
