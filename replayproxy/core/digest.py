"""Canonical JSON and SHA-256, the one way in which anything here is digested."""

from __future__ import annotations

import hashlib
import json


def canonical_json(value: object) -> bytes:
    """VALUE as UTF-8 JSON with sorted keys, no white space and no floats; equal values give equal octets.

    Raises TypeError for a float or anything JSON has no form for, so that no digest depends on how a float is
    printed.
    """
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def digest(value: object) -> str:
    """The SHA-256 of VALUE's canonical JSON, 64 lower-case hex digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise TypeError(f"a float has no canonical form: {value!r}")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)
