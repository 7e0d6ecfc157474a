"""What a client gets that takes other codings than the one that was recorded."""

from __future__ import annotations

import base64
import gzip
import hashlib
from itertools import pairwise

import brotli  # type: ignore[import-untyped]
import pytest

from replayproxy.core.coding import accepts, chunk_sizes, decode, encode, is_coded_digest, negotiate
from replayproxy.core.exchange import Blob, Chunk, Coding, Fault, Headers, Response, header

PLAIN = b'{"value":"' + b"v" * 200 + b'"}'
WIRE = gzip.compress(PLAIN, 9, mtime=1)
DIGEST = base64.b64encode(hashlib.sha256(WIRE).digest()).decode()
HEADERS = (
    ("Content-Type", "application/json"),
    ("content-encoding", "gzip"),
    ("Content-Length", str(len(WIRE))),
    ("ETag", '"1"'),
    ("Vary", "Accept-Encoding"),
    ("Content-Digest", f"sha-256=:{DIGEST}:"),
)


def recorded(
    body: bytes | Blob = PLAIN, headers: Headers = HEADERS, coding: Coding | None = None, chunks: tuple[Chunk, ...] = ()
) -> Response:
    """A response that was recorded under gzip."""
    return Response(
        status=200, headers=headers, body=body, coding=coding or Coding(names=("gzip",), coded=WIRE), chunks=chunks
    )


@pytest.mark.parametrize(
    ("field", "name", "taken"),
    [
        (None, "gzip", True),
        (None, "identity", True),
        ("", "gzip", False),
        ("", "identity", True),
        ("gzip, deflate, br", "gzip", True),
        ("GZIP", "gzip", True),
        ("x-gzip", "gzip", True),
        ("gzip", "x-gzip", True),
        ("gzip;q=0", "gzip", False),
        ("gzip; Q=0.000", "gzip", False),
        ("gzip;q=0.5", "gzip", True),
        ("gzip;q=0", "identity", True),
        ("br", "gzip", False),
        ("*", "gzip", True),
        ("*;q=0", "gzip", False),
        ("*;q=0", "identity", False),
        ("*;q=0, identity;q=0.1", "identity", True),
        ("gzip;q=0, *", "gzip", False),
        ("identity;q=0", "identity", False),
        ("gzip;q=nonsense, br", "gzip", False),
        ("gzip;level=1", "gzip", True),
        (" , ", "identity", True),
    ],
)
def test_what_a_client_takes(field: str | None, name: str, *, taken: bool) -> None:
    """Accept-Encoding as RFC 9110 section 12.5.3 reads it."""
    assert accepts(field, name) is taken


@pytest.mark.parametrize("field", [None, "gzip", "*", "br;q=1, gzip;q=0.1"])
def test_the_recorded_coding_is_preferred(field: str | None) -> None:
    """A client that takes the recorded coding gets the octets and fields of the wire."""
    sent = negotiate(recorded(), field)
    assert (sent.body, sent.headers, sent.coding) == (WIRE, HEADERS, None)


def test_our_own_coding_is_made_again() -> None:
    """Where no octets were kept, our encoder gives them."""
    wire = encode(PLAIN, ("gzip",))
    sent = negotiate(recorded(coding=Coding(names=("gzip",))), "gzip")
    assert sent.body == wire
    assert header(sent.headers, "content-length") == str(len(wire))


@pytest.mark.parametrize("field", ["identity", "gzip;q=0", "", "br"])
def test_else_the_body_goes_plain(field: str) -> None:
    """Without the coding, its field and digests of the coded octets go; ETag and Vary stay."""
    sent = negotiate(recorded(), field)
    assert sent.body == PLAIN
    assert sent.headers == (*HEADERS[:1], ("Content-Length", str(len(PLAIN))), *HEADERS[3:5])


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("identity;q=0, br;q=0.5, deflate;q=0.1", "br"),
        ("identity;q=0, zstd", "zstd"),
        ("*;q=0", ""),
        ("identity;q=0, gzip;q=0, *;q=0.5", "deflate"),
    ],
)
def test_a_client_that_refuses_plain_bodies(field: str, name: str) -> None:
    """It gets the coding that it likes best; where it takes none that we know, a plain body."""
    sent = negotiate(recorded(headers=(*HEADERS, ("Content-Encoding", "x"))), field)
    assert header(sent.headers, "content-encoding") == (name or None)
    assert sent.body == encode(PLAIN, (name,) if name else ())


def test_every_coding_must_be_taken() -> None:
    """Of two codings, one that the client does not take is one too many."""
    wire = gzip.compress(brotli.compress(PLAIN))
    response = recorded(coding=Coding(names=("br", "gzip"), coded=wire))
    assert negotiate(response, "gzip, br").body == wire
    assert negotiate(response, "gzip").body == PLAIN


