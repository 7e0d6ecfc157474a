"""Which requests write: which may change what later reads see.

A safe method (RFC 9110 section 9.2.1) reads. An unsafe one writes, save for the exceptions in READING, each
of which asks by POST because its question does not fit a URL, or tells something that no read gives back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl

from replayproxy.core import coding
from replayproxy.core.canonical import graphql
from replayproxy.core.canonical.body import request_content
from replayproxy.core.canonical.telemetry import is_telemetry
from replayproxy.core.exchange import Request, header
from replayproxy.core.provider import MatchRules

PLAIN = MatchRules()
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
"""Fields by which a POST says which method it means, for clients that can send no other."""


def is_write(request: Request, rules: MatchRules = PLAIN) -> bool:
    """Whether REQUEST may change what later reads see; a POST whose body is not understood may."""
    if method_of(request) in SAFE_METHODS:
        return False
    named = f"{request.method} {request.path}"
    if any(fnmatchcase(named, pattern) for pattern in rules.read_only):
        return False
    return request.method != "POST" or reading(request) is None


def method_of(request: Request) -> str:
    """The method that REQUEST means: its own, or the one that a POST names instead of it."""
    if request.method == "POST":
        named = (header(request.headers, name) for name in OVERRIDES)
        return next((value.strip().upper() for value in named if value), "POST")
    return request.method


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind of POST that does not write: its id, why, and how it is told."""

    id: str
    reason: str
    tells: Callable[[Request, Any], bool]


def reading(request: Request) -> str | None:
    """The id of the exception in READING that REQUEST, a POST, falls under, or None."""
    document = _document(request)
    return next((one.id for one in READING if one.tells(request, document)), None)


def _document(request: Request) -> Any:
    """The body as JSON, a form as a mapping, `application/graphql` as its query; None for all else."""
    body = request.body
    if not isinstance(body, bytes):
        return None
    try:
        names = coding.content_codings(request.headers)
        text = (coding.decode(body, names) if names else body).decode("utf-8")
    except (coding.CodingError, UnicodeDecodeError):
        return None
    kind = _media_type(request)
    if kind == "application/x-www-form-urlencoded":
        return dict(parse_qsl(text, keep_blank_values=True))
    if kind == "application/graphql":
        return {"query": text}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _media_type(request: Request) -> str:
    return (header(request.headers, "content-type") or "").partition(";")[0].strip().lower()


def _asks_for_a_token(_: Request, document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("grant_type"), str)


_DEFINITIONS = frozenset({"query", "mutation", "subscription", "fragment"})
_DEPTH = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}


def _is_telemetry(request: Request, _: Any) -> bool:
    return is_telemetry(request, request_content(request))


def _is_graphql_query(_: Request, document: Any) -> bool:
    """One query, or a batch of nothing but queries; what a persisted query does is not known here."""
    batch = document if isinstance(document, list) else [document]
    return bool(batch) and all(isinstance(one, dict) and _only_queries(one) for one in batch)


def _only_queries(document: dict[str, Any]) -> bool:
    text, wanted = document.get("query"), document.get("operationName")
    if not isinstance(text, str):
        return False
    found = graphql_operations(text)
    chosen = [kind for kind, name in found if not wanted or len(found) == 1 or name == wanted]
    return bool(chosen) and all(kind == "query" for kind in chosen)


def graphql_operations(text: str) -> list[tuple[str, str]]:
    """Kind and name ("" for none) of each operation in the GraphQL document TEXT (October 2021, section 2.3).

    Fragments are left out; a selection set without a keyword is a query. A text that is no such document
    gives an empty list.
    """
    found: list[tuple[str, str]] = []
    marks = graphql.tokens(text) or []
    depth, head = 0, -1
    for at, mark in enumerate(marks):
        if mark == "{" and not depth:
            found += [("query", "")] if head < 0 else _operation(marks[head], marks[head + 1])
            head = -1
        elif not depth and head < 0:
            if mark not in _DEFINITIONS:
                return []
            head = at
        depth += _DEPTH.get(mark, 0)
    return found if not depth and head < 0 else []


def _operation(keyword: str, name: str) -> list[tuple[str, str]]:
    """What a definition that begins with KEYWORD and then NAME (or some mark) adds to the operations."""
    return [] if keyword == "fragment" else [(keyword, name if name.isidentifier() else "")]


_MODEL_PATHS = re.compile(
    r".*/models/[^/]+:(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents|predict"
    r"|rawPredict|streamRawPredict)|/model/[^/]+/(invoke|invoke-with-response-stream|converse|converse-stream)"
)


def _asks_a_model(request: Request, document: Any) -> bool:
    if _MODEL_PATHS.fullmatch(request.path):
        return True
    if not isinstance(document, dict) or not isinstance(document.get("model"), str):
        return False
    return any(isinstance(document.get(name), list | str) for name in ("messages", "prompt", "input"))


READING: tuple[Reading, ...] = (
    Reading("token", "a token request names its grant (RFC 6749) and changes no resource", _asks_for_a_token),
    Reading("telemetry", "traces, metrics and crash reports are given to the vendor, not read back", _is_telemetry),
    Reading("graphql-query", "a GraphQL query only reads (GraphQL section 2.3)", _is_graphql_query),
    Reading("model", "a completion or embedding is worked out from its prompt alone", _asks_a_model),
)
"""The unsafe requests that do not write; `match.read_only` of a provider adds to them."""
