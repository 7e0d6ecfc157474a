"""What a user says about one third party: the values of `providers:` in replayproxy.yaml.

These values are data: `core.canonical`, `core.redaction`, `core.sequence` and `core.rights` give them their meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from replayproxy.core.rights import Tag

SELECTOR_KINDS = ("header", "query", "form", "json", "path")
Sequence = Literal["repeat-last", "once", "cycle"]
SEQUENCES: tuple[Sequence, ...] = ("repeat-last", "once", "cycle")


@dataclass(frozen=True, slots=True)
class Selector:
    """A place in a request or response: `header:NAME`, `query:NAME`, `form:NAME`, `json:$.path`, `path:REGEX`.

    Header names are held in lower case. `json` takes `$`, `.name`, `['name']`, `[3]`, `[*]` and `..name`.
    """

    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Selector:
        """The selector that TEXT spells; raises ValueError that says what is allowed."""
        kind, colon, name = text.partition(":")
        if not colon or kind not in SELECTOR_KINDS or not name:
            allowed = ", ".join(f"{kind}:…" for kind in SELECTOR_KINDS)
            raise ValueError(f"not a selector: {text!r} (allowed: {allowed})")
        if kind == "json" and not name.startswith("$"):
            raise ValueError(f"not a JSON path: {name!r} (it starts with $)")
        if kind == "path":
            try:
                re.compile(name)
            except re.error as error:
                raise ValueError(f"not a regular expression: {name!r} ({error})") from error
        return cls(kind, name.lower() if kind == "header" else name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """How requests to a provider are matched, beside the built-in rules.

    `on` holds ids of built-in rules, or selectors, that are taken back for this provider. `read_only` holds
    globs of `METHOD PATH` whose unsafe method does not write.
    """

    ignore: tuple[Selector, ...] = ()
    bind: tuple[Selector, ...] = ()
    on: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    sequence: Sequence = "repeat-last"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactRule:
    """A user's redaction: a place (`at`) or a regular expression (`pattern`), exactly one of them."""

    at: Selector | None = None
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A third party, known by its hosts (globs, lower case)."""

    name: str
    hosts: tuple[str, ...]
    rights: Tag | None = None
    match: MatchRules = MatchRules()
    redact: tuple[RedactRule, ...] = ()

    def serves(self, host: str) -> bool:
        """Whether HOST (normalised) is one of this provider's."""
        return any(fnmatchcase(host, pattern) for pattern in self.hosts)


DEFAULT = Provider(name="", hosts=("*",))
"""What holds for a host that no provider of the configuration names."""


@dataclass(frozen=True, slots=True)
class Providers:
    """All providers of a configuration; the first that serves a host decides."""

    all: tuple[Provider, ...] = ()

    def of(self, host: str) -> Provider:
        """The provider of HOST (normalised), or DEFAULT."""
        return next((provider for provider in self.all if provider.serves(host)), DEFAULT)
