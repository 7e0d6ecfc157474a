"""Secrets in the fields of a body: JSON, event streams, forms, multipart, XML, and JSON that lies in other text.

Bodies are octet text; every edit is of the value's own octets, so that what is no secret stays octet for octet.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from replayproxy.core.canonical.jsonpath import JsonPath, spelled
from replayproxy.core.canonical.multipart import media_type
from replayproxy.core.credentials import Where, names_credential, shapes
from replayproxy.core.redaction import jsontext
from replayproxy.core.redaction.edits import Edit, Mask, apply, settle
from replayproxy.core.redaction.text import USER, Search, lifted
from replayproxy.core.redaction.views import FORM, HTML, JSON, PERCENT, view

_DEPTH = 3
_SHORT = 512
_ESCAPES = re.compile(r"[%\\&+]")
_CODED_MARKS = ("ey", "ew", "W3", "Wy")
_CODED_JSON = re.compile(r"(?<![A-Za-z0-9+/_.-])[A-Za-z0-9+/_-]{16,}+(={0,2})(?![.=])")
_URL_SAFE = str.maketrans("+/", "-_")
_STANDARD = str.maketrans("-_", "+/")
_LINES = ("event-stream", "ndjson", "jsonl", "json-seq", "x-json-stream")
_LINE = re.compile(r"(?:data:)?[ \x1e]*([\[{][^\r\n]*)")
_PAIR = re.compile(
    r"""(?P<quote>["'])(?P<name>[A-Za-z0-9_.-]{2,64})(?P=quote)\s*:\s*"""
    r"""(?P<open>["'])(?P<value>(?:(?!(?P=open))[^\\\r\n]|\\.)+)(?P=open)"""
)
_STRUCTURE = re.compile(r"(?:\s|\\[nrt])*[\[{]")
_FIELD = re.compile(r"[^&]+")
_FORM_NAME = re.compile(r"[\x21-\x7e]{1,512}")
_DELIMITER = r"(?:\A|\r?\n)--{boundary}(?:--)?[ \t]*(?=\r?\n|\Z)"
_BLANK_LINE = re.compile(r"\r?\n\r?\n")
_PART_NAME = re.compile(r"content-disposition:[^\r\n]*?[;\s]name=(?:\"([^\"\r\n]*)\"|([^;\s]+))", re.IGNORECASE)
_FILE_NAME = re.compile(r"[;\s]filename\*?=", re.IGNORECASE)
_HEAD = 4096
_ELEMENT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)(?:\s[^<>]*)?>([^<>]+)</")
_ATTRIBUTE = re.compile(r"\s(?:[\w.-]+:)?([A-Za-z_][\w.-]*)=\"([^\"<>]+)\"")


def body(search: Search, text: str, content_type: str, at: str) -> list[Edit]:
    """The edits that a body of this Content-Type needs: by the names of its fields, and anywhere in its text."""
    kind, parameters = media_type(content_type)
    if any(part in kind for part in _LINES):
        edits = [edit for line in _LINE.finditer(text) for edit in json(search, text, at, line.span(1))]
        edits += _script(search, text, at)
    elif jsontext.is_json(text):
        edits = list(json(search, text, at, (0, len(text))))
    elif kind == "application/x-www-form-urlencoded":
        edits = list(pairs(search, text, (0, len(text)), "form", at))
    elif kind.startswith("multipart/") and parameters.get("boundary"):
        edits = list(_multipart(search, text, parameters["boundary"], at))
    elif kind.endswith(("xml", "+xml")) or text[:5] == "<?xml":
        edits = list(_xml(search, text, at))
    else:
        edits = list(_script(search, text, at))
    return [*edits, *anywhere(search, text, at)]


def anywhere(search: Search, text: str, at: str, depth: int = 0) -> list[Edit]:
    """The edits that TEXT needs whatever it is, JSON under base64 included."""
    if len(text) <= _SHORT and not search.patterns and _is_quiet(text):
        return known(search, text, at, _DEPTH)
    edits = [*search.text(text, at, depth), *_coded_json(search, text, at, depth)]
    if depth < _DEPTH:
        for seen in search.views(text):
            edits += lifted(seen, settle(anywhere(search, seen.text, at, depth + 1)))
    return edits


