"""The subset of JSONPath (RFC 9535) of selectors: `$`, `.name`, `['name']`, `[3]`, `[*]`, `..name`.

A concrete path is a tuple of names and array positions; `()` is the document itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

type Path = tuple[str | int, ...]

_STEP = re.compile(
    r"""\.\.(?:(?P<deep>[^.\[\]'"*\s]+)|\[(?P<deep_quoted>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\])
    |\.(?P<name>[^.\[\]'"*\s]+)
    |\[(?P<quoted>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\]
    |\[(?P<index>\d+)\]
    |(?P<every>\[\*\]|\.\*)""",
    re.VERBOSE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Step:
    """One step down: to the member or position `to`, or any (None); `deep` first skips any levels."""

    to: str | int | None
    deep: bool = False


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A parsed path; build it with `JsonPath.parse`."""

    steps: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        """The path that TEXT spells; raises ValueError that names the column."""
        if not text.startswith("$"):
            raise ValueError(f"not a JSON path: {text!r} (it starts with $)")
        steps: list[Step] = []
        at = 1
        while at < len(text):
            found = _STEP.match(text, at)
            if found is None:
                raise ValueError(
                    f"not a JSON path: {text!r} at column {at + 1} (allowed: .name ['name'] [3] [*] ..name)"
                )
            steps.append(_step(found))
            at = found.end()
        return cls(tuple(steps))

    @property
    def name(self) -> str:
        """The last member's name on this path, "" where it has none."""
        names = [step.to for step in self.steps if isinstance(step.to, str)]
        return names[-1] if names else ""

    def matches(self, path: Path) -> bool:
        """Whether PATH is one that this names."""
        return _matches(self.steps, path)


def _step(found: re.Match[str]) -> Step:
    if (deep := found["deep"] or found["deep_quoted"]) is not None:
        return Step(_unquoted(deep), deep=True)
    if found["index"] is not None:
        return Step(int(found["index"]))
    if found["every"] is not None:
        return Step(None)
    return Step(_unquoted(found["name"] or found["quoted"]))


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "'\"" else text


def _matches(steps: tuple[Step, ...], path: Path) -> bool:
    if not steps:
        return not path
    if not path:
        return False
    first, rest = steps[0], steps[1:]
    if (first.to is None or _same(first.to, path[0])) and _matches(rest, path[1:]):
        return True
    return first.deep and _matches(steps, path[1:])


def _same(wanted: str | int, found: str | int) -> bool:
    return type(wanted) is type(found) and wanted == found


@lru_cache(maxsize=1024)
def step_text(name: str) -> str:
    """NAME as one step of a path: `.name`, or `['…']` for no plain name; different names never look equal."""
    if _IDENTIFIER.fullmatch(name):
        return f".{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def spelled(path: Path) -> str:
    """A concrete path as text, which `JsonPath.parse` reads back."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else step_text(step) for step in path)


def find(document: object, path: JsonPath) -> Iterator[Path]:
    """Every concrete path in DOCUMENT (dicts and lists) that PATH names, in the document's order."""
    yield from (found for found in _paths(document, ()) if path.matches(found))


def _paths(value: object, here: Path) -> Iterator[Path]:
    yield here
    if isinstance(value, dict):
        for name, child in value.items():
            yield from _paths(child, (*here, name))
    elif isinstance(value, list):
        for position, child in enumerate(value):
            yield from _paths(child, (*here, position))
