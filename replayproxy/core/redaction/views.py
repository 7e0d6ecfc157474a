"""Text under an escape (percent, JSON, HTML), read as what it spells and changed in its own spelling.

A view keeps where each escape stood, so that an edit to what is spelled becomes an edit of the source that leaves
every other octet, and every spelling, as it was. All text is octet text.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_PERCENT_PLUS = re.compile(r"%[0-9A-Fa-f]{2}|\+")
_JSON = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[\\\"/bfnrt])")
_HTML = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,4}|#[xX][0-9A-Fa-f]{1,4});")


@dataclass(frozen=True, slots=True)
class Escape:
    """A way of spelling characters: which spellings there are, what each says, and how to spell anew."""

    pattern: re.Pattern[str]
    read: Callable[[str], str]
    write: Callable[[str, str], str]
    """The spelling of a text, in the manner of an older spelling."""


@dataclass(frozen=True, slots=True)
class View:
    """What SOURCE spells. `starts`, `ends` and `froms` are positions of the escapes in `text` and in `source`."""

    source: str
    text: str
    escape: Escape
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    froms: tuple[int, ...]
    tos: tuple[int, ...]

    def at(self, position: int) -> int:
        """The position in the source of what begins at POSITION of the text."""
        index = bisect_right(self.starts, position) - 1
        if index < 0:
            return position
        if position < self.ends[index]:
            return self.froms[index]
        return self.tos[index] + position - self.ends[index]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the source that spells the text from START to END; whole escapes."""
        if end <= start:
            return self.at(start), self.at(start)
        index = bisect_right(self.starts, end - 1) - 1
        inside = index >= 0 and end - 1 < self.ends[index]
        return self.at(start), self.tos[index] if inside else self.at(end - 1) + 1

    def spell(self, start: int, end: int, new: str) -> str:
        """NEW, as long as the text from START to END, spelled as the source spells each character there."""
        parts, position = [], start
        for index in range(bisect_right(self.ends, start), len(self.starts)):
            first, last = self.starts[index], self.ends[index]
            if first >= end:
                break
            parts.append(new[position - start : max(first, start) - start])
            parts.append(self._respell(index, start, end, new))
            position = last
        parts.append(new[position - start :] if position < end else "")
        return "".join(parts)

    def _respell(self, index: int, start: int, end: int, new: str) -> str:
        """The spelling of one escape after the change; one that is not touched keeps its own."""
        first, last = self.starts[index], self.ends[index]
        old = self.source[self.froms[index] : self.tos[index]]
        before, after = self.text[first : max(first, start)], self.text[min(last, end) : last]
        said = before + new[max(first, start) - start : min(last, end) - start] + after
        return old if said == self.text[first:last] else self.escape.write(said, old)


def view(source: str, escape: Escape) -> View | None:
    """SOURCE read under ESCAPE; None where it holds no spelling of that kind."""
    parts: list[str] = []
    marks: list[tuple[int, int, int, int]] = []
    position = size = 0
    for match in escape.pattern.finditer(source):
        said = escape.read(match.group())
        parts += (source[position : match.start()], said)
        size += match.start() - position
        marks.append((size, size + len(said), match.start(), match.end()))
        size += len(said)
        position = match.end()
    if not marks:
        return None
    parts.append(source[position:])
    starts, ends, froms, tos = zip(*marks, strict=True)
    return View(source, "".join(parts), escape, starts, ends, froms, tos)


def _octets(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _read_percent(spelling: str) -> str:
    return " " if spelling == "+" else chr(int(spelling[1:], 16))


def _write_percent(text: str, old: str) -> str:
    """Text as percent-encoded octets; an upper-case spelling unless the old one was lower case."""
    form = "%{:02x}" if any(character in "abcdef" for character in old) else "%{:02X}"
    return "".join(form.format(ord(character)) for character in text)


def _read_json(spelling: str) -> str:
    if spelling[1] != "u":
        return _SHORT_ESCAPES.get(spelling[1], spelling[1:])
    units = [int(spelling[at + 2 : at + 6], 16) for at in range(0, len(spelling), 6)]
    code = units[0] if len(units) == 1 else 0x10000 + ((units[0] - 0xD800) << 10) + (units[1] - 0xDC00)
    return _octets(chr(code))


def _write_json(text: str, old: str) -> str:
    r"""Text as JSON escapes: all as \uXXXX where the old spelling was one, else only what must be escaped."""
    every = old.startswith("\\u")
    octets = text.encode("latin-1")
    try:
        characters = octets.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        characters = octets.decode("utf-8", "surrogateescape")
    spelled = []
    for character in characters:
        if not every and character not in '"\\' and character >= " ":
            spelled.append(character.encode("utf-8", "surrogateescape").decode("latin-1"))
            continue
        units = character.encode("utf-16-be", "surrogatepass")
        spelled += [f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)]
    made = "".join(spelled)
    return made if not any("A" <= c <= "F" for c in old) else re.sub(r"u[0-9a-f]{4}", _upper_unit, made)


def _upper_unit(match: re.Match[str]) -> str:
    return "u" + match.group()[1:].upper()


def _read_html(spelling: str) -> str:
    return _octets(html.unescape(spelling))


def _write_html(text: str, _old: str) -> str:
    return html.escape(text)


PERCENT = Escape(_PERCENT, _read_percent, _write_percent)
"""Percent-encoding (RFC 3986 section 2.1)."""
FORM = Escape(_PERCENT_PLUS, _read_percent, _write_percent)
"""application/x-www-form-urlencoded: percent-encoding, and `+` for a space."""
JSON = Escape(_JSON, _read_json, _write_json)
"""The inside of a JSON string (RFC 8259 section 7)."""
HTML = Escape(_HTML, _read_html, _write_html)
"""Character references of HTML and XML, by number and the five of XML."""


def _read_any(spelling: str) -> str:
    return _OF[spelling[0]].read(spelling)


def _write_any(text: str, old: str) -> str:
    return _OF[old[0]].write(text, old)


_OF = {"%": PERCENT, "\\": JSON, "&": HTML}
ANY = Escape(re.compile("|".join(escape.pattern.pattern for escape in _OF.values())), _read_any, _write_any)
"""Each of percent-encoding, JSON and HTML, wherever it stands: what is nested is read level by level."""
