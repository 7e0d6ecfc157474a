"""SPDX licence expressions (SPDX 2.3 annex D), through the `license-expression` library."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

NO_ASSERTION = "NOASSERTION"
"""Nobody says what the licence is."""

NONE = "NONE"
"""There is no licence."""

_REFERENCE = re.compile(r"(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+")


@cache
def _licensing() -> Any:
    # Loading the library and its index takes longer than all the rest of a tag, and most tags name a LicenseRef.
    from license_expression import get_spdx_licensing  # noqa: PLC0415

    return get_spdx_licensing()


def expression(text: str) -> str:
    """TEXT in the one spelling of its expression; raises ValueError where it is none.

    Any `LicenseRef-…` is accepted: the terms of an API have no identifier at SPDX.
    """
    if _is_single(text):
        return text
    parsed = _parse(text)
    symbols = {str(symbol) for symbol in _licensing().unknown_license_symbols(parsed)}
    if strange := sorted(symbol for symbol in symbols if not _REFERENCE.fullmatch(symbol)):
        raise ValueError(f"{', '.join(strange)} in {text!r} is no identifier of the SPDX licence list")
    return str(parsed)


def _is_single(text: str) -> bool:
    return text in (NO_ASSERTION, NONE) or _REFERENCE.fullmatch(text) is not None


def _parse(text: str) -> Any:
    from license_expression import ExpressionError  # noqa: PLC0415 - as above

    try:
        parsed = _licensing().parse(text, strict=True)
    except (ExpressionError, AttributeError, TypeError, IndexError) as error:
        # AttributeError is what the library raises for `CC-BY-4.0 AND`.
        raise ValueError(f"{text!r} is not an SPDX licence expression") from error
    if parsed is None:
        raise ValueError("found an empty licence expression")
    return parsed


def joined(first: str, second: str) -> str:
    """The expression that demands both; "" where neither is given.

    `NONE` is the strictest, then `NOASSERTION`: whatever is joined with them stays unlicensed or unknown.
    """
    if not first or not second or first == second:
        return first or second
    for absorbing in (NONE, NO_ASSERTION):
        if absorbing in (first, second):
            return absorbing
    parts = sorted(demands(first) | demands(second))
    return str(_licensing().parse(" AND ".join(f"({part})" for part in parts)))


def demands(text: str) -> frozenset[str]:
    """The parts of an expression that all have to be met."""
    if _is_single(text):
        return frozenset({text})
    parsed = _licensing().parse(text)
    is_and = isinstance(parsed, _licensing().AND)
    return frozenset(str(part) for part in parsed.args) if is_and else frozenset({str(parsed)})
