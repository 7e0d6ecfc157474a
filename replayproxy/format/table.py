"""What a cassette file holds: the one table that the loader checks by and the JSON schema is printed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from replayproxy.core.rights import TAG
from replayproxy.format.shape import (
    Either,
    Entries,
    Flag,
    Integer,
    Items,
    Key,
    Octets,
    OneOf,
    Record,
    Row,
    Text,
)

FORMAT: Final = 1
"""The number of the format that this version writes; it reads this one."""

TIME_PATTERN: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"

_SHA256 = Text("[0-9a-f]{64}", "text of 64 lower-case hex digits")
_TIME = Text(TIME_PATTERN, "text like '2026-01-31T12:00:00.000000Z'")
_WIRE = Text(latin=True)
WORD: Final = Text(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "a token (text, RFC 9110 section 5.6.2)")
_STATUS = Integer(100, 999)
_HEADERS = Entries(Items(_WIRE, least=1))
_PAIR = Row((_WIRE, _WIRE), 2)
_PAIRS = Items(_PAIR)
_ORDERED = Items(Either(_PAIR, _WIRE))
_HEADERS_SAY = "fields in the order of the wire: a name takes its next value from the map, a pair is a field of its own"


@dataclass(frozen=True)
class RightsTag:
    """A rights tag, which `core/rights` checks when it is read, with codes of its own; the schema is its too."""

    def check(self, value: Any) -> None:
        """Never raises."""

    def schema(self) -> dict[str, Any]:
        """A reference, since the tag stands in two places."""
        return {"$ref": "#/$defs/rights"}


BLOB: Final = Record(
    {
        "blob": Key(_SHA256, "SHA-256 of the octets, and the name of their file in NAME.blobs/", required=True),
        "size": Key(Integer(), "their number", required=True),
    }
)
_STORED_ELSEWHERE = Record({"replayproxy": Key(BLOB, required=True)})

_REQUEST = Record(
    {
        "method": Key(WORD, required=True),
        "uri": Key(_WIRE, "absolute URL; the path and query as sent, a default port left out", required=True),
        "body": Key(Octets(optional=True), "text (its UTF-8), or !!binary; null for none", required=True),
        "headers": Key(_HEADERS, "name to values", required=True),
        "replayproxy": Key(BLOB, "the body, where it lies in a file of its own"),
    }
)
_RESPONSE = Record(
    {
        "status": Key(
            Record({"code": Key(_STATUS, required=True), "message": Key(_WIRE, required=True)}), required=True
        ),
        "headers": Key(_HEADERS, "name to values, as fits the body below", required=True),
        "body": Key(
            Record({"string": Key(Either(_STORED_ELSEWHERE, Octets()), required=True)}),
            "the body without transfer and content coding",
            required=True,
        ),
    }
)
_REQUEST_MORE = Record(
    {
        "version": Key(_WIRE, "HTTP version; HTTP/1.1 if left out"),
        "target": Key(_WIRE, "the request target, where `uri` cannot say it"),
        "headers": Key(_ORDERED, _HEADERS_SAY),
        "trailers": Key(_PAIRS, "trailer fields"),
    }
)
_INTERIM = Record({"status": Key(Integer(100, 199), required=True), "reason": Key(_WIRE), "headers": Key(_PAIRS)})
_CODING = Record(
    {
        "names": Key(Items(_WIRE, least=1), "as in Content-Encoding, outermost last", required=True),
        "coded": Key(Either(BLOB, Octets()), "the octets of the wire, where coding again would not give them"),
    }
)
_FAULT = Record(
    {
        "kind": Key(OneOf(("refused", "reset", "timeout", "truncated", "closed", "dns")), required=True),
        "phase": Key(OneOf(("connect", "head", "body")), required=True),
        "after_ms": Key(Integer(), "milliseconds since the request", required=True),
    }
)
_RESPONSE_MORE = Record(
    {
        "version": Key(_WIRE, "HTTP version; HTTP/1.1 if left out"),
        "framing": Key(OneOf(("length", "chunked", "close", "none")), "length if left out"),
        "before_body": Key(Flag(), "the answer came before the request's body was sent"),
        "headers": Key(_ORDERED, _HEADERS_SAY),
        "trailers": Key(_PAIRS, "trailer fields"),
        "interim": Key(Items(_INTERIM), "1xx answers before the final one"),
        "coding": Key(_CODING, "the content coding that was undone"),
        "chunks": Key(
            Items(Row((Integer(), Integer(), Integer()), 2)),
            "pieces: octets decoded, milliseconds since the request, octets on the wire where coded",
        ),
        "fault": Key(_FAULT, "how the exchange broke below HTTP"),
    }
)
_INTERACTION_MORE = Record(
    {
        "id": Key(
            Text("[0-9a-f]{12}", "text of 12 lower-case hex digits"),
            "its name in this cassette",
            required=True,
        ),
        "order": Key(Integer(), "its place among the requests of the recording", required=True),
        "started_at": Key(_TIME, "when the request's head was whole"),
        "first_ms": Key(Integer(), "milliseconds to the first octet of the answer"),
        "ended_ms": Key(Integer(), "milliseconds to its last"),
        "take": Key(Text()),
        "scenario": Key(Text()),
        "request": Key(_REQUEST_MORE),
        "response": Key(_RESPONSE_MORE),
        "rights": Key(RightsTag(), "the tag, where it is not the cassette's"),
        "redactions": Key(
            Items(
                Record({name: Key(Text(), required=True) for name in ("at", "rule", "placeholder")}),
            ),
            "what was masked",
        ),
        "proposals": Key(
            Items(Record({"field": Key(Text(), required=True), "echoed": Key(Items(Text()), required=True)})),
            "bindings that `record` saw; none is applied",
        ),
    },
    open=True,
)
INTERACTION: Final = Record(
    {
        "request": Key(_REQUEST, required=True),
        "response": Key(_RESPONSE, required=True),
        "replayproxy": Key(_INTERACTION_MORE),
    },
    open=True,
)
_HEAD = Record(
    {
        "format": Key(OneOf((FORMAT,)), "number of this format", required=True),
        "name": Key(Text(), required=True),
        "recorded_at": Key(_TIME),
        "tool": Key(Text(), "who wrote it, with its version"),
        "note": Key(Text()),
        "rights": Key(RightsTag(), "the tag of every interaction without one of its own", required=True),
        "salt": Key(Text("(?:[0-9a-f]{2})*", "text of hex digits"), "what placeholders are made from"),
        "signature": Key(
            Record({"keyid": Key(Text(), required=True), "sig": Key(Text(), required=True)}),
            "of the digest, by the recorder's key",
        ),
        "digest": Key(
            Text("(?:[0-9a-f]{64})?", "text of 64 lower-case hex digits"),
            "SHA-256 of the content",
            required=True,
        ),
    },
    open=True,
)

CASSETTE: Final = Record(
    {
        "replayproxy": Key(_HEAD, "what VCR.py has no place for", required=True),
        "interactions": Key(Items(INTERACTION), required=True),
        "version": Key(
            OneOf((1,)), "VCR.py's format; the last key, so that a file that was cut off is seen", required=True
        ),
    },
    open=True,
)
"""A cassette of ours. `rights` is checked by core/rights.py, which has the vocabulary."""


def json_schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of a cassette file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"replayproxy/cassette-{FORMAT}",
        "title": "replayproxy cassette",
        **CASSETTE.schema(),
        "$defs": {"rights": TAG.schema()},
    }
