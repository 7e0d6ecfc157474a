"""The body of an HTTP/1 request out of octets that arrive in any pieces (RFC 9112 sections 6 and 7).

The parser of heads is kept out of bodies: it does not say where a message ends in its input, reads no body behind
`Connection: upgrade`, and sets no bound to chunk extensions.
"""

from __future__ import annotations

import re
from typing import Protocol

from replayproxy.wire.fault import ClientError
from replayproxy.wire.head import TRAILER_START, HeadReader, RawFields
from replayproxy.wire.limits import Limits

LONGEST_SIZE_LINE = 4_096
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})([ \t]*;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_BEGUN_SIZE_LINE = re.compile(rb"[0-9A-Fa-f]{0,16}|[0-9A-Fa-f]{1,16}(\r|[ \t]+|[ \t]*;[\t\x20-\x7e\x80-\xff]*\r?)")


class BodyReader(Protocol):
    """Takes octets until the body is whole."""

    @property
    def trailers(self) -> RawFields:
        """The trailer section, once the body is whole."""
        ...

    def feed(self, data: bytes, pieces: list[bytes]) -> bytes | None:
        """Appends the body's octets in DATA to PIECES; what is behind the body once it is whole, else None.

        Raises ClientError; what came before the fault is in PIECES then.
        """
        ...


class LengthBody:
    """A body of LENGTH octets, at least 1."""

    __slots__ = ("_left", "trailers")

    def __init__(self, length: int) -> None:
        self._left = length
        self.trailers: RawFields = []

    def feed(self, data: bytes, pieces: list[bytes]) -> bytes | None:
        """See `BodyReader.feed`."""
        if len(data) < self._left:
            self._left -= len(data)
            pieces.append(data)
            return None
        pieces.append(data[: self._left])
        return data[self._left :]


class ChunkedBody:
    """A body in chunks; their boundaries are not told."""

    __slots__ = ("_extensions", "_left", "_limits", "_line", "_line_end", "_size", "_trailer_reader", "trailers")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line = bytearray()
        self._line_end = False
        self._left = 0
        self._size = 0
        self._extensions = 0
        self._trailer_reader: HeadReader | None = None
        self.trailers: RawFields = []

    def feed(self, data: bytes, pieces: list[bytes]) -> bytes | None:
        """See `BodyReader.feed`."""
        at = 0
        while at < len(data):
            if self._trailer_reader is not None:
                return self._read_trailers(self._trailer_reader, data[at:])
            if self._left:
                pieces.append(data[at : at + self._left])
                at += len(pieces[-1])
                self._left -= len(pieces[-1])
                self._line_end = not self._left
            else:
                at = self._read_line(data, at)
        return None

    def _read_line(self, data: bytes, at: int) -> int:
        """Reads up to the end of a chunk-size line, or of the line end behind a chunk's octets."""
        stop = data.find(b"\n", at) + 1 or len(data)
        self._line += data[at:stop]
        if self._line_end:
            self._read_line_end()
        elif match := _SIZE_LINE.fullmatch(self._line):
            self._begin_chunk(int(match[1], 16), len(match[2] or b""))
        elif len(self._line) > LONGEST_SIZE_LINE or not _BEGUN_SIZE_LINE.fullmatch(self._line):
            raise ClientError(400, "a chunk of the request body has no valid size")
        return stop

    def _read_line_end(self) -> None:
        if not b"\r\n".startswith(self._line):
            raise ClientError(400, "a chunk of the request body is longer than its size")
        if len(self._line) == 2:
            self._line.clear()
            self._line_end = False

    def _begin_chunk(self, size: int, extension: int) -> None:
        self._line.clear()
        self._left = size
        self._size += size
        self._extensions += extension
        most = self._limits.body_octets
        if most is not None and self._size > most:
            raise ClientError(413, f"the request body is longer than {most} octets")
        if self._extensions > self._limits.chunk_extension_octets:
            raise ClientError(400, f"chunk extensions are longer than {self._limits.chunk_extension_octets} octets")
        if not size:
            self._trailer_reader = HeadReader(self._limits, TRAILER_START, self._limits.trailer_octets)

    def _read_trailers(self, reader: HeadReader, data: bytes) -> bytes | None:
        rest = reader.feed(data)
        if rest is not None:
            self.trailers = reader.fields
        return rest
