"""The record machine: decoded, masked, named, in this order."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from replayproxy.core.exchange import Blob, Body, Chunk, Headers, Origin, Redaction, Request, Response, interaction_id
from replayproxy.core.recorder import Observed, Recorder
from replayproxy.core.redaction import Redactor

SALT = "5a" * 16
GZIP: Headers = (("Content-Type", "application/json"), ("Content-Encoding", "gzip"))


def observed(
    headers: Headers = (),
    body: Body = b"",
    pieces: Sequence[tuple[bytes, int]] = (),
    *,
    target: str = "/",
    order: int = 0,
) -> Observed:
    """An exchange whose answer has those fields and octets."""
    request = Request(method="GET", origin=Origin.of("https", "api.test"), target=target, headers=())
    response = Response(status=200, headers=headers, body=body, framing="chunked" if pieces else "length")
    return Observed(
        order=order, request=request, response=response, pieces=pieces, started_us=7, first_ms=1, ended_ms=2, take="a"
    )


def recorder() -> Recorder:
    """A recorder with a fixed salt."""
    return Recorder(Redactor(SALT))


def test_content_coding_is_undone_and_remembered() -> None:
    """The stored body is readable; how it was coded is noted."""
    made = recorder().finish(observed(GZIP, gzip.compress(b'{"a": 1}', mtime=0)))
    assert made.response.body == b'{"a": 1}'
    assert made.response.coding is not None
    assert made.response.coding.names == ("gzip",)
    assert (made.started_us, made.first_ms, made.ended_ms, made.take) == (7, 1, 2, "a")


def test_octets_that_our_encoder_would_not_give_are_kept() -> None:
    """A digest over the coded octets must hold on replay."""
    packer = zlib.compressobj(level=1, wbits=-15)
    packed = packer.compress(b"hi there, hi there") + packer.flush()
    made = recorder().finish(observed((("Content-Encoding", "deflate"),), packed))
    assert made.response.body == b"hi there, hi there"
    assert made.response.coding is not None
    assert made.response.coding.coded == packed


def test_a_coding_that_is_not_there_is_left_as_it_came() -> None:
    """The claim does not hold: the octets are the body."""
    made = recorder().finish(observed(GZIP, b"not gzip"))
    assert (made.response.body, made.response.coding) == (b"not gzip", None)


@pytest.mark.parametrize(
    ("pieces", "chunks"),
    [
        ((), ()),
        (((b"abc", 3),), ()),
        (((b"ab", 1), (b"c", 4)), (Chunk(2, 1), Chunk(1, 4))),
    ],
)
def test_pieces_are_described_where_there_are_several(
    pieces: Sequence[tuple[bytes, int]], chunks: tuple[Chunk, ...]
) -> None:
    """One piece needs no description: it is what is replayed anyway."""
    body = b"".join(data for data, _ in pieces)
    assert recorder().finish(observed((), body, pieces)).response.chunks == chunks


@pytest.mark.parametrize("several", [True, False])
def test_pieces_of_a_coded_body_are_described_by_what_they_decode_to(several: bool) -> None:
    """Sizes add up to the decoded body, and to the coded one."""
    packed = gzip.compress(b"x" * 5000 + b"y" * 5000, mtime=0)
    pieces = [(packed[:20], 1), (packed[20:], 5)] if several else [(packed, 1)]
    made = recorder().finish(observed(GZIP, packed, pieces))
    assert sum(chunk.size for chunk in made.response.chunks) == (10_000 if several else 0)
    assert [chunk.coded for chunk in made.response.chunks] == ([20, len(packed) - 20] if several else [])


def test_secrets_are_masked_wherever_they_come_back() -> None:
    """What one answer issued is masked in the next request's URL too."""
    machine = recorder()
    secret = "tok_live_9f8e7d6c5b4a39281706f5e4"
    machine.finish(observed((("Content-Type", "application/json"),), b'{"access_token": "%b"}' % secret.encode()))
    later = machine.finish(observed(target=f"/files/{secret}", order=1))
    assert secret not in later.request.target
    assert later.redactions


@pytest.mark.parametrize("masks", [(), (Redaction(at="response.body", rule="token", placeholder="x"),)])
def test_a_body_in_a_file_is_described(masks: tuple[Redaction, ...]) -> None:
    """Its pieces are told by their sizes; a digest that masking has made untrue is gone."""
    blob = Blob("0" * 64, 9)
    digest = ("Content-Digest", "sha-256=:AAAA:")
    seen = replace(observed((digest,), blob), sizes=((4, 1), (5, 2)), masks=masks)
    made = recorder().finish(seen)
    assert made.response.body == blob
    assert made.response.chunks == (Chunk(4, 1), Chunk(5, 2))
    assert (digest in made.response.headers) is not bool(masks)
    assert made.redactions == masks
    assert recorder().finish(replace(seen, sizes=((9, 1),))).response.chunks == ()


def test_a_large_body_is_masked_by_the_same_machine() -> None:
    """What a stream teaches holds for what comes after."""
    machine = recorder()
    stream = machine.stream("api.test", "")
    octets = stream.feed(b'{"access_token": "tok-9f8e7d6c5b4a"}') + stream.finish()
    assert b"tok-9f8e7d6c5b4a" not in octets
    assert "tok-9f8e7d6c5b4a" not in machine.finish(observed(target="/files/tok-9f8e7d6c5b4a")).request.target


def test_ids_name_the_place_in_the_recording() -> None:
    """The same request twice has two ids, and the same recording the same ones."""
    first, second = (recorder().finish(observed(order=order)) for order in (0, 1))
    assert first.id == interaction_id(0, first.request) == recorder().finish(observed()).id
    assert first.id != second.id
    assert len(first.id) == 12
