"""Bodies: readable text where they are text, `!!binary` where not, a file of their own where large."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

from replayproxy.core.exchange import Blob, Body

LARGEST_TEXT: Final = 64 * 1024
LARGEST_BINARY: Final = 4 * 1024

_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""Control characters: octets that hold them are valid UTF-8 by chance, and no one reads them."""


def text_of(body: bytes) -> str | None:
    """BODY as the text that stands for exactly these octets, or None where it is better kept binary."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if _NOT_TEXT.search(text) else text


class BodyStore:
    """Turns bodies into YAML values and gathers the octets that belong into files of their own."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def value(self, body: Body) -> str | bytes | Blob:
        """What stands for BODY: text, octets, or a blob, whose octets are then in `blobs`."""
        if isinstance(body, Blob):
            return body
        if len(body) > LARGEST_TEXT:  # whatever it is; asking would decode all of it
            return self._blob(body)
        text = text_of(body)
        return self.binary(body) if text is None else text

    def binary(self, body: Body) -> bytes | Blob:
        """What stands for octets that are never text."""
        if isinstance(body, Blob) or len(body) <= LARGEST_BINARY:
            return body
        return self._blob(body)

    def _blob(self, body: bytes) -> Blob:
        digest = hashlib.sha256(body).hexdigest()
        self.blobs[digest] = body
        return Blob(digest, len(body))


class InlineBodies(BodyStore):
    """Keeps every body that is in memory in its place, however large."""

    def value(self, body: Body) -> str | bytes | Blob:
        """What stands for BODY: text, octets, or the blob that it is already."""
        if isinstance(body, Blob):
            return body
        text = text_of(body)
        return body if text is None else text

    def binary(self, body: Body) -> bytes | Blob:
        """What stands for octets that are never text."""
        return body


def blob_value(blob: Blob) -> dict[str, Any]:
    """BLOB as the file says it."""
    return {"blob": blob.sha256, "size": blob.size}


def body_of(value: Any) -> Body:
    """The body for a checked VALUE of the file: text, octets, null, or a blob."""
    if isinstance(value, dict):
        return Blob(value["blob"], value["size"])
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()
