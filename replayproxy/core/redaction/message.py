"""A whole request or response, masked: fields, target, body, and what describes the body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from replayproxy.core import coding
from replayproxy.core.exchange import Body, Chunk, Coding, Headers, Request, Response, header
from replayproxy.core.redaction import documents, fields
from replayproxy.core.redaction.digests import refreshed
from replayproxy.core.redaction.edits import Edit, Mask, apply, settle
from replayproxy.core.redaction.text import Search

BODYLESS = frozenset({204, 304})


class Notes(list[tuple[str, Mask]]):
    """What was masked, and where."""

    def take(self, edits: Iterable[Edit]) -> list[Edit]:
        """EDITS settled, and noted."""
        kept = settle(edits)
        self += [(edit.at, mask) for edit in kept for mask in edit.masks]
        return kept


def redacted_request(request: Request, search: Search, notes: Notes) -> Request:
    """REQUEST with what SEARCH finds masked; the very same object where it finds nothing."""
    before = len(notes)
    target = apply(request.target, notes.take(fields.target(search, request.target, "request")))
    headers = _fields(request.headers, search, notes, "request.header")
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
    body = _body(response.body, response.headers, search, notes, "response.body")
    trailers = _fields(response.trailers, search, notes, "response.trailer")
    interim = tuple(
        replace(one, headers=_fields(one.headers, search, notes, "response.interim")) for one in response.interim
    )
    if len(notes) == before:
        return response
    made = replace(response, headers=headers, body=body, trailers=trailers, interim=interim)
    return _described(made, response.body) if body is not response.body else made


def _fields(headers: Headers, search: Search, notes: Notes, at: str) -> Headers:
    return tuple(
        (name, apply(value, notes.take(fields.header(search, name, value, at)))) for name, value in headers
    )


def _body(body: Body, headers: Headers, search: Search, notes: Notes, at: str) -> Body:
    """BODY masked; a body that lies in a file was masked before it was put there."""
    if not isinstance(body, bytes) or not body:
        return body
    text = body.decode("latin-1")
    edits = notes.take(documents.body(search, text, header(headers, "content-type") or "", at))
    return apply(text, edits).encode("latin-1") if edits else body


def _request_body(request: Request, search: Search, notes: Notes) -> Body:
    """The body masked under its content coding, and coded again; as it is where the coding does not hold."""
    if not isinstance(request.body, bytes):
        return request.body
    plain, held = coding.undo(request.headers, request.body)
    made = _body(plain, request.headers, search, notes, "request.body")
    if made is plain or not isinstance(made, bytes):
        return request.body
    return coding.encode(made, held.names) if held else made


def _restated(headers: Headers, old: Body, new: bytes) -> Headers:
    """HEADERS whose Content-Length is that of NEW, if it was that of OLD."""
    if isinstance(old, bytes) and len(old) == len(new):
        return headers
    return tuple((name, str(len(new)) if name.lower() == "content-length" else value) for name, value in headers)


def _described(response: Response, old: Body) -> Response:
    """RESPONSE, whose body is no longer OLD, with fields, chunks and coding that describe what it has now."""
    body = response.body
    assert isinstance(body, bytes)
    held = Coding(names=response.coding.names) if response.coding else None
    sent = coding.encode(body, held.names) if held else body
    headers = refreshed(_restated(response.headers, b"" if held else old, sent), sent)
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
