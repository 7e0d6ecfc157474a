"""Which parts of a recording are times: they were true when it was recorded and grow old under another clock.

Found by name in header fields and by form (ISO 8601, RFC 9110 HTTP-date) in JSON bodies. Numbers are not guessed at:
a Unix time looks like any other number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from replayproxy.core.exchange import Headers, Interaction

FIELDS = frozenset({"date", "expires", "last-modified", "retry-after", "sunset", "deprecation", "x-ratelimit-reset"})
ISO_8601 = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?")
HTTP_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
DEEPEST = 32


def moments(interaction: Interaction) -> tuple[str, ...]:
    """The places of INTERACTION's response that hold a time, such as `header:date` and `json:$.created_at`."""
    response = interaction.response
    found = list(_in_headers(response.headers))
    if isinstance(response.body, bytes):
        found += _in_json(response.body)
    return tuple(dict.fromkeys(found))


def _in_headers(headers: Headers) -> Iterator[str]:
    for name, value in headers:
        lowered = name.lower()
        if lowered in FIELDS or (lowered == "set-cookie" and "expires=" in value.lower()):
            yield f"header:{lowered}"


def _in_json(body: bytes) -> Iterator[str]:
    if body[:1] not in (b"{", b"["):
        return
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return
    yield from _walk(document, "$", 0)


def _walk(node: object, path: str, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    if isinstance(node, dict):
        for name, value in node.items():
            yield from _walk(value, f"{path}.{name}", depth + 1)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _walk(value, f"{path}[{index}]", depth + 1)
    elif isinstance(node, str) and (ISO_8601.fullmatch(node) or HTTP_DATE.fullmatch(node)):
        yield f"json:{path}"
