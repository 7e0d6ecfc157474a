"""Whole messages: what describes a body is true again after it was masked."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from replayproxy.core import coding
from replayproxy.core.exchange import Blob, Chunk, Coding, Fault, Interim, Origin, Request, Response, header
from replayproxy.core.provider import RedactRule
from replayproxy.core.redaction.edits import Edit, Mask
from replayproxy.core.redaction.message import ROUNDS, Notes, redacted_request, redacted_response
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.text import Search
from replayproxy.core.redaction.vault import Vault

SALT = "cd" * 16
SECRET = "AT-live-0001"
STANDS = placeholder(SALT, SECRET)
PLAIN = json.dumps({"access_token": SECRET, "more": "v" * 200}).encode()
MASKED = PLAIN.replace(SECRET.encode(), STANDS.encode())
JSON = ("Content-Type", "application/json")
GZIP = ("Content-Encoding", "gzip")
QUIET = b'{"value": 1}'


def search(*rules: RedactRule) -> Search:
    """A search that knows nothing yet."""
    return Search(Vault(SALT), rules)


def length(body: bytes) -> tuple[str, str]:
    """The Content-Length of BODY."""
    return ("Content-Length", str(len(body)))


def request(**parts: object) -> Request:
    """A POST with a JSON body."""
    base = Request(method="POST", origin=Origin.of("https", "api.test"), target="/", headers=(JSON,), body=PLAIN)
    return replace(base, **parts)  # type: ignore[arg-type]


def response(**parts: object) -> Response:
    """A JSON answer."""
    return replace(Response(status=200, headers=(JSON,), body=PLAIN), **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "quiet",
    [
        request(body=QUIET),
        request(body=b""),
        request(body=Blob("0" * 64, 5)),
        request(body=gzip.compress(QUIET), headers=(JSON, GZIP)),
        request(body=QUIET, headers=(JSON, GZIP)),
    ],
    ids=["JSON", "empty", "blob", "coded", "not coded as claimed"],
)
def test_a_request_without_a_secret_is_the_same_object(quiet: Request) -> None:
    """Nothing is copied, coded or counted anew."""
    notes = Notes()
    assert redacted_request(quiet, search(), notes) is quiet
    assert notes == []


@pytest.mark.parametrize(
    "quiet",
    [
        response(body=QUIET),
        response(body=b""),
        response(body=Blob("0" * 64, 5)),
        response(body=QUIET, coding=Coding(names=("gzip",), coded=gzip.compress(QUIET))),
        response(body=gzip.compress(QUIET)),
        response(body=b"\x1f\x8b\x08 no gzip"),
        response(body=b"", headers=(JSON, GZIP), status=304),
        response(body=QUIET, trailers=(("X-Sum", "1"),), interim=(Interim(status=103),)),
    ],
    ids=["JSON", "empty", "blob", "coded", "file of gzip", "no file of gzip", "304", "trailers"],
)
def test_a_response_without_a_secret_is_the_same_object(quiet: Response) -> None:
    """Nothing is copied, coded or counted anew."""
    notes = Notes()
    assert redacted_response(quiet, search(), notes) is quiet
    assert notes == []


def test_every_part_of_a_message_is_read() -> None:
    """Target, fields, body and trailers; and what was masked is told by place."""
    notes = Notes()
    made = redacted_request(
        request(target=f"/?api_key={SECRET}", headers=(("X-Api-Key", SECRET),), trailers=(("X-Auth-Token", SECRET),)),
        search(),
        notes,
    )
    assert SECRET not in repr(made)
    answer = redacted_response(
        response(
            trailers=(("X-Auth-Token", SECRET),), interim=(Interim(status=103, headers=(("X-Api-Key", SECRET),)),)
        ),
        search(),
        notes,
    )
    assert SECRET not in repr(answer)
    assert sorted({at for at, _ in notes}) == [
        "request.body:$.access_token",
        "request.header:x-api-key",
        "request.query:api_key",
        "request.trailer:x-auth-token",
        "response.body:$.access_token",
        "response.interim:x-api-key",
        "response.trailer:x-auth-token",
    ]
    assert {mask.placeholder for _, mask in notes} == {STANDS}


def test_a_body_of_the_same_length_keeps_its_length_field() -> None:
    """A number that a client wrote in its own way is not touched without need."""
    made = redacted_request(request(headers=(JSON, ("Content-Length", f"00{len(PLAIN)}"))), search(), Notes())
    assert (made.body, made.headers[1][1]) == (MASKED, f"00{len(PLAIN)}")


def test_a_coded_request_is_coded_again() -> None:
    """Length and digests are those of the new octets."""
    wire = gzip.compress(PLAIN)
    headers = (JSON, GZIP, length(wire), ("Content-MD5", "x"))
    made = redacted_request(request(body=wire, headers=headers), search(), Notes())
    assert isinstance(made.body, bytes)
    assert gzip.decompress(made.body) == MASKED
    md5 = base64.b64encode(hashlib.md5(made.body).digest()).decode()
    assert made.headers == (JSON, GZIP, length(made.body), ("Content-MD5", md5))


def test_a_coded_response_loses_the_octets_of_the_wire() -> None:
    """They hold the secret. Length and digests are those of what our encoder gives."""
    wire = gzip.compress(PLAIN)
    old = response(headers=(JSON, GZIP, length(wire), ("Content-MD5", "x")), coding=Coding(names=("gzip",), coded=wire))
    made = redacted_response(old, search(), Notes())
    sent = coding.encode(MASKED, ("gzip",))
    md5 = base64.b64encode(hashlib.md5(sent).digest()).decode()
    assert (made.body, made.coding) == (MASKED, Coding(names=("gzip",)))
    assert made.headers == (JSON, GZIP, length(sent), ("Content-MD5", md5))


def test_the_octets_of_a_coded_stream_are_not_known() -> None:
    """Its digests go; its pieces keep their decoded sizes and forget those of the wire."""
    old = response(
        headers=(JSON, GZIP, ("Digest", "md5=x")),
        coding=Coding(names=("gzip",)),
        chunks=(Chunk(20, 1, 9), Chunk(len(PLAIN) - 20, 2, 30)),
    )
    made = redacted_response(old, search(), Notes())
    assert made.headers == (JSON, GZIP)
    assert made.chunks == (Chunk(20, 1), Chunk(len(PLAIN) - 20, 2))


def test_only_fields_changed() -> None:
    """A body that was clean keeps its octets on the wire."""
    wire = gzip.compress(QUIET)
    old = response(body=QUIET, headers=(("X-Auth-Token", SECRET),), coding=Coding(names=("gzip",), coded=wire))
    made = redacted_response(old, search(), Notes())
    assert made.coding == old.coding
    assert made.headers == (("X-Auth-Token", STANDS),)


def test_only_a_field_of_a_request_changed() -> None:
    """A body that was clean stays, and so do its length and digests."""
    old = request(body=QUIET, headers=(("X-Api-Key", SECRET), ("Content-MD5", "x"), length(PLAIN)))
    made = redacted_request(old, search(), Notes())
    assert made == replace(old, headers=(("X-Api-Key", STANDS), *old.headers[1:]))


@pytest.mark.parametrize(
    ("value", "field"),
    [("{}", "{}"), ("5", "new"), ("nonsense", "nonsense")],
    ids=["as long as the whole", "too short already", "no number"],
)
def test_a_cut_off_coding_stays_cut_off(value: str, field: str) -> None:
    """What was readable is masked, what follows the cut is gone, and the length still promises more."""
    wire = gzip.compress(PLAIN)
    old = response(
        body=wire[:-9],
        headers=(JSON, GZIP, ("Content-Length", value.format(10 * len(wire)))),
        fault=Fault(kind="truncated", phase="body"),
    )
    made = redacted_response(old, search(), Notes())
    assert isinstance(made.body, bytes)
    assert MASKED.startswith(coding.decode_prefix(made.body, ("gzip",)))
    assert STANDS.encode() in coding.decode_prefix(made.body, ("gzip",))
    with pytest.raises(coding.CodingError):
        coding.decode(made.body, ("gzip",))
    promised = header(made.headers, "content-length")
    assert promised == (str(len(made.body) + 1) if field == "new" else field.format(10 * len(wire)))


@pytest.mark.parametrize(("first", "second"), [(30, 10), (5, 35)], ids=["the last shrinks", "the last is used up"])
def test_pieces_add_up_when_a_body_changes_its_length(first: int, second: int) -> None:
    """A file of gzip may come out shorter or longer: its pieces still add up to it."""
    body = gzip.compress(PLAIN, 0)
    sizes = (len(body) - first - second, first, second)
    chunks = tuple(Chunk(size, at) for at, size in enumerate(sizes))
    shrunk = redacted_response(response(body=body, chunks=chunks), search(), Notes())
    assert isinstance(shrunk.body, bytes)
    assert len(shrunk.body) < len(body)
    assert sum(chunk.size for chunk in shrunk.chunks) == len(shrunk.body)
    assert [chunk.at_ms for chunk in shrunk.chunks] == [0, 1, 2]
    small = gzip.compress(b'{"access_token": "%s"}' % SECRET.encode(), 9, mtime=0)
    grown = redacted_response(
        response(body=small[:-1], headers=(JSON, GZIP), chunks=(Chunk(len(small) - 1, 0),)), search(), Notes()
    )
    assert isinstance(grown.body, bytes)
    assert sum(chunk.size for chunk in grown.chunks) == len(grown.body)


def test_a_search_that_never_ends_is_ended() -> None:
    """A rule that finds something in what stands for a secret is not followed for ever."""

    def find(text: str) -> list[Edit]:
        return [Edit(0, 2, "aa", (Mask("r", "aa"),), "x"), Edit(1, 3, "bb", (Mask("r", "bb"),), "x")]

    notes = Notes()
    assert notes.mask("1234", find) == "aa34"
    assert len(notes) == ROUNDS


def test_a_rule_that_matches_its_own_placeholders() -> None:
    """A pattern of the user's that matches everything masks everything, once."""
    rule = RedactRule(pattern="[a-z]{8}")
    once = redacted_response(response(body=b"abcdefgh ijklmnop", headers=()), search(rule), Notes())
    assert once.body == f"{placeholder(SALT, 'abcdefgh')} {placeholder(SALT, 'ijklmnop')}".encode()
