"""The model to the values of a cassette file, in the one order of keys that is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replayproxy.core.exchange import (
    Binding,
    Blob,
    Body,
    Cassette,
    Chunk,
    Headers,
    Interaction,
    Interim,
    Redaction,
    Request,
    Response,
    split_url,
)
from replayproxy.format import fields, times
from replayproxy.format.bodies import BodyStore, blob_value
from replayproxy.format.table import FORMAT
from replayproxy.format.writer import Flow, write


@dataclass(frozen=True, slots=True)
class Dumped:
    """A cassette as it is stored: the file's text, and by SHA-256 the octets that belong into NAME.blobs/.

    `blobs` holds the bodies that were in memory; `referenced` names every blob of the cassette.
    """

    text: bytes
    blobs: Mapping[str, bytes]
    referenced: frozenset[str]


def dump(cassette: Cassette) -> Dumped:
    """CASSETTE as a file of ours: interactions by order, digest computed anew, signature kept as it is.

    The same cassette gives the same octets. Raises ValueError for text that no UTF-8 file can hold.
    """
    bodies = BodyStore()
    value = _document(cassette, bodies)
    value["replayproxy"]["digest"] = _digest(value)
    return Dumped(write(value), bodies.blobs, frozenset(blobs_of(cassette)) | bodies.blobs.keys())


def digest_of(cassette: Cassette) -> str:
    """SHA-256, in hex, over all that a cassette says, save digest and signature; blobs by their SHA-256.

    Neither the spelling of the YAML nor the order of its keys counts.
    """
    return _digest(_document(cassette, BodyStore()))


def blobs_of(cassette: Cassette) -> Iterator[str]:
    """The SHA-256 of every body that CASSETTE keeps in a file of its own."""
    for interaction in cassette.interactions:
        response = interaction.response
        for body in (interaction.request.body, response.body, response.coding and response.coding.coded):
            if isinstance(body, Blob):
                yield body.sha256


def _digest(document: Mapping[str, Any]) -> str:
    head = {k: v for k, v in document["replayproxy"].items() if k not in ("digest", "signature")}
    content = _canonical({**document, "replayproxy": head})
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    """VALUE as JSON can say it without ambiguity: octets and floats are marked."""
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, bytes):
        return {"!!binary": value.hex()}
    return {"!!float": repr(value)} if isinstance(value, float) else value


def _document(cassette: Cassette, bodies: BodyStore) -> dict[str, Any]:
    ordered = sorted(cassette.interactions, key=lambda interaction: interaction.order)
    outer, inner = _extensions(cassette.extensions)
    return {
        "replayproxy": {**_head(cassette), **inner, "digest": ""},
        "interactions": [interaction_value(interaction, bodies) for interaction in ordered],
        **outer,
        "version": 1,  # last, as VCR.py writes it: without it a file is no cassette, so one that was cut off is seen
    }


def _head(cassette: Cassette) -> dict[str, Any]:
    signature = cassette.signature
    return _present(
        format=FORMAT,
        name=_utf8(cassette.name),
        recorded_at=times.to_text(cassette.recorded_us) if cassette.recorded_us else None,
        tool=_utf8(cassette.tool) or None,
        note=_utf8(cassette.note) or None,
        rights=cassette.rights.to_dict(),
        salt=cassette.salt or None,
        signature={"keyid": signature.keyid, "sig": signature.sig} if signature else None,
    )


def _utf8(text: str) -> str:
    """TEXT without the halves of surrogate pairs by which Python stands for octets that are not UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _present(**values: Any) -> dict[str, Any]:
    """The VALUES that are there."""
    return {name: value for name, value in values.items() if value is not None}


