"""docs/cassette-format.md is what the code does: its example is a cassette, and it names every key."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from replayproxy.format import digest_of, dump, load
from replayproxy.format.bodies import LARGEST_BINARY, LARGEST_TEXT
from replayproxy.format.document import DEEPEST, MOST_ALIASED
from replayproxy.format.table import json_schema


def test_the_example(root: Path) -> None:
    """It loads, its digest holds, and saving it gives the same octets."""
    text = _specification(root)
    match = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert match is not None
    example = match[1].encode()
    cassette = load(example, "cassette-format.md")
    (one,) = cassette.interactions
    assert one.response.headers[1] == ("Content-Encoding", "gzip")
    assert digest_of(cassette) == cassette.digest
    assert dump(cassette).text == example


def test_every_key_is_named(root: Path) -> None:
    """And every word of a closed vocabulary."""
    text = _specification(root)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    named = set(re.findall(r"`([^`\n]+)`", prose))
    schema = {key: value for key, value in json_schema().items() if key != "$defs"}  # rights have a page of their own
    assert _words(schema) - named - {"blob", "size"} == set()
    assert "{blob: SHA256, size: N}" in text


def test_limits_are_named(root: Path) -> None:
    """The numbers on the page are those of the code."""
    text = " ".join(_specification(root).split())
    assert f"more than {LARGEST_TEXT // 1024} KiB of text, or {LARGEST_BINARY // 1024} KiB of others" in text
    assert f"nested deeper than {DEEPEST}, and aliases that stand for more than {MOST_ALIASED:,} nodes" in text


def _specification(root: Path) -> str:
    return (root / "docs" / "cassette-format.md").read_text()


def _words(schema: Any) -> set[str]:
    """Every key and every word that SCHEMA allows."""
    if isinstance(schema, list):
        return set().union(*map(_words, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    own = set(schema.get("properties", {})) | {word for word in schema.get("enum", ()) if isinstance(word, str)}
    return own.union(*map(_words, schema.get("properties", {}).values()), *map(_words, schema.values()))
