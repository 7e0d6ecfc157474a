"""The canonical form of a request: the key under which its recordings are found."""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core.canonical.body import add_body
from replayproxy.core.canonical.draft import (
    BUILT_IN,
    LEFT_OUT,
    Draft,
    Plan,
    fingerprint,
    merged,
    plan_of,
    replaced,
    sha256_of,
)
from replayproxy.core.canonical.fields import add_fields
from replayproxy.core.canonical.multipart import BOUNDARY
from replayproxy.core.canonical.rules import CONDITIONAL_HEADERS, header_rule
from replayproxy.core.exchange import Request
from replayproxy.core.provider import MatchRules

_PER_CALL = ("aws4-", "aws ", "goog4-", "oauth ", "digest ", "signature ", "sharedkey", "hmac")
"""Beginnings (lower case) of credentials that are made anew for each call and tell no client apart."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """What a request asks for.

    `key` is the SHA-256 of `parts` (32 octets): two requests have one key if and only if they have the same
    parts. `parts` are named for people: `("query.page", "2")`, `("body.$.amount", "5")`. `preference` is a
    digest of the credentials that were left out and of whether the request is conditional: of the
    recordings of one key those of equal preference come first. `dropped` tells what was left out: a rule's
    id (or `match.ignore`, `match.bind`) and the place as a selector.
    """

    key: bytes
    parts: tuple[tuple[str, str], ...]
    preference: bytes
    dropped: tuple[tuple[str, str], ...]


def canonical(request: Request, rules: MatchRules = BUILT_IN) -> Canonical:
    """The canonical form of REQUEST under the built-in rules and RULES.

    Raises ValueError only where RULES name no rule or place (settings refuse such rules when they are
    read).
    """
    draft = Draft(plan_of(rules))
    origin = request.origin
    path, _, query = request.target.partition("?")
    draft.parts += (
        ("method", request.method),
        ("scheme", origin.scheme),
        ("host", origin.host),
        ("port", str(origin.port)),
        ("path", _path(draft, path or "/")),
    )
    if query:
        add_fields(draft, "query", query, "query")
    conditional = _add_headers(draft, request)
    add_body(draft, request)
    preference = sha256_of([conditional, draft.secrets])
    return Canonical(draft.key(), tuple(draft.parts), preference, tuple(draft.dropped))


def is_conditional(request: Request) -> bool:
    """Whether REQUEST is conditional (RFC 9110 section 13.1)."""
    return any(name.lower() in CONDITIONAL_HEADERS for name, _ in request.headers)


def _path(draft: Draft, path: str) -> str:
    for pattern, rule in draft.plan.paths:
        spans = merged(
            found.span(group)
            for found in pattern.finditer(path)
            for group in (range(1, pattern.groups + 1) if pattern.groups else (0,))
            if found.start(group) >= 0
        )
        if spans:
            draft.drop(rule, f"path:{pattern.pattern}")
            path = replaced(path, [(start, end, LEFT_OUT) for start, end in spans])
    return draft.without_shapes(path, "path")


def _shown(plan: Plan, rule: str, value: str) -> str:
    """What of a header's VALUE takes part, where RULE would have left it out."""
    if rule == "credential":
        return fingerprint(value)
    if rule == "content-type" and not plan.keeps("boundary", "body"):
        return BOUNDARY.sub("", value).strip()
    return value.strip()


def _add_headers(draft: Draft, request: Request) -> bool:
    """The few header fields of the key take part; whether the request is conditional."""
    plan, conditional, taken = draft.plan, False, []
    for name, value in request.headers:
        lowered = name.lower()
        conditional = conditional or lowered in CONDITIONAL_HEADERS
        place = f"header:{lowered}"
        rule = plan.left_out(place) or header_rule(lowered)
        if not rule or plan.keeps(rule, place):
            taken.append((f"header.{lowered}", _shown(plan, rule, value)))
        elif rule == "credential":
            draft.hide(place, value if not value.lower().startswith(_PER_CALL) else "")
        else:
            draft.drop(rule, place)
    draft.parts += sorted(taken, key=lambda part: part[0])
    return conditional
