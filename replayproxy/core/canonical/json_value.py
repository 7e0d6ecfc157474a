"""JSON (RFC 8259) read by value: numbers exact, repeated names kept, and nothing else accepted."""

from __future__ import annotations

import json
import re
from typing import NoReturn

DEEPEST = 200
"""Deeper documents are matched octet for octet, so that no key depends on the depth of the stack."""

_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_LONGEST_PLAIN = 20


class Number(str):
    """A JSON number in canonical spelling: equal numbers are equal text (1, 1.0 and 10e-1 are `1`)."""

    __slots__ = ()


class Members(tuple[tuple[str, object], ...]):
    """A JSON object as its members in their order, repeats included."""

    __slots__ = ()

    def get(self, name: str) -> object:
        """The value of the last member NAME, or None."""
        return next((value for key, value in reversed(self) if key == name), None)


def parse(data: bytes) -> object:
    """The value of DATA (Members, list, str, Number, bool, None); ValueError for no JSON in UTF-8."""
    try:
        return _decoder.decode(data.decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def number(text: str) -> Number:
    """The canonical spelling of the JSON number TEXT; its size does not grow with the exponent."""
    if len(text) < _LONGEST_PLAIN and text != "-0" and (text.isdigit() or text[1:].isdigit()):
        return Number(text)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise ValueError(f"not a JSON number: {text[:40]!r}")
    sign, whole, fraction, power = found.groups(default="")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return Number("0")
    exponent = int(power or "0") - len(fraction) + len(digits) - len(significant)
    return Number(sign + _plain(significant, exponent))


def _plain(digits: str, exponent: int) -> str:
    if exponent == 0:
        return digits
    if 0 < exponent <= _LONGEST_PLAIN:
        return digits + "0" * exponent
    if -_LONGEST_PLAIN <= exponent < 0:
        padded = digits.rjust(1 - exponent, "0")
        return f"{padded[:exponent]}.{padded[exponent:]}"
    return f"{digits}e{exponent}"


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name}")


_decoder = json.JSONDecoder(object_pairs_hook=Members, parse_int=number, parse_float=number, parse_constant=_refuse)
