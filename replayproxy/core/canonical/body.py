"""A request's body as parts of the key, by its content type, after content coding.

A kind of body that has no canonical form here takes part octet for octet. XML (SOAP) and the reordering of
protobuf maps have their place in KINDS.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from replayproxy.core import coding
from replayproxy.core.canonical import aws_chunked, graphql
from replayproxy.core.canonical.draft import SHOWN, Draft
from replayproxy.core.canonical.fields import add_fields, steady_value
from replayproxy.core.canonical.json_body import add_json
from replayproxy.core.canonical.multipart import Part, media_type, take_apart
from replayproxy.core.canonical.telemetry import is_telemetry
from replayproxy.core.exchange import Blob, Request, header

DEEPEST_PART = 4
"""Multipart bodies nested deeper are matched octet for octet."""


def add_body(draft: Draft, request: Request) -> None:
    """The body takes part; an absent one like an empty one, one that lies in a file by its SHA-256."""
    body = request.body
    if not body:
        return
    content = request_content(request)
    if is_telemetry(request, content) and not draft.plan.keeps("telemetry-body", "body"):
        draft.drop("telemetry-body", "body")
    elif isinstance(body, Blob):
        draft.part("body.sha256", body.sha256)
    elif aws_chunked.is_aws_chunked(request.headers, coding.content_codings(request.headers)):
        if draft.plan.keeps("aws-chunked", "body"):
            add_octets(draft, body, "body")
            return
        draft.drop("aws-chunked", "body")
        add_content(draft, content, header(request.headers, "content-type") or "", "body")
    else:
        add_content(draft, content, header(request.headers, "content-type") or "", "body")


def request_content(request: Request) -> bytes:
    """The body without aws-chunked framing and content coding; as it is where the claim does not hold.

    Empty for a body that lies in a file.
    """
    body = request.body
    if isinstance(body, Blob):
        return b""
    codings = coding.content_codings(request.headers)
    if aws_chunked.is_aws_chunked(request.headers, codings):
        payload = aws_chunked.payload(body)
        if payload is None:
            return body
        body = payload
        codings = tuple(name for name in codings if name != "aws-chunked")
    if not codings:
        return body
    try:
        return coding.decode(body, codings)
    except coding.CodingError:
        return body


def add_content(draft: Draft, data: bytes, content_type: str, prefix: str) -> None:
    """DATA takes part under PREFIX in the form that CONTENT_TYPE asks for, or octet for octet."""
    kind, parameters = media_type(content_type)
    for pattern, add in KINDS:
        if pattern.fullmatch(kind) and add(draft, data, parameters, prefix):
            return
    add_octets(draft, data, prefix)


def add_octets(draft: Draft, data: bytes, prefix: str) -> None:
    """DATA takes part octet for octet: short text as it is, all else by its SHA-256."""
    if len(data) <= SHOWN:
        try:
            draft.part(f"{prefix}.text", data.decode("utf-8"))
        except UnicodeDecodeError:
            pass
        else:
            return
    draft.part(f"{prefix}.sha256", hashlib.sha256(data).hexdigest())


def _json(draft: Draft, data: bytes, _: dict[str, str], prefix: str) -> bool:
    return add_json(draft, data, prefix)


def _form(draft: Draft, data: bytes, _: dict[str, str], prefix: str) -> bool:
    add_fields(draft, "form", data.decode("latin-1"), "form" if prefix == "body" else f"{prefix}.form")
    return True


def _graphql(draft: Draft, data: bytes, _: dict[str, str], prefix: str) -> bool:
    if draft.plan.keeps("graphql-layout", prefix):
        return False
    document = graphql.without_layout(data.decode("utf-8", "surrogateescape"))
    if document is None:
        return False
    draft.drop("graphql-layout", prefix)
    draft.part(f"{prefix}.graphql", document)
    return True


def _multipart(draft: Draft, data: bytes, parameters: dict[str, str], prefix: str) -> bool:
    boundary = parameters.get("boundary", "")
    if not boundary or draft.plan.keeps("boundary", prefix) or prefix.count("[") >= DEEPEST_PART:
        return False
    parts = take_apart(data, boundary)
    if parts is None:
        return False
    draft.drop("boundary", prefix)
    for position, part in enumerate(parts):
        _add_part(draft, part, f"{prefix}[{position}]")
    return True


def _add_part(draft: Draft, part: Part, prefix: str) -> None:
    disposition, parameters = media_type(part.header("content-disposition"))
    name = parameters.get("name") if disposition == "form-data" and "filename" not in parameters else None
    place = f"form:{name}"
    if name is not None and (rule := draft.plan.left_out(place)):
        draft.drop(rule, place)
        return
    for field, value in sorted(part.headers):
        kind, _ = media_type(value)
        draft.part(f"{prefix}.{field}", kind if kind.startswith("multipart/") else value)
    steady = _steady_text(draft, name, part.content)
    if steady is None:
        add_content(draft, part.content, part.header("content-type"), prefix)
    else:
        draft.part(f"{prefix}.text", steady)


def _steady_text(draft: Draft, name: str | None, data: bytes) -> str | None:
    """What stands for the credential in a form field's DATA; None where it holds none."""
    if name is None:
        return None
    text = data.decode("utf-8", "surrogateescape")
    steady = steady_value(draft, "form", name, text)
    return None if steady == text else steady


type Add = Callable[[Draft, bytes, dict[str, str], str], bool]

KINDS: tuple[tuple[re.Pattern[str], Add], ...] = (
    (
        re.compile(r"(application|text)/json|application/x-amz-json-\d\.\d|application/json-?rpc|.+\+json"),
        _json,
    ),
    (re.compile(r"application/x-www-form-urlencoded"), _form),
    (re.compile(r"multipart/.+"), _multipart),
    (re.compile(r"application/graphql"), _graphql),
)
"""Media types and how a body of each takes part; False, and nothing done, for one that cannot be read."""
