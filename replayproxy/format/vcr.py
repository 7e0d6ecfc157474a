"""Cassettes that VCR.py wrote (its format 1), to the model.

VCR.py decodes some bodies and not others, keeps the field that says so or drops it, and writes text wherever
the octets happen to be UTF-8. What a body is, is therefore told from its octets, not from its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from replayproxy.core import coding
from replayproxy.core.exchange import (
    Cassette,
    Coding,
    Headers,
    Interaction,
    Request,
    Response,
    header,
    interaction_id,
)
from replayproxy.format.bodies import body_of
from replayproxy.format.document import MisfitError, within
from replayproxy.format.reading import located
from replayproxy.format.shape import Integer, Octets, Text
from replayproxy.format.table import WORD

_MAGIC: Final = {
    "gzip": (b"\x1f\x8b",),
    "x-gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
    "deflate": (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
}
_TOOL: Final = "VCR.py"
_TEXT: Final = Text()
_OCTETS: Final = Octets(optional=True)
_STATUS: Final = Integer(100, 999)


def cassette_of(value: Mapping[str, Any]) -> tuple[Cassette, tuple[str, ...]]:
    """The cassette, and what its reader should be told; raises MisfitError where VALUE is none."""
    if "interactions" not in value:
        raise MisfitError("is not a cassette: the key 'interactions' is missing")
    if "version" not in value:
        raise MisfitError("the key 'version' is missing", hint="the file is cut off or was edited; restore it")
    if value["version"] != 1:
        hint = "VCR.py's format 1 is read; for others: replayproxy import FILE -o CASSETTE.yaml"
        raise MisfitError(
            f"is {value['version']!r}, which is not a version of VCR.py's format", ("version",), hint=hint
        )
    if not isinstance(value["interactions"], list):
        raise MisfitError("must be a list", ("interactions",))
    told: list[str] = []
    found = []
    for order, item in enumerate(value["interactions"]):
        with within("interactions", order):
            found.append(_interaction(item, order, told))
    extensions = _kept(value, ("version", "interactions"), "", told)
    return Cassette(name="", interactions=tuple(found), foreign=_TOOL, extensions=extensions), tuple(told)


def _kept(
    value: Mapping[str, Any], known: Iterable[str], place: str, told: list[str]
) -> tuple[tuple[str, object], ...]:
    """What VALUE holds under keys that are not KNOWN, each told."""
    kept = tuple((f"{place}{key}", item) for key, item in value.items() if key not in known)
    told.extend(f"the unknown key {name} is kept and not used" for name, _ in kept)
    return kept


def _interaction(value: Any, order: int, told: list[str]) -> Interaction:
    _require_mapping(value)
    sent = _part(value, "request")
    with within("request"):
        request = _request(sent)
    place = f"interactions[{order}]."
    answered = _part(value, "response")
    with within("response"):
        response = _response(answered, request.method, place, told)
    extensions = (
        *_kept(value, ("request", "response"), place, told),
        *_kept(sent, ("method", "uri", "body", "headers"), f"{place}request.", told),
        *_kept(answered, ("status", "headers", "body"), f"{place}response.", told),
    )
    kept = tuple((name.removeprefix(place), item) for name, item in extensions)
    return Interaction(
        id=interaction_id(order, request), order=order, request=request, response=response, extensions=kept
    )


def _require_mapping(value: Any) -> None:
    if not isinstance(value, dict):
        raise MisfitError("must be a mapping")


def _part(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    with within(key):
        if key not in value:
            raise MisfitError("is missing", hint="the file is cut off or was edited; restore it")
        _require_mapping(value[key])
    return dict(value[key])


def _text(value: Mapping[str, Any], key: str) -> str:
    with within(key):
        _TEXT.check(value.get(key))
    return str(value[key])


def _request(value: Mapping[str, Any]) -> Request:
    uri, method = _text(value, "uri"), _text(value, "method")
    with within("uri"):
        origin, target = located(uri)
    with within("method"):
        WORD.check(method)
    return Request(
        method=method,
        origin=origin,
        target=_octets(target),
        headers=_headers(value),
        body=_body(value, "body"),
    )


def _body(value: Mapping[str, Any], key: str) -> bytes:
    with within(key):
        _OCTETS.check(value.get(key))
    body = body_of(value.get(key))
    assert isinstance(body, bytes)  # VCR.py knows no files of bodies
    return body


def _headers(value: Mapping[str, Any]) -> Headers:
    """Fields from a map of name to text or texts; text beyond Latin-1 is taken as the octets of its UTF-8."""
    if value.get("headers") is None:
        return ()
    headers: list[tuple[str, str]] = []
    for name, values in _part(value, "headers").items():
        for item in values if isinstance(values, list) else [values]:
            text = item.decode("latin-1") if isinstance(item, bytes) else item
            with within("headers", name):
                _TEXT.check(text)
            headers.append((_octets(name), _octets(text)))
    return tuple(headers)


def _octets(text: str) -> str:
    return text if text.isascii() or max(text) <= "\xff" else text.encode().decode("latin-1")


def _response(value: Mapping[str, Any], method: str, place: str, told: list[str]) -> Response:
    status = _part(value, "status")
    with within("status", "code"):
        _STATUS.check(status.get("code"))
    content = _part(value, "body")
    with within("body"):
        stored = _body(content, "string")
    headers, body, held = _undone(_headers(value), stored, place, told)
    framing: Literal["length", "chunked"] = "length"
    if (header(headers, "transfer-encoding") or "").lower() == "chunked":
        framing = "chunked"
    elif held is None and method != "HEAD" and status["code"] != 304:
        headers = _restated(headers, len(body))
    with within("status"):
        reason = _text(status, "message") if status.get("message") is not None else ""
    return Response(
        status=status["code"],
        reason=_octets(reason),
        headers=headers,
        body=body,
        framing=framing,
        coding=held,
    )


def _undone(headers: Headers, body: bytes, place: str, told: list[str]) -> tuple[Headers, bytes, Coding | None]:
    """The body without content coding; a field that is left over from a body decoded already goes."""
    claimed = header(headers, "content-encoding")
    if claimed is None or not body:
        return headers, body, None
    names = [name.strip().lower() for name in claimed.split(",")]
    starts = _MAGIC.get(names[-1])
    decoded, held = coding.undo(headers, body) if starts is None or body.startswith(starts) else (body, None)
    if held is not None or names == ["identity"]:
        return headers, decoded, held
    told.append(f"{place}response says Content-Encoding: {claimed}, but its body is decoded; the field is left out")
    left = tuple(field for field in headers if field[0].lower() != "content-encoding")
    return left, body, None


def _restated(headers: Headers, length: int) -> Headers:
    """HEADERS with the Content-Length, where there is one, that the body has."""
    return tuple((name, str(length)) if name.lower() == "content-length" else (name, value) for name, value in headers)
