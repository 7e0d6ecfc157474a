"""Putting content codings on: deterministic, the same octets for the same input on every system."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Protocol

import brotli  # type: ignore[import-untyped]
import zstandard

from replayproxy.core.coding.decoding import ALIASES, CodingError

_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
_ZSTD_FLUSH_BLOCK: int = zstandard.COMPRESSOBJ_FLUSH_BLOCK


class _Encoder(Protocol):
    """One coding being put on, piece by piece; `flush` makes what was given so far readable."""

    def compress(self, data: bytes) -> bytes: ...

    def flush(self) -> bytes: ...

    def finish(self) -> bytes: ...


class _ZlibEncoder:
    """gzip or zlib at level 6. gzip's head is our own: no time, and the same system octet on every system."""

    def __init__(self, wbits: int) -> None:
        self._stream = zlib.compressobj(6, zlib.DEFLATED, wbits)
        self._head = _GZIP_HEAD if wbits < 0 else b""
        self._checked = wbits < 0
        self._crc = 0
        self._size = 0

    def compress(self, data: bytes) -> bytes:
        self._crc = zlib.crc32(data, self._crc)
        self._size += len(data)
        head, self._head = self._head, b""
        return head + self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        tail = self._stream.flush(zlib.Z_FINISH)
        if not self._checked:
            return tail
        return tail + self._crc.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little")


class _BrotliEncoder:
    """br at quality 5, where it costs no more than gzip."""

    def __init__(self) -> None:
        self._stream = brotli.Compressor(quality=5)

    def compress(self, data: bytes) -> bytes:
        return bytes(self._stream.process(data))

    def flush(self) -> bytes:
        return bytes(self._stream.flush())

    def finish(self) -> bytes:
        return bytes(self._stream.finish())


class _ZstdEncoder:
    """zstd at level 3, its library's own default; `size` of the body as some decoders need it, -1 if not known."""

    def __init__(self, size: int) -> None:
        self._stream = zstandard.ZstdCompressor(level=3).compressobj(size=size)

    def compress(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush(_ZSTD_FLUSH_BLOCK)

    def finish(self) -> bytes:
        return self._stream.flush()


ENCODERS: dict[str, Callable[[int], _Encoder]] = {
    "gzip": lambda _: _ZlibEncoder(-zlib.MAX_WBITS),
    "deflate": lambda _: _ZlibEncoder(zlib.MAX_WBITS),
    "br": lambda _: _BrotliEncoder(),
    "zstd": _ZstdEncoder,
}


def _encoder(name: str, size: int = -1) -> _Encoder:
    name = ALIASES.get(name.lower(), name.lower())
    if name not in ENCODERS:
        raise CodingError(f"no such content coding is known: {name}")
    return ENCODERS[name](size)


def encode(data: bytes, names: Sequence[str], *, whole: bool = True) -> bytes:
    """DATA under the codings NAMES, in that order; the same octets for the same input.

    A body that is not WHOLE can be decoded to its last octet, and then ends as one does that was cut off. Raises
    CodingError for a name that is not known.
    """
    for name in names:
        if name.lower() != "identity":
            encoder = _encoder(name, len(data) if whole else -1)
            data = encoder.compress(data) + (encoder.finish() if whole else encoder.flush())
    return data


def encode_pieces(pieces: Sequence[bytes], name: str) -> list[bytes]:
    """PIECES under one coding, each flushed so that a client can decode it as soon as it has it.

    As many pieces as were given (at least one); the last also ends the coding.
    """
    encoder = _encoder(name)
    coded = [encoder.compress(piece) + encoder.flush() for piece in pieces[:-1]]
    return [*coded, encoder.compress(b"".join(pieces[-1:])) + encoder.finish()]
