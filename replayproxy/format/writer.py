"""Plain values to YAML text: the same value always gives the same octets, and readable ones.

Written by hand rather than by libyaml's emitter, which escapes every character beyond U+FFFF and folds and
quotes as its version pleases. Tests hold every form against libyaml's and PyYAML's own loaders.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, Final


class Flow(list[Any]):
    """A list that is written on one line."""


_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_PLAIN = re.compile(r"[A-Za-z/](?:[A-Za-z0-9_.+/?=&%@~;,()*-]|:(?=[^\s:])| (?=[A-Za-z0-9]))*")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*")
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff\r]")
"""What YAML text cannot carry as it is, or what a reader or an editor would change (YAML 1.1 section 5.1)."""

_LITERAL = re.compile(r"[^ \t\n](?:.*[^ \t\n])?(?:\n|\n.*[^ \t\n])*", re.DOTALL)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(f'{UNPRINTABLE.pattern[:-1]}\n\t"\\\\]')
_LONGEST_KEY: Final = 120  # libyaml takes up to 1,024 characters for a key that `?` does not announce


def write(value: dict[str, Any]) -> bytes:
    """VALUE as a YAML document in UTF-8, of dict, list, Flow, str, int, float, bool, None and bytes.

    Raises ValueError for text with half a surrogate pair, which no UTF-8 file can hold.
    """
    lines = "\n".join(_mapping(value, "")) if value else "{}"
    return (lines + "\n").encode()


def _mapping(value: dict[str, Any], indent: str) -> Iterator[str]:
    for key, item in value.items():
        name = _text(key, flow=True) if _PLAIN_IN_FLOW.fullmatch(key) else _quoted(key)
        head = f"{indent}{name}:" if len(key) <= _LONGEST_KEY else f"{indent}? {name}\n{indent}:"
        yield from _item(head, item, indent)


def _sequence(value: list[Any], indent: str) -> Iterator[str]:
    for item in value:
        if isinstance(item, dict) and item:
            lines = _mapping(item, indent + "  ")
            yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
            yield from lines
        else:
            yield from _item(f"{indent}-", item, indent)


def _item(head: str, item: Any, indent: str) -> Iterator[str]:
    """HEAD (`key:` or `-`) with ITEM behind or under it."""
    if isinstance(item, dict) and item:
        yield head
        yield from _mapping(item, indent + "  ")
    elif isinstance(item, list) and item and not isinstance(item, Flow):
        yield head
        yield from _sequence(item, indent if head.endswith(":") else indent + "  ")
    elif isinstance(item, bytes):
        yield f"{head} !!binary |" if item else f'{head} !!binary ""'
        yield from (f"{indent}  {line}" for line in wrap(base64.b64encode(item).decode(), 76))
    elif isinstance(item, str) and _is_literal(item):
        yield from _literal(head, item, indent)
    else:
        yield f"{head} {_inline(item)}"


def _is_literal(text: str) -> bool:
    """Whether TEXT can stand as lines: several, none ending, the first not starting in white space."""
    return (
        "\n" in text
        and text[0] not in " \t\n"
        and not UNPRINTABLE.search(text)
        and " \n" not in text
        and "\t\n" not in text
        and text[-1] not in " \t"
    )


def _literal(head: str, text: str, indent: str) -> Iterator[str]:
    chomping = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    yield f"{head} |{chomping}"
    for line in text.removesuffix("\n").split("\n"):
        yield f"{indent}  {line}" if line else ""


def _inline(value: Any, *, flow: bool = False) -> str:
    """VALUE on one line."""
    if isinstance(value, str):
        return _text(value, flow=flow)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item, flow=True) for item in value) + "]"
    if value == {}:
        return "{}"
    raise TypeError(f"no YAML form for {value!r}")


def _float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    return text if "." in text else text.replace("e", ".0e")


def _text(text: str, *, flow: bool = False) -> str:
    form = _PLAIN_IN_FLOW if flow else _PLAIN
    if form.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    if "\n" in text or "\t" in text or UNPRINTABLE.search(text):
        return '"' + _ESCAPED.sub(_escape, text) + '"'
    return "'" + text.replace("'", "''") + "'"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("half a surrogate pair has no form in UTF-8")
    return _ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
