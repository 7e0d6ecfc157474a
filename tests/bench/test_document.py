"""docs/performance.md: the figures come from a run, the part by hand stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import document, report
from bench.bars import verdicts

TOLD: dict[str, Any] = {
    "form": "default",
    "date": "2026-12-06",
    "machine": {"processor": "a processor", "cores": 2, "memory_mb": 1024, "kernel": "6.1", "load": 0.5},
    "versions": {"python": "3.13"},
    "setting": {"rounds": 5, "seconds": 1.0, "warm": 0.3},
    "skipped": {"wiremock": "no Java"},
    "failed": ["mountebank, a case: it did not answer"],
    "rows": [],
    "starts": [],
    "studies": [{"name": "idle", "what": "connections at rest", "lines": ["one | two"], "metrics": {}}],
    "metrics": {},
    "verdicts": verdicts({}),
}


def test_the_part_by_hand_is_kept(tmp_path: Path) -> None:
    """A new run replaces every figure and no sentence of a person."""
    path = tmp_path / "performance.md"
    document.write(path, TOLD)
    assert document.FIRST in path.read_text("utf-8")
    path.write_text(path.read_text("utf-8").replace(document.FIRST, "By hand, and *kept*."), "utf-8")
    document.write(path, {**TOLD, "date": "2027-01-01"})
    text = path.read_text("utf-8")
    assert "By hand, and *kept*." in text
    assert "2027-01-01" in text
    assert "2026-12-06" not in text


def test_what_is_missing_is_told_with_the_reason() -> None:
    """In the document and in the text on the terminal."""
    text = document.render(TOLD, "")
    assert "wiremock was not measured: no Java" in text
    assert "mountebank, a case: it did not answer: left out from then on" in text
    assert "wiremock was not measured: no Java" in report.text(TOLD)


@pytest.mark.parametrize("old", [document.BEGIN, document.END, f"{document.END} {document.BEGIN}"])
def test_a_lone_marker_loses_nothing(old: str, tmp_path: Path) -> None:
    """The file stays as it was."""
    path = tmp_path / "performance.md"
    path.write_text(old, "utf-8")
    with pytest.raises(ValueError, match="not a pair"):
        document.write(path, TOLD)
    assert path.read_text("utf-8") == old


def test_a_bar_across_a_cell_does_not_end_it() -> None:
    """GitHub Flavored Markdown, section 4.10."""
    assert "| a \\| b | c |" in document.table(["x", "y"], [["a | b", "c"]])
