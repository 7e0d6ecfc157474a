"""docs/redaction.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from replayproxy.core.credentials import DOUBTFUL, NAME_RULES, SHAPE_RULES, VENDOR_HEADERS
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.settings import load

DOCS = (Path(__file__).parents[3] / "docs" / "redaction.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables under HEADING, without their heads."""
    section = re.split(r"^#+ ", DOCS.split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    heads = {place + offset for place, line in enumerate(lines) if line.startswith("| ---") for offset in (-1, 0)}
    return [[cell.strip() for cell in line.strip("|").split("|")] for at, line in enumerate(lines) if at not in heads]


def test_every_rule_for_a_name_has_its_row() -> None:
    """Rules by name, their reasons and endings are those of the code, in its order."""
    wanted = [[f"`{rule.id}`", rule.reason, ", ".join(rule.endings)] for rule in NAME_RULES]
    found = rows("Rules for names")
    assert found[: len(wanted)] == wanted
    others = {cells[0]: cells[2] for cells in found[len(wanted) :] if len(cells) == 3}
    assert list(others) == ["`vendor-header`", "`opaque-field`", "`user-rule`", "`known-value`"]
    assert others["`vendor-header`"] == ", ".join(sorted(VENDOR_HEADERS)) + " (the whole name)"


def test_every_doubtful_name_is_told() -> None:
    """The names that count only with an opaque value are those of the code."""
    found = {cells[0]: cells[1] for cells in rows("Rules for names") if len(cells) == 2}
    assert found == {where: ", ".join(sorted(names)) for where, names in DOUBTFUL.items() if names}


def test_every_rule_for_a_shape_has_its_row() -> None:
    """Rules by shape and their reasons are those of the code, in its order."""
    assert rows("Rules for shapes") == [[f"`{rule.id}`", rule.reason] for rule in SHAPE_RULES]


def test_the_placeholders_shown_are_those_that_are_made() -> None:
    """The page's salt and values give the page's placeholders."""
    found = re.search(r"With the salt `([0-9a-f]{32})`", DOCS)
    assert found
    shown = [[cell.strip("`") for cell in cells] for cells in rows("Placeholders")]
    assert len(shown) >= 3
    assert shown == [[value, placeholder(found[1], value)] for value, _ in shown]


def test_the_configuration_shown_is_one(tmp_path: Path) -> None:
    """The page's example can be loaded, and has a rule of each kind."""
    text = DOCS.split("```yaml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "replayproxy.yaml").write_text(text, encoding="utf-8")
    (provider,) = load(tmp_path / "replayproxy.yaml", tmp_path).providers.all
    assert [str(rule.at) if rule.at else rule.pattern for rule in provider.redact] == [
        "header:x-acme-session",
        *(str(one.get("at") or one["pattern"]) for one in yaml.safe_load(text)["providers"]["acme"]["redact"][1:]),
    ]
