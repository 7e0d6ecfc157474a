"""YAML text to plain values: dict, list, str, int, float, bool, None, bytes. Nothing is ever executed.

libyaml's events are built into values directly, so a hostile file is refused while it is read: no tag but
YAML's own and `!!binary` is understood, nesting and what aliases expand to are limited, keys are unique text.
`replayproxy.yaml` is read through here too.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from replayproxy.core.errors import CassetteError, ReplayproxyError
from replayproxy.core.shape import Path, spell

DEEPEST: Final = 64
"""Collections within collections; a cassette needs nine."""

LARGEST: Final = 1 << 30
"""Octets of one file. Large bodies lie in blobs, so more than a gibibyte of text is no cassette."""

MOST_ALIASED: Final = 100_000
"""Nodes that all aliases of a file may stand for: VCR.py writes a few, a bomb thousands of millions."""

_CORE: Final = "tag:yaml.org,2002:"


RESTORE = "the file is cut off or was damaged; restore it or record it again"


class MisfitError(Exception):
    """What is wrong at PATH of a document; `hint` says what to do. Becomes an error with file and line."""

    def __init__(self, why: str, path: Path = (), *, hint: str = "", line: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.path = path
        self.hint = hint
        self.line = line

    def under(self, *outer: str | int) -> MisfitError:
        """The same fault, seen from further out."""
        return MisfitError(self.why, (*outer, *self.path), hint=self.hint, line=self.line)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: `value` is what it holds. `data` is kept so that an error can find its line."""

    name: str
    data: bytes
    value: Any
    kind: type[ReplayproxyError] = CassetteError

    def error(self, misfit: MisfitError) -> ReplayproxyError:
        """MISFIT as the error to raise: `FILE:LINE: path.in.document: why`."""
        line = misfit.line or line_of(self.data, misfit.path)
        place = f"{spell(misfit.path)}: " if misfit.path else ""
        return self.kind(f"{self.name}:{line}: {place}{misfit.why}", hint=misfit.hint or RESTORE)


@contextlib.contextmanager
def within(*path: str | int) -> Iterator[None]:
    """Inside, a MisfitError is told as one below PATH."""
    try:
        yield
    except MisfitError as misfit:
        raise misfit.under(*path) from None


def parse(data: bytes, name: str, *, kind: type[ReplayproxyError] = CassetteError) -> Document:
    """The one document in DATA; raises KIND, with NAME and the line, for anything else or anything unsafe."""
    if len(data) > LARGEST:
        raise kind(f"{name}:1: is larger than {LARGEST >> 20} MiB", hint="keep large bodies in NAME.blobs/")
    empty = Document(name, data, None, kind)
    try:
        return Document(name, data, _Builder(data).build(), kind)
    except MisfitError as misfit:
        raise empty.error(misfit) from None
    except yaml.reader.ReaderError as error:
        line = data.count(b"\n", 0, max(error.position, 0)) + 1
        raise empty.error(MisfitError(f"is not YAML text: {error.reason}", line=line)) from None
    except yaml.MarkedYAMLError as error:
        raise empty.error(_of_yaml(error)) from None


def _of_yaml(error: yaml.MarkedYAMLError) -> MisfitError:
    mark = error.problem_mark or error.context_mark
    why = ", ".join(part for part in (error.context, error.problem) if part)
    return MisfitError(f"is not valid YAML: {why}", line=mark.line + 1 if mark else 1, hint=RESTORE)


