"""What a field claims, and whether the body bears it out."""

from __future__ import annotations

import gzip
import zlib

import pytest

from replayproxy.core.coding import content_codings, encode, undo
from replayproxy.core.exchange import Coding, Headers

PLAIN = b"hi there, hi there"


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        ((), ()),
        ((("Content-Encoding", "gzip"),), ("gzip",)),
        ((("content-encoding", "BR , gzip"),), ("br", "gzip")),
        ((("Content-Encoding", "br"), ("X", "y"), ("Content-Encoding", "gzip")), ("br", "gzip")),
        ((("Content-Encoding", "identity, ,"),), ()),
        ((("Accept-Encoding", "gzip"),), ()),
    ],
)
def test_what_is_claimed(headers: Headers, names: tuple[str, ...]) -> None:
    """Names in the order of application, over repeated fields, without `identity`."""
    assert content_codings(headers) == names


@pytest.mark.parametrize("level", [1, 6, 9])
@pytest.mark.parametrize("wbits", [31, 15, -15], ids=["gzip", "zlib", "raw"])
def test_the_octets_of_the_wire_come_back(level: int, wbits: int) -> None:
    """What is kept, or else our own coding of the body, is what was on the wire."""
    packer = zlib.compressobj(level, zlib.DEFLATED, wbits)
    wire = packer.compress(PLAIN) + packer.flush()
    name = "gzip" if wbits == 31 else "deflate"
    body, held = undo((("Content-Encoding", name),), wire)
    assert body == PLAIN
    assert held is not None
    assert held.names == (name,)
    assert (encode(body, held.names) if held.coded is None else held.coded) == wire


def test_our_own_coding_needs_no_copy() -> None:
    """A body that our encoder would give again is kept once."""
    wire = encode(PLAIN, ("gzip",))
    assert undo((("Content-Encoding", "gzip"),), wire) == (PLAIN, Coding(names=("gzip",)))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ((), gzip.compress(PLAIN)),
        ((("Content-Encoding", "gzip"),), b""),
        ((("Content-Encoding", "gzip"),), b"not gzip"),
        ((("Content-Encoding", "aws-chunked"),), b"5\r\nhello\r\n0\r\n\r\n"),
        ((("Content-Encoding", "identity"),), PLAIN),
    ],
    ids=["none claimed", "no body", "not so", "framing", "identity"],
)
def test_else_the_body_stays(headers: Headers, body: bytes) -> None:
    """Nothing is undone where nothing is claimed, nothing is there, or the claim does not hold."""
    assert undo(headers, body) == (body, None)
