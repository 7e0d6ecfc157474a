"""The JSON schema of `replayproxy.yaml`, for editors and other tools."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from replayproxy.settings.table import TABLE

SCHEMA_FILE = Path(str(files("replayproxy") / "schema" / "config.schema.json"))
"""Where the schema lies that ships with the package."""


def schema() -> str:
    """The schema (JSON Schema 2020-12) as the text of a file."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:replayproxy:config:1",
        "title": "replayproxy.yaml",
    }
    return json.dumps(head | TABLE.schema(), indent=2, ensure_ascii=False) + "\n"
