"""Digests of a body that a message carries, kept true when the body changes.

What can be computed from the octets is computed anew (RFC 9530, RFC 1864, and vendors' checksums); a digest of
another kind is dropped, as a client would refuse the message for it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable

from replayproxy.core.coding import is_coded_digest
from replayproxy.core.exchange import Headers

_HASHES: dict[str, Callable[[bytes], bytes]] = {
    "sha-512": lambda octets: hashlib.sha512(octets).digest(),
    "sha-256": lambda octets: hashlib.sha256(octets).digest(),
    "sha": lambda octets: hashlib.sha1(octets, usedforsecurity=False).digest(),
    "md5": lambda octets: hashlib.md5(octets, usedforsecurity=False).digest(),
    "sha256": lambda octets: hashlib.sha256(octets).digest(),
    "sha1": lambda octets: hashlib.sha1(octets, usedforsecurity=False).digest(),
    "crc32": lambda octets: zlib.crc32(octets).to_bytes(4),
}
_MEMBER = re.compile(r"([A-Za-z0-9-]+)=(:?)([A-Za-z0-9+/=]+)(:?)")
_CHECKSUM = "x-amz-checksum-"


def refreshed(headers: Headers, octets: bytes | None) -> Headers:
    """HEADERS with the digests of OCTETS, the body as it is sent; without them where the octets are not known."""
    kept: list[tuple[str, str]] = []
    for name, value in headers:
        if not is_coded_digest(name):
            kept.append((name, value))
            continue
        made = None if octets is None else _digest(name.lower(), value, octets)
        if made is not None:
            kept.append((name, made))
    return tuple(kept)


def _digest(name: str, value: str, octets: bytes) -> str | None:
    """The value of the digest field NAME for OCTETS, in the manner of the old VALUE."""
    if name == "content-md5":
        return _base64("md5", octets)
    if name.startswith(_CHECKSUM):
        algorithm = name.removeprefix(_CHECKSUM)
        return _base64(algorithm, octets) if algorithm in _HASHES else None
    members = [match.groups() for match in _MEMBER.finditer(value)]
    made = [
        f"{algorithm}={opening}{_base64(algorithm.lower(), octets)}{closing}"
        for algorithm, opening, _, closing in members
        if algorithm.lower() in _HASHES
    ]
    return ", ".join(made) if made else None


def _base64(algorithm: str, octets: bytes) -> str:
    return base64.b64encode(_HASHES[algorithm](octets)).decode("ascii")