def known(search: Search, text: str, at: str, depth: int = 0) -> list[Edit]:
    """The edits that mask known secrets in TEXT, and in what it spells: no name and no shape is looked at."""
    edits = [replace(edit, at=at) for edit in search.vault.find(text)]
    if depth < _DEPTH:
        for seen in search.views(text):
            edits += lifted(seen, settle(known(search, seen.text, at, depth + 1)))
    return edits


@lru_cache(maxsize=8192)
def _is_quiet(text: str) -> bool:
    """Whether TEXT spells nothing but itself and has no known shape: only a value that is known can be in it.

    Most fields of most requests are the same again and again.
    """
    return not (_ESCAPES.search(text) or next(shapes(text), None) or next(_coded(text), None))


def _coded(text: str) -> Iterator[re.Match[str]]:
    """What in TEXT could be JSON under base64: it begins as an object or array does."""
    for mark in _CODED_MARKS:
        at = text.find(mark)
        while at >= 0:
            match = _CODED_JSON.match(text, at)
            if match:
                yield match
            at = text.find(mark, match.end() if match else at + 1)


def _coded_json(search: Search, text: str, at: str, depth: int) -> Iterator[Edit]:
    """JSON under base64: its fields tell, no secret need be known."""
    for match in _coded(text) if depth < _DEPTH else ():
        coded = match.group()
        try:
            octets = base64.b64decode(coded.translate(_STANDARD).rstrip("=") + "==")
            inner = octets.decode("utf-8").encode("utf-8").decode("latin-1")
        except (binascii.Error, ValueError):
            continue
        found = json(search, inner, at, (0, len(inner)), depth + 1)
        edits = settle([*found, *anywhere(search, inner, at, depth + 1)])
        if not edits:
            continue
        made = base64.b64encode(apply(inner, edits).encode("latin-1")).decode("ascii").rstrip("=") + match[1]
        made = made.translate(_URL_SAFE) if "-" in coded or "_" in coded else made
        yield Edit(*match.span(), made, tuple(mask for edit in edits for mask in edit.masks), at)


def json(search: Search, text: str, at: str, span: tuple[int, int], depth: int = 0) -> Iterator[Edit]:
    """Secrets in the fields of the JSON at SPAN: by their names, and (outermost) by the user's paths."""
    start, end = span
    paths = [JsonPath.parse(r.at.name) for r in search.rules if r.at and r.at.kind == "json" and depth == 0]
    if not paths and not _may_hold(search, text[start:end]):
        return
    for scalar in jsontext.scalars(text, start, end):
        if any(jsontext.selects(path, scalar.path) for path in paths):
            edits = _selected(search, text, scalar, at)
        elif scalar.quoted:
            edits = _string(search, text, scalar, at, depth)
        else:
            continue
        for edit in edits:
            yield replace(edit, at=f"{at}:{spelled(scalar.path)}") if depth == 0 else edit


def _may_hold(search: Search, document: str) -> bool:
    """Whether some name in a JSON DOCUMENT says that its value is a credential: most say nothing, and quickly."""
    return jsontext.is_veiled(document) or any(search.may_name(name, "json") for name in jsontext.names(document))


def _selected(search: Search, text: str, scalar: jsontext.Scalar, at: str) -> Iterator[Edit]:
    """A scalar that the user selects: a string, or the digits of a number; `true`, `false` and `null` say nothing."""
    if scalar.quoted:
        yield from search.conceal(text, (scalar.start, scalar.end), USER, at, JSON)
        return
    number = re.compile(r"-?([0-9]+)").match(text, scalar.start, scalar.end)
    if number is None or search.vault.is_placeholder(number[1]):
        return
    if len(number[1]) >= 4:
        yield from search.conceal(text, number.span(1), USER, at)
    elif number[1].strip("1") and number[1] != "0":
        made = "1" * len(number[1])
        yield Edit(*number.span(1), made, (Mask(USER, made),), at)


