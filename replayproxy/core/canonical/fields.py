"""Queries and urlencoded forms (WHATWG URL section 5): decoded fields and what of them takes part."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Literal
from urllib.parse import unquote_to_bytes

from replayproxy.core.canonical.draft import Draft
from replayproxy.core.canonical.jwt import steady_jwt
from replayproxy.core.canonical.rules import signed_fields
from replayproxy.core.credentials import names_credential

_STRAY_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
STRAY = "\udc25"
"""Stands for a percent sign that begins no escape, so that `%zz` stays apart from `%25zz`."""

ASSERTIONS = frozenset({"assertion", "client_assertion"})


def octets(text: str) -> bytes:
    """Text of the wire as the octets it stands for; text that never was on a wire as UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def decoded(text: str) -> str:
    """The name or value that TEXT spells: `+` a space, percent escapes undone, UTF-8.

    Octets that are no UTF-8 become lone surrogates, so that different octets stay different.
    """
    if "%" not in text and text.isascii():
        return text.replace("+", " ")
    pieces = _STRAY_PERCENT.split(octets(text.replace("+", " ")))
    return STRAY.join(unquote_to_bytes(piece).decode("utf-8", "surrogateescape") for piece in pieces)


def fields_of(text: str) -> list[tuple[str, str | None]]:
    """The fields of a query or form in its order, empty ones left out; the value is None without `=`."""
    found: list[tuple[str, str | None]] = []
    for piece in text.split("&"):
        if piece:
            name, equals, value = piece.partition("=")
            found.append((decoded(name), decoded(value) if equals else None))
    return found


def add_fields(draft: Draft, kind: Literal["query", "form"], text: str, prefix: str) -> None:
    """The fields of TEXT take part as `PREFIX.NAME`, sorted by name, repeats in their order.

    KIND is `query` or `form`, as in selectors. A field without `=` takes part as `PREFIX` with its name.
    """
    fields = sorted(fields_of(text), key=itemgetter(0))
    signed = signed_fields([name for name, _ in fields])
    for name, value in fields:
        place = f"{kind}:{name}"
        rule = draft.plan.left_out(place) or signed.get(name.lower(), "")
        if rule and not draft.plan.keeps(rule, place):
            draft.drop(rule, place)
        elif value is None:
            draft.part(prefix, draft.without_shapes(name, place))
        else:
            draft.part(f"{prefix}.{name}", steady_value(draft, kind, name, value))


def steady_value(draft: Draft, kind: Literal["query", "form"], name: str, value: str) -> str:
    """What of a field's VALUE takes part: all, a constant for a credential, the steady claims of a JWT."""
    place = f"{kind}:{name}"
    if kind == "form" and name in ASSERTIONS and not draft.plan.keeps("jwt-assertion", place):
        steady = steady_jwt(value)
        if steady is not None:
            draft.drop("jwt-assertion", place)
            return steady
    if value and names_credential(name, kind):
        return draft.concealed(place, value)
    return draft.without_shapes(value, place)