def _extensions(extensions: Iterable[tuple[str, object]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keys of others, beside `replayproxy` and in it; those of foreign files get the `x-` they need here."""
    outer: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for name, value in extensions:
        place, key = (inner, name.removeprefix("replayproxy.")) if name.startswith("replayproxy.x-") else (outer, name)
        place[key if key.startswith("x-") else f"x-{key}"] = value
    return outer, inner


def interaction_value(interaction: Interaction, bodies: BodyStore) -> dict[str, Any]:
    """INTERACTION as the file says it; BODIES say what stands for its bodies."""
    request, more_request = _request(interaction.request, bodies)
    response, more_response = _response(interaction.response, bodies)
    outer, inner = _extensions(interaction.extensions)
    more = _present(
        id=interaction.id,
        order=interaction.order,
        started_at=times.to_text(interaction.started_us) if interaction.started_us else None,
        first_ms=interaction.first_ms or None,
        ended_ms=interaction.ended_ms or None,
        take=interaction.take or None,
        scenario=interaction.scenario or None,
        request=more_request or None,
        response=more_response or None,
        rights=interaction.rights.to_dict() if interaction.rights is not None else None,
        redactions=[_redaction(redaction) for redaction in interaction.redactions] or None,
        proposals=[_proposal(binding) for binding in interaction.proposals] or None,
    )
    return {"request": request, "response": response, "replayproxy": {**more, **inner}, **outer}


def _redaction(redaction: Redaction) -> dict[str, Any]:
    return {"at": _utf8(redaction.at), "rule": redaction.rule, "placeholder": _utf8(redaction.placeholder)}


def _proposal(binding: Binding) -> dict[str, Any]:
    return {"field": _utf8(binding.field), "echoed": Flow(map(_utf8, binding.echoed))}


def _request(request: Request, bodies: BodyStore) -> tuple[dict[str, Any], dict[str, Any]]:
    body = bodies.value(request.body)
    mapped, order = fields.to_map(request.headers)
    # VCR.py passes these keys to its Request by name: one that it does not know makes it fail, by our name.
    elsewhere = {"replayproxy": blob_value(body)} if isinstance(body, Blob) else {}
    uri, target = _uri(request)
    value = {
        "method": request.method,
        "uri": uri,
        "body": None if isinstance(body, Blob) else body or None,
        "headers": mapped,
        **elsewhere,
    }
    more = _present(
        version=request.version if request.version != "HTTP/1.1" else None,
        target=target,
        headers=order,
        trailers=_pairs(request.trailers),
    )
    return value, more


def _uri(request: Request) -> tuple[str, str | None]:
    """The URL, and the target where the URL would not give it back."""
    if split_url(request.url) == (request.origin, request.target):
        return request.url, None
    return f"{request.origin}/", request.target


def _response(response: Response, bodies: BodyStore) -> tuple[dict[str, Any], dict[str, Any]]:
    body = bodies.value(response.body)
    hidden, restated = {"transfer-encoding"}, {}
    if response.coding is not None:
        hidden.add("content-encoding")
        restated["content-length"] = str(_size(response.body))
    mapped, order = fields.to_map(response.headers, hidden=hidden, restated=restated)
    value = {
        "status": {"code": response.status, "message": response.reason},
        "headers": mapped,
        # VCR.py encodes this value; a mapping makes it fail where an empty text would be played.
        "body": {"string": {"replayproxy": blob_value(body)} if isinstance(body, Blob) else body},
    }
    return value, _more_response(response, order, bodies)


def _more_response(response: Response, order: Flow | None, bodies: BodyStore) -> dict[str, Any]:
    fault = response.fault
    return _present(
        version=response.version if response.version != "HTTP/1.1" else None,
        framing=response.framing if response.framing != "length" else None,
        before_body=response.before_body or None,
        headers=order,
        trailers=_pairs(response.trailers),
        interim=[_interim(interim) for interim in response.interim] or None,
        coding=_coding(response, bodies),
        chunks=Flow(_chunk(chunk) for chunk in response.chunks) or None,
        fault={"kind": fault.kind, "phase": fault.phase, "after_ms": fault.after_ms} if fault else None,
    )


def _coding(response: Response, bodies: BodyStore) -> dict[str, Any] | None:
    coding = response.coding
    if coding is None:
        return None
    coded = None if coding.coded is None else bodies.binary(coding.coded)
    value = blob_value(coded) if isinstance(coded, Blob) else coded
    return {"names": Flow(coding.names), **_present(coded=value)}


def _interim(interim: Interim) -> dict[str, Any]:
    return _present(status=interim.status, reason=interim.reason or None, headers=_pairs(interim.headers))


def _chunk(chunk: Chunk) -> Flow:
    return Flow([chunk.size, chunk.at_ms] if chunk.coded is None else [chunk.size, chunk.at_ms, chunk.coded])


def _pairs(headers: Headers) -> Flow | None:
    return Flow(Flow(pair) for pair in headers) or None


def _size(body: Body) -> int:
    return body.size if isinstance(body, Blob) else len(body)
