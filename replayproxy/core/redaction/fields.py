"""Secrets in header fields and targets.

A field's value is Latin-1 text, so it is octet text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from replayproxy.core.redaction.documents import anywhere, pairs
from replayproxy.core.redaction.edits import Edit
from replayproxy.core.redaction.text import USER, Search, pattern_spans
from replayproxy.core.redaction.views import PERCENT

PLAIN = frozenset(
    """accept accept-encoding accept-ranges age connection content-encoding content-length content-type date
    keep-alive te trailer transfer-encoding vary""".split()  # noqa: SIM905 - a table
)
"""Fields, lower case, whose values are made of words and numbers of the protocol."""

URLS = frozenset({"content-location", "link", "location", "referer", "refresh"})
"""Fields, lower case, whose values hold a URL: its query is read like that of a target."""

_QUERY = re.compile(r"\?([^#<>\s\";]*)")
_COOKIE = re.compile(r"(?:^|;)\s*[^=;]+=\"?([^;\"]+)\"?")
_SET_COOKIE = re.compile(r"\s*[^=;]+=\"?([^;\"]+)\"?")


def header(search: Search, name: str, value: str, at: str) -> list[Edit]:
    """The edits that a field needs. Of a cookie only the value goes: its name and attributes stay."""
    name = name.lower()
    place = f"{at}:{name}"
    rule = search.named(name, value, "header") if value else None
    edits: list[Edit] = []
    if rule == "cookie":
        found = _SET_COOKIE.match(value) if name == "set-cookie" else None
        for match in [found] if found else _COOKIE.finditer(value) if name != "set-cookie" else ():
            edits += search.conceal(value, match.span(1), rule, place, PERCENT)
    elif rule:
        edits += search.conceal(value, (0, len(value)), rule, place)
    for query in _QUERY.finditer(value) if name in URLS else ():
        edits += pairs(search, value, query.span(1), "query", place)
    if name not in PLAIN:
        edits += anywhere(search, value, place)
    return edits


def target(search: Search, text: str, at: str) -> list[Edit]:
    """The edits that a request's target needs: the user's path rules, the query by name, and anywhere in it."""
    path = text.partition("?")[0]
    edits: list[Edit] = []
    for span in _path_spans(search, path):
        edits += search.conceal(text, span, USER, f"{at}.path", PERCENT)
    edits += pairs(search, text, (len(path) + 1, len(text)), "query", f"{at}.query")
    return [*edits, *anywhere(search, text, f"{at}.target")]


def _path_spans(search: Search, path: str) -> Iterator[tuple[int, int]]:
    for rule in search.rules:
        if rule.at and rule.at.kind == "path":
            yield from pattern_spans(rule.at.name, path)
