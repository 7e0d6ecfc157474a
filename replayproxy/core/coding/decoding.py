"""Taking content codings off: gzip, deflate (RFC 1950, and the raw RFC 1951 some servers send), br, zstd.

Every call is bounded: a body that grows past its limit is refused, whatever it claims.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Protocol

import brotli  # type: ignore[import-untyped]
import zstandard

MAX_DECODED = 1 << 28
"""How many octets a body may have once decoded, unless the caller says otherwise: 256 MiB."""

ALIASES = {"x-gzip": "gzip"}
"""Old names of codings (RFC 9110 section 8.4.1.3)."""

_ZSTD_WINDOW = 1 << 27
_SLICE = 1 << 12
_STEP = 1 << 18


class CodingError(ValueError):
    """A body is not coded as its fields claim, the coding is not known, or it grows past the limit."""


class _Decoder(Protocol):
    """One coding being taken off, piece by piece."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """What DATA adds to the decoded body; CodingError where that is over LIMIT octets or not coded so."""

    def close(self) -> None:
        """Raises CodingError where the coded body is not at its end."""


class _Member(Protocol):
    """A decompressor of one gzip member or zstd frame."""

    @property
    def unused_data(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Gzip:
    """gzip: one member or several (RFC 1952 section 2.2)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(31)
        self._begun = False

    def feed(self, data: bytes, limit: int) -> bytes:
        out = bytearray()
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(31)
            self._begun = True
            out += self._member.decompress(data, limit - len(out) + 1)
            _check(len(out), limit)
            data = self._member.unused_data
        return bytes(out)

    def close(self) -> None:
        if not self._begun or not self._member.eof:
            raise CodingError("the gzip body ends early")


class _Deflate:
    """deflate: a zlib stream, or the raw one; the first two octets tell (RFC 1950 section 2.2)."""

    def __init__(self) -> None:
        self._head = b""
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes, limit: int) -> bytes:
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return b""
            data = self._head
            wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        out = self._stream.decompress(data, limit + 1) if data else b""
        _check(len(out), limit)
        if self._stream.unused_data:
            raise CodingError("octets follow the deflate body")
        return out

    def close(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise CodingError("the deflate body ends early")


class _Brotli:
    """br (RFC 7932)."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def feed(self, data: bytes, limit: int) -> bytes:
        if not data:
            return b""
        step = min(limit + 1, _STEP)
        out = bytearray(self._stream.process(data, output_buffer_limit=step))
        # It holds back what is over the limit of one call, even if it says that it takes more.
        while len(out) <= limit and not self._stream.is_finished():
            more = self._stream.process(b"", output_buffer_limit=step)
            if not more:
                break
            out += more
        _check(len(out), limit)
        return bytes(out)

    def close(self) -> None:
        if not self._stream.is_finished():
            raise CodingError("the br body ends early")


class _Zstd:
    """zstd: one frame or several (RFC 8878 section 3.1); fed in slices, its library having no limit."""

    def __init__(self) -> None:
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame: _Member = self._decompressor.decompressobj()
        self._begun = False

    def feed(self, data: bytes, limit: int) -> bytes:
        out = bytearray()
        for start in range(0, len(data), _SLICE):
            rest = data[start : start + _SLICE]
            while rest:
                if self._frame.eof:
                    self._frame = self._decompressor.decompressobj()
                self._begun = True
                out += self._frame.decompress(rest)
                _check(len(out), limit)
                rest = self._frame.unused_data
        return bytes(out)

    def close(self) -> None:
        if not self._begun or not self._frame.eof:
            raise CodingError("the zstd body ends early")


def _check(size: int, limit: int) -> None:
    if size > limit:
        raise CodingError(f"the decoded body is larger than {limit} octets")


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


class _Chain:
    """Several codings being taken off at once, the last applied first."""

    def __init__(self, names: Sequence[str], limit: int) -> None:
        try:
            self._decoders = [_DECODERS[ALIASES.get(name, name)]() for name in _known(names)]
        except KeyError as error:
            raise CodingError(f"no such content coding is known: {error.args[0]}") from None
        self._room = limit

    def feed(self, data: bytes) -> bytes:
        """What DATA adds to the decoded body."""
        try:
            for decoder in self._decoders:
                data = decoder.feed(data, self._room)
        except (zlib.error, brotli.error, zstandard.ZstdError) as error:
            raise CodingError(f"the body is not coded as claimed: {error}") from error
        self._room -= len(data)
        return data

    def close(self) -> None:
        """Raises CodingError where the body is not at its end."""
        for decoder in self._decoders:
            decoder.close()


def _known(names: Sequence[str]) -> list[str]:
    return [name for name in map(str.lower, reversed(names)) if name != "identity"]


def decode(data: bytes, names: Sequence[str], limit: int = MAX_DECODED) -> bytes:
    """DATA without the codings NAMES (in the order they were applied).

    Raises CodingError where DATA is not coded so from its first octet to its last, where a name is not
    known, and where any stage grows past LIMIT octets.
    """
    chain = _Chain(names, limit)
    body = chain.feed(data)
    chain.close()
    return body


def decode_prefix(data: bytes, names: Sequence[str], limit: int = MAX_DECODED) -> bytes:
    """As much of a cut-off or damaged body as can be decoded; empty where nothing can."""
    try:
        chain = _Chain(names, limit)
    except CodingError:
        return b""
    out = bytearray()
    try:
        for start in range(0, len(data), 64):
            out += chain.feed(data[start : start + 64])
    except CodingError:
        return bytes(out)
    return bytes(out)


def chunk_sizes(pieces: Sequence[bytes], names: Sequence[str], limit: int = MAX_DECODED) -> tuple[int, ...]:
    """How many octets of the decoded body each of PIECES brings; their sum is the decoded body's size.

    Raises CodingError as `decode` does.
    """
    chain = _Chain(names, limit)
    sizes = tuple(len(chain.feed(piece)) for piece in pieces)
    chain.close()
    return sizes
