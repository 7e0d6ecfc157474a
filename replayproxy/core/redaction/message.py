"""A whole request or response, masked: fields, target, body, and what describes the body."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from replayproxy.core import coding
from replayproxy.core.exchange import Body, Chunk, Coding, Headers, Request, Response, header
from replayproxy.core.redaction import documents, fields
from replayproxy.core.redaction.digests import refreshed
from replayproxy.core.redaction.edits import Edit, Mask, apply, is_settled, settle
from replayproxy.core.redaction.text import Search

ROUNDS = 8
"""How often a text is searched, at most: where two secrets overlap, the second is found when the first is gone."""

_GZIP = b"\x1f\x8b\x08"


class Notes(list[tuple[str, Mask]]):
    """What was masked, and where."""

    def mask(self, text: str, find: Callable[[str], Iterable[Edit]]) -> str:
        """TEXT with all masked that FIND finds in it, which is noted; the very same text where it finds nothing."""
        for _ in range(ROUNDS):
            edits = list(find(text))
            kept = settle(edits)
            self += [(edit.at, mask) for edit in kept for mask in edit.masks]
            text = apply(text, kept) if kept else text
            if is_settled(edits, kept):
                break
        return text


type Reader = Callable[[Request, Search, Notes], Headers]
"""Reads the fields of a request, and gives them masked."""


def read_headers(request: Request, search: Search, notes: Notes) -> Headers:
    """The fields of REQUEST, masked."""
    return _fields(request.headers, search, notes, "request.header")


def redacted_request(request: Request, search: Search, notes: Notes, read: Reader = read_headers) -> Request:
    """REQUEST with what SEARCH finds masked, its fields first, by READ; the very same object where nothing is found."""
    before = len(notes)
    headers = read(request, search, notes)
    target = notes.mask(request.target, lambda text: fields.target(search, text, "request"))
    body = _request_body(request, search, notes)
    trailers = _fields(request.trailers, search, notes, "request.trailer")
    if len(notes) == before:
        return request
    if body is not request.body and isinstance(body, bytes):
        headers = refreshed(_restated(headers, request.body, body), body)
    return replace(request, target=target, headers=headers, body=body, trailers=trailers)


def redacted_response(response: Response, search: Search, notes: Notes) -> Response:
    """RESPONSE with what SEARCH finds masked; the very same object where it finds nothing.

    A body that changed is coded anew when it is sent: the octets of the wire hold the secret and go.
    """
    before = len(notes)
    headers = _fields(response.headers, search, notes, "response.header")
    body = _response_body(response, search, notes)
    trailers = _fields(response.trailers, search, notes, "response.trailer")
    interim = tuple(
        replace(one, headers=_fields(one.headers, search, notes, "response.interim")) for one in response.interim
    )
    if len(notes) == before:
        return response
    made = replace(response, headers=headers, body=body, trailers=trailers, interim=interim)
    return _described(made, response.body) if body is not response.body else made


def _fields(headers: Headers, search: Search, notes: Notes, at: str) -> Headers:
    def masked(name: str, value: str) -> str:
        return notes.mask(value, lambda text: fields.header(search, name, text, at))

    return tuple((name, masked(name, value)) for name, value in headers)


def _body(body: Body, headers: Headers, search: Search, notes: Notes, at: str) -> Body:
    """BODY masked; a body that lies in a file was masked before it was put there."""
    if not isinstance(body, bytes) or not body:
        return body
    kind = header(headers, "content-type") or ""
    text = body.decode("latin-1")
    made = notes.mask(text, lambda text: documents.body(search, text, kind, at))
    return body if made is text else made.encode("latin-1")


def _request_body(request: Request, search: Search, notes: Notes) -> Body:
    """The body masked under its content coding, and coded again."""
    if not isinstance(request.body, bytes):
        return request.body
    plain, held = coding.undo(request.headers, request.body)
    if held is None:
        return _packed_body(request.body, request.headers, search, notes, "request.body")
    made = _body(plain, request.headers, search, notes, "request.body")
    return coding.encode(made, held.names) if isinstance(made, bytes) and made is not plain else request.body


def _response_body(response: Response, search: Search, notes: Notes) -> Body:
    if response.coding is not None or not isinstance(response.body, bytes):
        return _body(response.body, response.headers, search, notes, "response.body")
    return _packed_body(response.body, response.headers, search, notes, "response.body")


def _packed_body(body: bytes, headers: Headers, search: Search, notes: Notes, at: str) -> Body:
    """BODY masked as it is, and inside what it packs: a coding that was cut off, or a file of gzip.

    Octets after the point from which nothing can be decoded are dropped where anything before it was masked.
    """
    names = coding.content_codings(headers) or (("gzip",) if body.startswith(_GZIP) else ())
    plain = coding.decode_prefix(body, names) if names else b""
    made = _body(plain, headers, search, notes, at)
    if made is plain or not isinstance(made, bytes):
        return _body(body, headers, search, notes, at)
    return coding.encode(made, names, whole=_is_whole(body, names))


def _is_whole(body: bytes, names: Sequence[str]) -> bool:
    try:
        coding.decode(body, names)
    except coding.CodingError:
        return False
    return True


def _restated(headers: Headers, old: Body, new: bytes, *, cut: bool = False) -> Headers:
    """HEADERS whose Content-Length is that of NEW, if it was that of OLD; of a CUT body it stays too long."""
    if isinstance(old, bytes) and len(old) == len(new):
        return headers

    def restated(value: str) -> str:
        if not cut:
            return str(len(new))
        return str(max(int(value), len(new) + 1)) if value.isdecimal() else value

    return tuple((name, restated(value) if name.lower() == "content-length" else value) for name, value in headers)


def _described(response: Response, old: Body) -> Response:
    """RESPONSE, whose body is no longer OLD, with fields, chunks and coding that describe what it has now."""
    body = response.body
    assert isinstance(body, bytes)
    held = Coding(names=response.coding.names) if response.coding else None
    sent = coding.encode(body, held.names) if held else body
    headers = _restated(response.headers, b"" if held else old, sent, cut=response.fault is not None)
    # Pieces are coded one by one when they are sent, so the octets of a coded stream are not known here.
    headers = refreshed(headers, None if held and response.chunks else sent)
    chunks = _resized(response.chunks, old, body, coded=held is not None)
    return replace(response, headers=headers, coding=held, chunks=chunks)


def _resized(chunks: tuple[Chunk, ...], old: Body, new: bytes, *, coded: bool) -> tuple[Chunk, ...]:
    """CHUNKS that add up to NEW: as they were where the length is the same, else the last takes the difference.

    The sizes on the wire are those of octets that are gone.
    """
    if coded:
        chunks = tuple(replace(chunk, coded=None) for chunk in chunks)
    grown = len(new) - (len(old) if isinstance(old, bytes) else old.size)
    if not chunks or not grown:
        return chunks
    sizes = [chunk.size for chunk in chunks]
    for index in reversed(range(len(sizes))):
        taken = max(sizes[index] + grown, 0) if grown < 0 else sizes[index] + grown
        grown -= taken - sizes[index]
        sizes[index] = taken
    return tuple(replace(chunk, size=size) for chunk, size in zip(chunks, sizes, strict=True))
