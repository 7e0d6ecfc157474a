"""Content codings (RFC 9110 section 8.4): off before anything reads a body, on again for a client.

What a field claims and the octets do not bear out is left as it was sent. Bounded in memory.
"""

from __future__ import annotations

from replayproxy.core.coding.decoding import MAX_DECODED, CodingError, chunk_sizes, decode, decode_prefix
from replayproxy.core.coding.encoding import encode, encode_pieces
from replayproxy.core.coding.negotiation import accepts, is_coded_digest, negotiate
from replayproxy.core.exchange import Coding, Headers, header_values

__all__ = [
    "MAX_DECODED",
    "CodingError",
    "accepts",
    "chunk_sizes",
    "content_codings",
    "decode",
    "decode_prefix",
    "encode",
    "encode_pieces",
    "is_coded_digest",
    "negotiate",
    "undo",
]


def content_codings(headers: Headers) -> tuple[str, ...]:
    """The codings that HEADERS claim, in the order they were applied, lower case, `identity` left out."""
    joined = ",".join(header_values(headers, "content-encoding"))
    names = (name.strip().lower() for name in joined.split(","))
    return tuple(name for name in names if name not in ("", "identity"))


def undo(headers: Headers, body: bytes) -> tuple[bytes, Coding | None]:
    """BODY without the coding that HEADERS claim, and what has to be kept to give the same octets again.

    Where nothing is claimed, nothing is there (HEAD, 204, 304), or the claim does not hold: BODY and None.
    """
    names = content_codings(headers)
    if not names or not body:
        return body, None
    try:
        plain = decode(body, names)
    except CodingError:
        return body, None
    return plain, Coding(names=names, coded=None if encode(plain, names) == body else body)
