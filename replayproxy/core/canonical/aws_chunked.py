"""The payload of aws-chunked bodies, without chunk sizes, signatures and trailers."""

from __future__ import annotations

import re

from replayproxy.core.exchange import Headers, header_values

_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})(?:;[^\r\n]*)?\r\n")


def is_aws_chunked(headers: Headers, codings: tuple[str, ...]) -> bool:
    """Whether a body with these HEADERS and CODINGS claims to be aws-chunked."""
    if "aws-chunked" in codings:
        return True
    return any(value.startswith("STREAMING-") for value in header_values(headers, "x-amz-content-sha256"))


def payload(body: bytes) -> bytes | None:
    """The payload of BODY, or None where the framing does not hold."""
    pieces: list[bytes] = []
    at = 0
    while (found := _CHUNK.match(body, at)) is not None:
        size = int(found[1], 16)
        if size == 0:
            return b"".join(pieces)
        at = found.end() + size
        if body[at : at + 2] != b"\r\n":
            return None
        pieces.append(body[found.end() : at])
        at += 2
    return None
