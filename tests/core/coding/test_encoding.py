"""Content codings put on: deterministic, and in pieces that a client can read one by one."""

from __future__ import annotations

import gzip
import zlib

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.coding import CodingError, chunk_sizes, decode, encode, encode_pieces

PLAIN = b"hello, hello, hello"
READERS = {
    "gzip": gzip.decompress,
    "x-gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "br": brotli.decompress,
    "zstd": zstandard.decompress,
}


@pytest.mark.parametrize("name", READERS)
def test_others_can_read_it(name: str) -> None:
    """Other decoders read what we code, and the same input gives the same octets."""
    coded = encode(PLAIN, (name,))
    assert READERS[name](coded) == PLAIN
    assert coded == encode(PLAIN, (name.upper(),))


def test_the_octets_of_gzip() -> None:
    """gzip's head has no time and one system octet, so that every system gives the same octets."""
    assert encode(b"", ("gzip",)).hex() == "1f8b080000000000000303000000000000000000"


def test_identity_and_order() -> None:
    """`identity` does nothing; the first name is applied first."""
    assert encode(PLAIN, ("identity",)) == encode(PLAIN, ()) == PLAIN
    assert brotli.decompress(gzip.decompress(encode(PLAIN, ("br", "gzip")))) == PLAIN


@pytest.mark.parametrize("names", [("compress",), ("gzip", "aws-chunked")])
def test_an_unknown_coding_is_told(names: tuple[str, ...]) -> None:
    """A coding that is not known cannot be put on."""
    with pytest.raises(CodingError, match=names[-1]):
        encode(PLAIN, names)


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=40), max_size=5), st.sampled_from(sorted(READERS)))
def test_pieces_can_be_read_one_by_one(pieces: list[bytes], name: str) -> None:
    """As many pieces as were given, each readable when it is there; together they are the body."""
    coded = encode_pieces(pieces, name)
    assert len(coded) == max(len(pieces), 1)
    assert decode(b"".join(coded), (name,)) == b"".join(pieces)
    assert chunk_sizes(coded, (name,)) == (tuple(map(len, pieces)) or (0,))
