"""Whose file is this: what tells other tools' recordings from a cassette, so that errors can name them."""

from __future__ import annotations

import re
from typing import Any, Final

_TNETSTRING = re.compile(rb"[0-9]{1,12}:[0-9]{1,12}:")

_BY_KEY: Final = (
    ("log", "HAR"),
    ("data", "Hoverfly"),
    ("mappings", "WireMock"),
    ("Entries", "Azure's test proxy"),
    ("imposters", "mountebank"),
    ("responses", "the responses library"),
)


def tool_of_octets(data: bytes) -> str:
    """The tool whose files start as DATA does and are no text, or ""."""
    if _TNETSTRING.match(data):
        return "mitmproxy"
    return "another tool, packed by gzip or zlib" if data[:2] in (b"\x1f\x8b", b"\x78\x9c", b"\x78\xda") else ""


def tool_of(value: Any) -> str:
    """The tool that wrote the document VALUE, or "" where it may be a cassette."""
    if isinstance(value, list):
        return _of_list(value)
    if not isinstance(value, dict):
        return ""
    if "http_interactions" in value:
        return "Betamax" if "betamax" in str(value.get("recorded_with", "")).lower() else "Ruby VCR"
    if "interactions" in value:
        return _of_interactions(value["interactions"])
    if isinstance(value.get("request"), dict) and isinstance(value.get("response"), dict):
        return "WireMock"
    return next((tool for key, tool in _BY_KEY if key in value), "")


def _of_list(value: list[Any]) -> str:
    first = value[0] if value else None
    if not isinstance(first, dict):
        return ""
    if "scope" in first:
        return "nock"
    if "request" in first:
        return "VCR.py 0"
    return "the responses library" if "response" in first else ""


def _of_interactions(interactions: Any) -> str:
    first = interactions[0] if isinstance(interactions, list) and interactions else None
    request = first.get("request") if isinstance(first, dict) else None
    return "go-vcr" if isinstance(request, dict) and "url" in request and "uri" not in request else ""
