"""The values that a selector names in a request, as text and as the JSON tokens that spell them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from replayproxy.core.canonical.body import request_content
from replayproxy.core.canonical.fields import fields_of
from replayproxy.core.canonical.json_text import Leaf, leaves
from replayproxy.core.canonical.jsonpath import JsonPath, Path
from replayproxy.core.canonical.multipart import media_type, take_apart
from replayproxy.core.exchange import Request, header, header_values
from replayproxy.core.provider import Selector


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a request: text, JSON token, kind as in `Leaf.kind`, and path where it was in JSON."""

    text: str
    token: str
    kind: str = "string"
    path: Path | None = None


def text_value(text: str) -> Value:
    """The value of a place that has no types."""
    return Value(text, json.dumps(text, ensure_ascii=False))


def values(request: Request, selector: Selector) -> list[Value]:
    """The values that SELECTOR names in REQUEST, in their order; percent escapes of a path undone."""
    found: Iterable[str]
    if selector.kind == "json":
        pattern = JsonPath.parse(selector.name)
        return [
            Value(leaf.text, leaf.token, leaf.kind, leaf.path)
            for leaf in json_leaves(request)
            if pattern.matches(leaf.path)
        ]
    if selector.kind == "header":
        found = header_values(request.headers, selector.name)
    elif selector.kind == "query":
        query = request.target.partition("?")[2]
        found = (value or "" for name, value in fields_of(query) if name == selector.name)
    elif selector.kind == "form":
        found = (value for name, value in form_fields(request) if name == selector.name)
    else:
        matches = re.finditer(selector.name, request.path or "/")
        found = (unquote(text or "") for match in matches for text in (match.groups() or (match[0],)))
    return [text_value(text) for text in found]


def json_leaves(request: Request) -> list[Leaf]:
    """The leaves of a JSON body whatever its Content-Type says, none where it is no JSON."""
    try:
        text = request_content(request).decode("utf-8")
    except UnicodeDecodeError:
        return []
    return leaves(text) or []


def form_fields(request: Request) -> list[tuple[str, str]]:
    """The fields of a urlencoded or multipart form in their order, files left out."""
    kind, parameters = media_type(header(request.headers, "content-type") or "")
    if kind == "application/x-www-form-urlencoded":
        return [(name, value or "") for name, value in fields_of(request_content(request).decode("latin-1"))]
    if kind != "multipart/form-data":
        return []
    found = []
    for part in take_apart(request_content(request), parameters.get("boundary", "")) or ():
        _, names = media_type(part.header("content-disposition"))
        if "name" in names and "filename" not in names:
            found.append((names["name"], part.content.decode("utf-8", "surrogateescape")))
    return found
