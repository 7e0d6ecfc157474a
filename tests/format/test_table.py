"""The table of the format, and the JSON schema that is printed from it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from replayproxy.format.document import MisfitError, parse
from replayproxy.format.table import CASSETTE, json_schema

GOLDEN = sorted((Path(__file__).parent / "golden" / "v1").glob("*.yaml"))


def test_the_shipped_schema_is_up_to_date() -> None:
    """To renew it: json.dumps(json_schema(), indent=2, ensure_ascii=False) and a newline."""
    shipped = files("replayproxy.schema").joinpath("cassette.schema.json").read_text()
    assert shipped == json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def test_the_schema_is_a_schema() -> None:
    """It is valid JSON schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_files_fit_table_and_schema(path: Path) -> None:
    """What the loader takes, an editor takes; a validator sees !!binary as text."""
    CASSETTE.check(parse(path.read_bytes(), path.name).value)
    jsonschema.validate(_without_octets(yaml.safe_load(path.read_bytes())), json_schema())


def _without_octets(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_octets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_octets(item) for item in value]
    return value.hex() if isinstance(value, bytes) else value


@pytest.mark.parametrize(
    "edit",
    [
        ("version", 2),
        ("surprise", 1),
        ("interactions", {}),
        ("interactions", [{"request": {}}]),
        ("replayproxy", {"format": 1}),
        ("replayproxy", None),
    ],
    ids=str,
)
def test_table_and_schema_refuse_alike(edit: tuple[str, Any]) -> None:
    """A wrong value is refused by both; one under x- by neither."""
    value = yaml.safe_load(GOLDEN[0].read_bytes())
    jsonschema.validate({**value, "x-own": {"any": [1.5]}}, json_schema())
    CASSETTE.check({**value, "x-own": {"any": [1.5]}})
    changed = {**value, edit[0]: edit[1]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, json_schema())
    with pytest.raises(MisfitError):
        CASSETTE.check(changed)


def test_the_schema_knows_rights() -> None:
    """A tag in either place is judged by the tag's own schema."""
    value = yaml.safe_load((GOLDEN[0].parent / "plain.yaml").read_bytes())
    jsonschema.validate(value, json_schema())
    head = {**value["replayproxy"], "rights": {**value["replayproxy"]["rights"], "permissions": {"ship": True}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**value, "replayproxy": head}, json_schema())
    first = value["interactions"][0]
    first["replayproxy"]["rights"] = {"licence": "MIT"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, json_schema())
