"""GraphQL documents without what means nothing: white space, commas and comments (GraphQL 2021, 2.1)."""

from __future__ import annotations

import re

_ENVELOPE = frozenset({"query", "variables", "operationName", "extensions", "id", "documentId"})
_TELLING = frozenset({"variables", "operationName"})

_TOKEN = re.compile(
    r"""(?P<ignored>[ \t\r\n,\ufeff]+|\#[^\r\n]*)
    |\"\"\"(?:\\\"\"\"|[^"]|"(?!""))*\"\"\"
    |"(?:\\.|[^"\\\r\n])*"
    |\.\.\.
    |[_A-Za-z][_0-9A-Za-z]*
    |-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?
    |[!$&():=@\[\]{|}]""",
    re.VERBOSE,
)
_BEGINNINGS = frozenset({"{", "query", "mutation", "subscription", "fragment"})


def is_envelope(names: set[str]) -> bool:
    """Whether a JSON object with members NAMES can be a GraphQL request: variables, or nothing foreign."""
    return not _TELLING.isdisjoint(names) or _ENVELOPE.issuperset(names)


def tokens(document: str) -> list[str] | None:
    """The tokens that mean something, in order; None where DOCUMENT is not made of GraphQL tokens."""
    found: list[str] = []
    at = 0
    while at < len(document):
        token = _TOKEN.match(document, at)
        if token is None:
            return None
        at = token.end()
        if token["ignored"] is None:
            found.append(token[0])
    return found


def without_layout(document: str) -> str | None:
    """DOCUMENT's tokens with one space between them; None where it is no GraphQL operation."""
    found = tokens(document)
    if not found or found[0] not in _BEGINNINGS:
        return None
    if "{" not in found or found.count("{") != found.count("}"):
        return None
    return " ".join(found)