@pytest.mark.parametrize(
    "response",
    [
        Response(status=200, headers=HEADERS, body=b"not gzip"),
        Response(status=304, headers=HEADERS),
        Response(status=200, headers=HEADERS, framing="none"),
        Response(status=200, body=b"plain"),
    ],
    ids=["claim does not hold", "304", "HEAD", "no coding"],
)
def test_what_was_not_decoded_goes_as_recorded(response: Response) -> None:
    """Without a coding that was undone there is nothing to negotiate."""
    assert negotiate(response, "identity") is response


def test_a_body_in_a_blob_must_be_read_first() -> None:
    """Octets that are not here cannot be coded."""
    with pytest.raises(TypeError, match="blob"):
        negotiate(recorded(Blob("0" * 64, 1)), "identity")


def test_a_cut_body_keeps_its_length_field() -> None:
    """A body that was cut off is shorter than it says; that stays so."""
    broken = Response(
        status=200,
        headers=HEADERS,
        body=PLAIN,
        coding=Coding(names=("gzip",), coded=WIRE),
        fault=Fault(kind="truncated", phase="body"),
    )
    assert header(negotiate(broken, "identity").headers, "content-length") == str(len(WIRE))


PIECES = (b"one, ", b"two, ", b"three")
STREAM = b"".join(PIECES)
CHUNKED = (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))


def stream(*, coded: bytes | None, sizes: tuple[int, ...] | None) -> Response:
    """A stream of three pieces, of `sizes` on the wire."""
    chunks = tuple(Chunk(len(p), 10 * n, sizes[n] if sizes else None) for n, p in enumerate(PIECES))
    return recorded(
        STREAM, CHUNKED, Coding(names=("gzip",), coded=coded), (*chunks, Chunk(0, 99, 0 if sizes else None))
    )


def test_the_pieces_of_the_wire() -> None:
    """The coded octets go in the pieces in which they came."""
    wire = gzip.compress(STREAM)
    sizes = (10, 20, len(wire) - 30)
    sent = negotiate(stream(coded=wire, sizes=sizes), "gzip")
    assert sent.body == wire
    assert [(chunk.size, chunk.at_ms, chunk.coded) for chunk in sent.chunks] == [
        *zip(sizes, (0, 10, 20), (None,) * 3, strict=True),
        (0, 99, None),
    ]


def test_pieces_that_do_not_fit_are_joined() -> None:
    """Sizes that do not add up describe nothing: the body goes as one piece."""
    assert negotiate(stream(coded=gzip.compress(STREAM), sizes=(1, 2, 3)), "gzip").chunks == ()


def test_the_pieces_of_a_plain_body() -> None:
    """A client without the coding gets the decoded pieces, and none that is empty."""
    sent = negotiate(stream(coded=gzip.compress(STREAM), sizes=(10, 20, 7)), "identity")
    assert sent.body == STREAM
    assert [(chunk.size, chunk.at_ms) for chunk in sent.chunks] == [(5, 0), (5, 10), (5, 20)]


def test_pieces_are_coded_apart() -> None:
    """Where the octets of the wire are gone, each piece is coded so that it can be read when it is there."""
    sent = negotiate(stream(coded=None, sizes=None), "gzip")
    assert isinstance(sent.body, bytes)
    assert decode(sent.body, ("gzip",)) == STREAM
    ends = [sum(chunk.size for chunk in sent.chunks[:n]) for n in range(4)]
    assert ends[-1] == len(sent.body)
    parts = [sent.body[a:b] for a, b in pairwise(ends)]
    assert chunk_sizes(parts, ("gzip",)) == (5, 5, 5)
    other = negotiate(stream(coded=gzip.compress(STREAM), sizes=(10, 20, 7)), "identity;q=0, br")
    assert [chunk.at_ms for chunk in other.chunks] == [0, 10, 20]
    assert isinstance(other.body, bytes)
    assert brotli.decompress(other.body) == STREAM


def test_pieces_under_two_codings_are_joined() -> None:
    """Several codings cannot be flushed through each other: one piece."""
    chunks = (Chunk(5, 0), Chunk(10, 10))
    response = recorded(STREAM, CHUNKED, Coding(names=("br", "gzip")), chunks)
    sent = negotiate(response, "br, gzip")
    assert sent.chunks == ()
    assert sent.body == encode(STREAM, ("br", "gzip"))


def test_pieces_that_are_too_few_lose_nothing() -> None:
    """What no piece claims goes with the last."""
    response = recorded(STREAM, CHUNKED, Coding(names=("gzip",)), (Chunk(5, 0), Chunk(5, 10)))
    sent = negotiate(response, "gzip")
    assert isinstance(sent.body, bytes)
    assert decode(sent.body, ("gzip",)) == STREAM


@pytest.mark.parametrize(
    ("name", "coded"),
    [
        ("Content-MD5", True),
        ("DIGEST", True),
        ("repr-digest", True),
        ("x-amz-checksum-crc32c", True),
        ("x-goog-hash", True),
        ("ETag", False),
        ("x-amz-content-sha256", False),
    ],
)
def test_digests_of_what_is_sent(name: str, *, coded: bool) -> None:
    """Which fields no longer hold when other octets are sent."""
    assert is_coded_digest(name) is coded