class _Builder:
    """Builds the value from libyaml's events, without recursion."""

    def __init__(self, data: bytes) -> None:
        self._parser = CParser(data)
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._aliased = 0

    def build(self) -> Any:
        events = _content(self._parser)
        first = next(events, None)
        if first is None:
            raise MisfitError("is empty", line=1)
        value = self._value(first, events)
        deque(events, maxlen=0)  # what is wrong behind the value, a second document above all, is found by asking
        return value

    def _value(self, event: Any, events: Iterator[Any]) -> Any:
        """The value that starts with EVENT. One loop: the stack holds the collections that are still open."""
        stack: list[tuple[Any, str | None, str | None, int]] = []
        container: Any = None
        key: str | None = None
        while True:
            kind = type(event)
            self._nodes += 1
            if type(container) is dict and key is None and kind is not MappingEndEvent:
                key = _key(event, container)
                event = next(events)
                continue
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                _require_plain_collection(event, len(stack))
                stack.append((container, key, event.anchor, self._nodes))
                container, key = ({}, None) if kind is MappingStartEvent else ([], None)
                event = next(events)
                continue
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                container, key, anchor, before = stack.pop()
                self._remember(anchor, value, self._nodes - before)
            else:
                value = self._leaf(event)
            if container is None:
                return value
            if key is None:
                container.append(value)
            else:
                container[key], key = value, None
            event = next(events)

    def _leaf(self, event: Any) -> Any:
        if type(event) is AliasEvent:
            return self._aliased_value(event)
        value = scalar(event)
        self._remember(event.anchor, value, 1)
        return value

    def _remember(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _aliased_value(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise MisfitError(f"the alias *{event.anchor} stands for nothing before it", line=_line(event))
        value, size = self._anchors[event.anchor]
        self._nodes += size
        self._aliased += size
        if self._aliased > MOST_ALIASED:
            raise MisfitError("its aliases stand for too many values", line=_line(event))
        return value


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _content(parser: Any) -> Iterator[Any]:
    """The events of the values in the only document."""
    get: Callable[[], Any] = parser.get_event
    documents = 0
    while (event := get()) is not None:
        kind = type(event)
        if kind in _VALUES:
            yield event
        elif kind is DocumentStartEvent:
            documents += 1
            if documents > 1:
                raise MisfitError("holds a second document", line=_line(event))


_VALUES: Final = frozenset(
    {AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent}
)


def _key(event: Any, container: dict[str, Any]) -> str:
    """The key in EVENT, always as the text that was written: `on:` is the key "on"."""
    if type(event) is not ScalarEvent or event.tag not in (None, "!", _CORE + "str"):
        raise MisfitError("a key must be text", line=_line(event))
    key = str(event.value)
    if key in container:
        raise MisfitError(f"the key {key!r} stands twice", line=_line(event), hint="remove one of the two")
    return key


def _require_plain_collection(event: Any, depth: int) -> None:
    if depth >= DEEPEST:
        raise MisfitError(f"is nested deeper than {DEEPEST} levels", line=_line(event))
    if event.tag not in (None, "!", _CORE + "map", _CORE + "seq"):
        raise _refused_tag(event)


def _refused_tag(event: Any) -> MisfitError:
    tag = str(event.tag).replace(_CORE, "!!")
    hint = "only YAML's own types and !!binary are read; nothing in a file is executed"
    if tag.startswith("!ruby/"):
        hint = "a Ruby VCR file? try: replayproxy import FILE -o CASSETTE.yaml"
    elif tag.startswith("!!python/object:vcr.request"):
        hint = "a VCR.py 0 file? try: replayproxy import FILE -o CASSETTE.yaml"
    return MisfitError(f"the tag {tag} is refused", line=_line(event), hint=hint)


_INTEGER = re.compile(r"[-+]?(?:0b[01][01_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|0[0-7_]*|[1-9][0-9_]*)")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **{form: True for word in ("yes", "true", "on") for form in (word, word.title(), word.upper())},
    **{form: False for word in ("no", "false", "off") for form in (word, word.title(), word.upper())},
}
_NUMBER_STARTS: Final = frozenset("-+.0123456789")


def scalar(event: Any) -> Any:
    """The value of a scalar event: as PyYAML (and so VCR.py) reads it, save that times and 1:30 stay text."""
    tag = event.tag
    if tag is None:
        return plain(event.value) if event.implicit[0] else event.value
    if tag == _CORE + "binary":
        return _binary(event)
    if tag in _TEXT_TAGS:
        return event.value
    if tag in _IMPLIED_TAGS:
        return plain(event.value)
    raise _refused_tag(event)


_TEXT_TAGS: Final = frozenset({"!", *(_CORE + name for name in ("str", "python/str", "python/unicode"))})
_IMPLIED_TAGS: Final = frozenset(_CORE + name for name in ("null", "bool", "int", "float"))


def plain(text: str) -> Any:
    """What TEXT means where it stands without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").lower().lstrip("+"))
    return text


def _integer(text: str) -> Any:
    digits = text.replace("_", "").lstrip("+-")
    if len(digits) > 40:
        return text
    base = 2 if digits.startswith("0b") else 16 if digits.startswith("0x") else 8 if digits[0] == "0" else 10
    return (-1 if text[0] == "-" else 1) * int(digits, base)


def _binary(event: Any) -> bytes:
    try:
        return base64.b64decode("".join(event.value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise MisfitError("!!binary does not hold base64", line=_line(event)) from None


def line_of(data: bytes, path: Path) -> int:
    """The line, from 1, on which the value at PATH stands in DATA, or the nearest value around it.

    Reads the text anew, which costs nothing until there is an error to tell.
    """
    found = 1
    wanted = list(path)
    try:
        for at, line in _places(data):
            if at == tuple(wanted[: len(at)]):
                found = line
                if len(at) == len(wanted):
                    break
    except (yaml.YAMLError, MisfitError):
        return found
    return found


def _places(data: bytes) -> Iterator[tuple[Path, int]]:
    """Path and line of every value of a document, outer ones first."""
    stack: list[list[Any]] = []  # [is a mapping, the current key or position]
    for event in _content(CParser(data)):
        kind = type(event)
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            stack.pop()
        elif stack and stack[-1][0] and stack[-1][1] is None:
            stack[-1][1] = getattr(event, "value", "")
            yield tuple(frame[1] for frame in stack), _line(event)
            continue
        else:
            if stack and not stack[-1][0]:
                stack[-1][1] += 1
            yield tuple(frame[1] for frame in stack), _line(event)
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                stack.append([True, None] if kind is MappingStartEvent else [False, -1])
                continue
        if stack and stack[-1][0]:
            stack[-1][1] = None
