"""Text of a cassette file to the model: ours, or VCR.py's. Anything else is named and refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replayproxy.core.exchange import Cassette
from replayproxy.format import origins, vcr
from replayproxy.format.document import MisfitError, parse
from replayproxy.format.reading import cassette_of
from replayproxy.format.table import CASSETTE, FORMAT


@dataclass(frozen=True, slots=True)
class Read:
    """A cassette that was read, and what its reader should be told, a sentence each."""

    cassette: Cassette
    warnings: tuple[str, ...] = ()


def load(data: bytes, name: str) -> Cassette:
    """The cassette in DATA; raises CassetteError, with NAME, line and path, for anything that is not one."""
    return read(data, name).cassette


def read(data: bytes, name: str) -> Read:
    """As `load`, with the warnings."""
    if tool := origins.tool_of_octets(data):
        document = parse(b"?", name)
        raise document.error(_other(tool))
    document = parse(data, name)
    try:
        return _read(document.value)
    except MisfitError as misfit:
        raise document.error(misfit) from None


def _read(value: Any) -> Read:
    if tool := origins.tool_of(value):
        raise _other(tool)
    if not isinstance(value, dict):
        raise MisfitError("is not a cassette: a cassette is a mapping with `version` and `interactions`")
    if "replayproxy" not in value:
        _require_nothing_of_ours(value)
        cassette, warnings = vcr.cassette_of(value)
        return Read(cassette, warnings)
    _require_known_format(value["replayproxy"])
    CASSETTE.check(value)
    return Read(cassette_of(value))


def _other(tool: str) -> MisfitError:
    return MisfitError(
        f"is a file of {tool}, not a cassette", hint="convert it: replayproxy import FILE -o CASSETTE.yaml"
    )


def _require_known_format(head: Any) -> None:
    number = head.get("format") if isinstance(head, dict) else None
    if isinstance(number, int) and number > FORMAT:
        hint = "upgrade replayproxy to read it"
        raise MisfitError(f"is {number}; this version reads up to {FORMAT}", ("replayproxy", "format"), hint=hint)


def _require_nothing_of_ours(value: Mapping[str, Any]) -> None:
    """Refuse a file of ours that has lost its head, and with it the rights of what it holds."""
    interactions = value.get("interactions")
    if isinstance(interactions, list):
        for at, interaction in enumerate(interactions):
            if isinstance(interaction, dict) and "replayproxy" in interaction:
                why = "is an interaction of replayproxy, but the file has no `replayproxy` of its own"
                hint = "restore the file or record it again"
                raise MisfitError(why, ("interactions", at), hint=hint)
