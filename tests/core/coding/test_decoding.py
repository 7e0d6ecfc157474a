"""Content codings taken off: every coding, whole or octet by octet, and nothing that only claims to be one."""

from __future__ import annotations

import gzip
import zlib

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.coding import CodingError, chunk_sizes, decode, decode_prefix, encode

PLAIN = b'{"value": "' + b"v" * 500 + b'"}'
RAW = zlib.compressobj(wbits=-zlib.MAX_WBITS)
CODED = {
    "gzip": (gzip.compress(PLAIN, mtime=0), ("gzip",)),
    "x-gzip": (gzip.compress(PLAIN), ("x-gzip",)),
    "gzip-of-two-members": (gzip.compress(PLAIN[:100]) + gzip.compress(PLAIN[100:]), ("gzip",)),
    "zlib": (zlib.compress(PLAIN), ("deflate",)),
    "raw-deflate": (RAW.compress(PLAIN) + RAW.flush(), ("deflate",)),
    "br": (brotli.compress(PLAIN), ("br",)),
    "zstd": (zstandard.compress(PLAIN), ("zstd",)),
    "zstd-of-two-frames": (zstandard.compress(PLAIN[:9]) + zstandard.compress(PLAIN[9:]), ("zstd",)),
    "upper-case": (gzip.compress(PLAIN), ("GZIP",)),
    "identity": (PLAIN, ("identity",)),
    "none": (PLAIN, ()),
    "two": (gzip.compress(brotli.compress(PLAIN)), ("br", "gzip")),
}
NAMES = ("gzip", "deflate", "br", "zstd")


@pytest.mark.parametrize(("coded", "names"), CODED.values(), ids=CODED)
def test_every_coding_is_taken_off(coded: bytes, names: tuple[str, ...]) -> None:
    """A body under known codings decodes to what was coded, whole and octet by octet."""
    assert decode(coded, names) == PLAIN
    assert sum(chunk_sizes([coded[at : at + 1] for at in range(len(coded))], names)) == len(PLAIN)
    assert decode_prefix(coded, names) == PLAIN


BROKEN = {
    "plain under gzip": (b"not gzip", "gzip"),
    "plain under deflate": (b"\xff\xffnot deflate", "deflate"),
    "plain under br": (b"\xff\xff\xff\xffnot brotli", "br"),
    "plain under zstd": (b"not zstd", "zstd"),
    "one octet of deflate": (b"x", "deflate"),
    "nothing under gzip": (b"", "gzip"),
    "nothing under deflate": (b"", "deflate"),
    "nothing under br": (b"", "br"),
    "nothing under zstd": (b"", "zstd"),
    "octets after gzip": (gzip.compress(PLAIN) + b"more", "gzip"),
    "octets after deflate": (zlib.compress(PLAIN) + b"more", "deflate"),
    "octets after br": (brotli.compress(PLAIN) + b"more", "br"),
    "octets after zstd": (zstandard.compress(PLAIN) + b"more", "zstd"),
    "an unknown coding": (PLAIN, "compress"),
    "aws-chunked is framing": (PLAIN, "aws-chunked"),
}


@pytest.mark.parametrize(("body", "name"), BROKEN.values(), ids=BROKEN)
def test_a_claim_that_does_not_hold_is_told(body: bytes, name: str) -> None:
    """What is not coded as claimed, from the first octet to the last, is a CodingError."""
    with pytest.raises(CodingError):
        decode(body, (name,))
    with pytest.raises(CodingError):
        chunk_sizes([body], (name,))


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_body_is_told_and_its_beginning_can_be_read(name: str) -> None:
    """A body that was cut off does not decode; what was before the cut does."""
    text = bytes(range(256)) * 8
    whole = encode(text, (name,))
    with pytest.raises(CodingError):
        decode(whole[:-3], (name,))
    assert text.startswith(decode_prefix(whole[:-3], (name,)))
    assert decode_prefix(encode(text, (name,), whole=False), (name,)) == text
    assert decode_prefix(b"\x00\x01\x02 no coding", (name,)) in (b"", b"\x02 no coding")
    assert decode_prefix(text, ("compress",)) == b""


@pytest.mark.parametrize("name", NAMES)
def test_a_bomb_is_refused(name: str) -> None:
    """A body that grows past the limit is refused as soon as it does; one that just fits is not."""
    bomb = encode(bytes(1_000_000), (name,))
    assert len(decode(bomb, (name,), 1_000_000)) == 1_000_000
    for limit in (999_999, 1000, 0):
        with pytest.raises(CodingError, match="larger"):
            decode(bomb, (name,), limit)
    assert len(decode_prefix(bomb, (name,), 1000)) <= 1000


def test_sizes_are_those_of_the_pieces() -> None:
    """Each piece counts the octets that can be read once it is there."""
    packer = zlib.compressobj(wbits=31)
    pieces = [packer.compress(word) + packer.flush(zlib.Z_SYNC_FLUSH) for word in (b"one", b"three", b"")]
    pieces.append(packer.flush())
    assert chunk_sizes(pieces, ("gzip",)) == (3, 5, 0, 0)
    assert chunk_sizes([b"", b"ab"], ()) == (0, 2)
    halves = brotli.compress(b"hello")
    assert chunk_sizes([halves[:1], b"", halves[1:]], ("br",)) == (0, 0, 5)


@settings(max_examples=40)
@given(st.binary(max_size=300), st.lists(st.sampled_from(NAMES), max_size=3), st.integers(1, 50))
def test_coding_and_back(body: bytes, names: list[str], size: int) -> None:
    """decode(encode(x)) is x under any sequence of codings, in pieces of any size."""
    coded = encode(body, names)
    assert decode(coded, names) == body
    pieces = [coded[at : at + size] for at in range(0, len(coded), size)]
    assert sum(chunk_sizes(pieces, names)) == len(body)


@settings(max_examples=40)
@given(st.binary(max_size=200), st.sampled_from(NAMES))
def test_any_octets_are_decoded_or_refused(body: bytes, name: str) -> None:
    """Octets of a stranger raise CodingError or decode; nothing else escapes."""
    try:
        decode(body, (name,), 10_000)
    except CodingError:
        assert isinstance(decode_prefix(body, (name,), 10_000), bytes)