def _string(search: Search, text: str, scalar: jsontext.Scalar, at: str, depth: int) -> Iterator[Edit]:
    source = text[scalar.start : scalar.end]
    name = next((step for step in reversed(scalar.path) if isinstance(step, str)), "")
    named = search.may_name(name, "json")
    if not source or not (named or ("\\" in source and _STRUCTURE.match(source))):
        return
    seen = view(source, JSON) if "\\" in source else None
    value = seen.text if seen else source
    rule = search.named(name, value, "json") if named else None
    if rule:
        yield from search.conceal(text, (scalar.start, scalar.end), rule, at, JSON)
    elif seen and depth < _DEPTH and jsontext.is_json(value):
        inner = json(search, value, at, (0, len(value)), depth + 1)
        yield from (edit.moved(scalar.start) for edit in lifted(seen, settle(inner)))


def pairs(search: Search, text: str, span: tuple[int, int], where: Where, at: str) -> Iterator[Edit]:
    """Secrets in the `name=value&…` at SPAN; a pair without `=`, or not of printable ASCII, is left alone."""
    for match in _FIELD.finditer(text, *span):
        raw, equals, value = match.group().partition("=")
        name = _field_name(raw) if equals and value else None
        if name is None or not search.may_name(name, where):
            continue
        # A bare `+` in a token is far likelier to be itself than a space.
        seen = view(value, PERCENT)
        rule = search.named(name, seen.text if seen else value, where)
        if rule:
            first = match.start() + len(raw) + 1
            escape = FORM if rule == "password" else PERCENT
            yield from search.conceal(text, (first, match.end()), rule, f"{at}:{name}", escape)


@lru_cache(maxsize=4096)
def _field_name(raw: str) -> str | None:
    """What the name RAW of a form field spells; None where it is not of printable ASCII."""
    if not _FORM_NAME.fullmatch(raw):
        return None
    seen = view(raw, FORM)
    return seen.text if seen else raw


def _multipart(search: Search, text: str, boundary: str, at: str) -> Iterator[Edit]:
    """Secrets in the fields of multipart/form-data (RFC 7578), and in parts that are JSON."""
    delimiters = list(re.finditer(_DELIMITER.format(boundary=re.escape(boundary)), text))
    ends = [*(delimiter.start() for delimiter in delimiters[1:]), len(text)]
    for delimiter, end in zip(delimiters, ends, strict=False):
        blank = _BLANK_LINE.search(text, delimiter.end(), end)
        if blank is None or blank.end() >= end:
            continue
        head = text[delimiter.end() : min(blank.start(), delimiter.end() + _HEAD)]
        named = _PART_NAME.search(head)
        name = (named[1] or named[2] or "") if named and not _FILE_NAME.search(head) else ""
        rule = search.named(name, text[blank.end() : end], "form") if name else None
        if rule:
            yield from search.conceal(text, (blank.end(), end), rule, f"{at}:{name}")
        elif jsontext.is_json(text, blank.end()):
            yield from json(search, text, at, (blank.end(), end))


def _xml(search: Search, text: str, at: str) -> Iterator[Edit]:
    """Secrets in elements and attributes whose names say so; the text in them may be escaped."""
    for pattern in (_ELEMENT, _ATTRIBUTE):
        for match in pattern.finditer(text):
            if names_credential(match[1], "json") and not match[2].isspace():
                rule = search.named(match[1], match[2], "json")
                if rule:
                    yield from search.conceal(text, match.span(2), rule, f"{at}:{match[1]}", HTML)


def _script(search: Search, text: str, at: str) -> Iterator[Edit]:
    """Secrets in `"name": "value"` of a text that is no JSON as a whole, such as a script in a page."""
    for match in _PAIR.finditer(text):
        rule = search.named(match["name"], match["value"], "json")
        if rule:
            yield from search.conceal(text, match.span("value"), rule, at, JSON)
