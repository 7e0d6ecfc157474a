"""Tests for what comes from the table of settings: JSON schema, template, manual."""

from __future__ import annotations

import json
import re
import runpy
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from replayproxy.format.document import parse
from replayproxy.settings import SCHEMA_FILE, Settings, load, manual, schema, template
from replayproxy.settings.table import LIMITS
from replayproxy.wire.limits import Limits

jsonschema = pytest.importorskip("jsonschema")
DOCS = Path(__file__).parents[2] / "docs"


def uncommented(text: str) -> str:
    """TEXT with every setting set: lines with one # are settings, with two explanations."""
    lines = [line for line in text.splitlines() if not line.startswith("##")]
    return "\n".join(re.sub(r"^# (?!yaml-language-server)", "", line) for line in lines)


def valid(text: str) -> bool:
    """Whether the JSON schema accepts the YAML in TEXT."""
    value: Any = parse(text.encode(), "text").value
    return bool(jsonschema.Draft202012Validator(json.loads(schema())).is_valid(value))


def test_the_schema_that_ships_is_the_one_of_the_table() -> None:
    """`python -m replayproxy.settings > replayproxy/schema/config.schema.json` writes it anew."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema()
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))


def test_the_template_sets_nothing(tmp_path: Path) -> None:
    """It is a valid configuration that leaves everything at its default."""
    (tmp_path / "replayproxy.yaml").write_text(template())
    assert load(None, tmp_path) == Settings(file=tmp_path / "replayproxy.yaml")
    assert valid(template())


def test_every_setting_of_the_template_can_be_taken_as_it_stands(tmp_path: Path) -> None:
    """Without its comment signs it is read and fits the schema, and what is a default is the default."""
    text = uncommented(template())
    (tmp_path / "rights").mkdir()
    (tmp_path / "rights" / "example.yaml").write_text("license: MIT\n")
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry" / "example.yaml").write_text("entries: []\n")
    (tmp_path / "policy.yaml").write_text("schema: replayproxy.policy/1\n")
    (tmp_path / "replayproxy.yaml").write_text(text)
    settings = load(None, tmp_path)
    assert valid(text)
    assert replace(settings.limits, body_octets=None) == Limits()
    (provider,) = settings.providers.all
    assert (provider.match.sequence, len(provider.redact)) == ("repeat-last", 2)
    assert len(settings.webhooks) == len(settings.times) == len(settings.episodes) == 1


def test_every_setting_is_in_the_template() -> None:
    """What can be set can be found there."""
    text = template()
    for path in re.findall(r"^\| `([^`]+)`", manual(), re.MULTILINE):
        name = path.split(".")[-1].removesuffix("[]")
        assert re.search(rf"^#? *(- )?{name}:", text, re.MULTILINE), path


def test_the_template_points_editors_at_the_schema() -> None:
    """At the file that ships, or where the caller says."""
    assert template().splitlines()[0] == f"# yaml-language-server: $schema={SCHEMA_FILE.as_uri()}"
    assert template("config.schema.json").startswith("# yaml-language-server: $schema=config.schema.json\n")


@pytest.mark.parametrize(
    "text",
    [
        "providers: {}",
        "version: 2",
        "version: 1\npolcy: a",
        "version: 1\nproviders: {api: {hosts: [a.test], mtach: {}}}",
        "version: 1\nproviders: {api: {hosts: []}}",
        "version: 1\nproviders: {api: {hosts: [a], rights: {permissions: {ship: yes}}}}",
        "version: 1\nproviders: {api: {hosts: [a], match: {ignore: [trace]}}}",
        "version: 1\nlimits: {streams: 0}",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text: str) -> None:
    """An editor marks a typo before replayproxy does."""
    assert not valid(text)


def test_every_limit_can_be_set() -> None:
    """The table has the limits of the wire, no more and no fewer."""
    assert {key.name for key in LIMITS.keys} == {part.name for part in fields(Limits)}


def test_the_manual_has_the_table() -> None:
    """`python -m replayproxy.settings manual` prints what docs/configuration.md holds."""
    assert manual() in (DOCS / "configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("arguments", "text"), [([], schema), (["manual"], manual)])
def test_what_is_generated_can_be_printed(
    arguments: list[str],
    text: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`python -m replayproxy.settings` writes what ships."""
    monkeypatch.setattr(sys, "argv", ["settings", *arguments])
    runpy.run_module("replayproxy.settings", run_name="__main__")
    assert capsys.readouterr().out == text()
