"""What is sent to a client that may take other codings than the one that was recorded (RFC 9110 12.5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from replayproxy.core.coding.decoding import ALIASES
from replayproxy.core.coding.encoding import ENCODERS, encode, encode_pieces
from replayproxy.core.exchange import Body, Chunk, Coding, Headers, Response

CODED_DIGESTS = ("content-digest", "content-md5", "digest", "repr-digest", "x-goog-hash")
"""Fields that hold a digest of the octets that are sent, content coding included (RFC 9530, RFC 1864)."""

CHECKSUM_PREFIX = "x-amz-checksum-"


def weights(accept_encoding: str) -> dict[str, float]:
    """The weight of each coding that an Accept-Encoding field names (RFC 9110 12.5.3), names lower case.

    A member whose weight is malformed says nothing.
    """
    found: dict[str, float] = {}
    for member in accept_encoding.split(","):
        name, *parameters = (part.strip().lower() for part in member.split(";"))
        weight = next((value for key, _, value in (p.partition("=") for p in parameters) if key == "q"), "1")
        try:
            found[ALIASES.get(name, name)] = min(max(float(weight), 0.0), 1.0)
        except ValueError:
            continue
    found.pop("", None)
    return found


def accepts(accept_encoding: str | None, name: str) -> bool:
    """Whether a client that sent this Accept-Encoding takes a body under the coding NAME (or `identity`).

    Without the field anything is taken; an empty one takes only `identity` (RFC 9110 section 12.5.3).
    """
    if accept_encoding is None:
        return True
    offered = weights(accept_encoding)
    name = ALIASES.get(name.lower(), name.lower())
    if name in offered:
        return offered[name] > 0
    return offered["*"] > 0 if "*" in offered else name == "identity"


def negotiate(response: Response, accept_encoding: str | None) -> Response:
    """RESPONSE as it is sent to a client with this Accept-Encoding.

    `body` are the octets to send (its blobs must have been read), `headers` and `chunks` describe them, and
    `coding` is None. The recorded coding is used where the client takes it, else none, else (identity;q=0)
    the one it likes best; where it takes nothing that we know the body goes uncoded. A claim that did not
    hold goes as recorded.
    """
    if response.coding is None:
        return response
    names = response.coding.names
    if all(accepts(accept_encoding, name) for name in names):
        return _under_recorded(response, response.coding)
    other = () if accepts(accept_encoding, "identity") else _best(weights(accept_encoding or ""))
    plain = _octets(response.body)
    sizes = tuple(replace(chunk, coded=None) for chunk in response.chunks if chunk.size)
    headers = _recoded_headers(response.headers, other)
    uncoded = replace(response, body=plain, headers=headers, coding=None, chunks=sizes)
    return _put_on(uncoded, other) if other else _sized(uncoded)


def _under_recorded(response: Response, coding: Coding) -> Response:
    """RESPONSE in its recorded coding: the octets of the wire where we have them."""
    plain = _octets(response.body)
    if coding.coded is not None:
        octets = _octets(coding.coded)
    elif response.chunks and not _describes_wire(response.chunks):
        return _put_on(replace(response, coding=None), coding.names)
    else:
        octets = encode(plain, coding.names)
    chunks = tuple(Chunk(chunk.coded or 0, chunk.at_ms) for chunk in response.chunks)
    exact = _describes_wire(response.chunks) and sum(chunk.size for chunk in chunks) == len(octets)
    return _sized(replace(response, body=octets, coding=None, chunks=chunks if exact else ()))


def _put_on(response: Response, names: tuple[str, ...]) -> Response:
    """RESPONSE, uncoded, coded anew; its pieces stay apart under one coding, and become one under several."""
    plain = _octets(response.body)
    if len(names) > 1 or not response.chunks:
        return _sized(replace(response, body=encode(plain, names), chunks=()))
    pieces, at = [], 0
    chunks = tuple(chunk for chunk in response.chunks if chunk.size)
    for chunk in chunks:
        pieces.append(plain[at : at + chunk.size])
        at += chunk.size
    coded = encode_pieces([*pieces[:-1], b"".join([*pieces[-1:], plain[at:]])], names[0])
    sizes = tuple(Chunk(len(piece), chunk.at_ms) for piece, chunk in zip(coded, chunks, strict=False))
    return _sized(replace(response, body=b"".join(coded), chunks=sizes))


def _describes_wire(chunks: Sequence[Chunk]) -> bool:
    return bool(chunks) and all(chunk.coded is not None for chunk in chunks)


def _best(offered: dict[str, float]) -> tuple[str, ...]:
    """The known coding that the client likes best; names in our own order where it likes them equally."""
    wanted = {name: offered.get(name, offered.get("*", 0.0)) for name in ENCODERS}
    best = max(wanted, key=lambda name: wanted[name])
    return (best,) if wanted[best] > 0 else ()


def _octets(body: Body) -> bytes:
    if not isinstance(body, bytes):
        raise TypeError("a body in a blob must be read before it is coded")
    return body


def is_coded_digest(name: str) -> bool:
    """Whether the field NAME holds a digest of the octets that are sent."""
    name = name.lower()
    return name in CODED_DIGESTS or name.startswith(CHECKSUM_PREFIX)


def _recoded_headers(headers: Headers, names: tuple[str, ...]) -> Headers:
    """HEADERS of a body that goes under NAMES instead of its recorded coding; digests of it are gone."""
    kept: list[tuple[str, str]] = []
    told = False
    for name, value in headers:
        if name.lower() == "content-encoding":
            if names and not told:
                kept.append((name, ", ".join(names)))
            told = True
        elif not is_coded_digest(name):
            kept.append((name, value))
    return tuple(kept)


def _sized(response: Response) -> Response:
    """RESPONSE with a Content-Length that is the body's size, where it has one and is whole."""
    if response.fault is not None:
        return response
    length = str(len(_octets(response.body)))
    headers = tuple((name, length if name.lower() == "content-length" else value) for name, value in response.headers)
    return replace(response, headers=headers)
