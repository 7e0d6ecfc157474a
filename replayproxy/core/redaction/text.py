"""Secrets in running text: known values, known shapes, the user's patterns, and what is nested in escapes.

A search finds edits; it changes nothing but the vault, which learns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from replayproxy.core.credentials import DOUBTFUL, Where, is_opaque, names_credential, shapes
from replayproxy.core.provider import RedactRule
from replayproxy.core.redaction.edits import Edit
from replayproxy.core.redaction.values import conceal_value, reads_as_authorization
from replayproxy.core.redaction.vault import Vault
from replayproxy.core.redaction.views import ANY, FORM, Escape, View, view

USER = "user-rule"
"""The rule of what a rule of the user's found."""
OPAQUE = "opaque-field"
"""The rule of a field whose name is doubtful and whose value is opaque."""

_PROSE = re.compile(r"\s")
_NO_SECRET = frozenset(
    """string password secret token null none true false required optional redacted example changeme invalid missing
    expired disabled enabled default undefined""".split()  # noqa: SIM905 - a table
)


@dataclass(frozen=True, slots=True)
class Search:
    """A search of one side of an exchange: what is known, what the user asks for, and whether the client sent it."""

    vault: Vault
    rules: tuple[RedactRule, ...] = ()
    sent: bool = True

    @property
    def patterns(self) -> list[str]:
        """The user's regular expressions."""
        return [rule.pattern for rule in self.rules if rule.pattern]

    def selected(self, kind: str, name: str) -> bool:
        """Whether the user asks for the field NAME of this KIND (header names in lower case)."""
        return any(rule.at and rule.at.kind == kind and rule.at.name == name for rule in self.rules)

    def may_name(self, name: str, where: Where) -> bool:
        """Whether the field NAME carries a credential, for some value."""
        if names_credential(name, where) or name.lower() in DOUBTFUL[where]:
            return True
        return bool(self.rules) and self.selected(where, name.lower() if where == "header" else name)

    def named(self, name: str, value: str, where: Where) -> str | None:
        """The rule by which VALUE of the field NAME is a credential, or None."""
        if self.selected(where, name.lower() if where == "header" else name):
            return USER
        rule = names_credential(name, where)
        if rule is None:
            doubtful = name.lower() in DOUBTFUL[where] and is_opaque(value)
            return OPAQUE if doubtful else None
        return rule if where == "header" or self._is_credible(value, rule) else None

    def _is_credible(self, value: str, rule: str) -> bool:
        """Whether VALUE can be the credential that its name promises: no prose, no name of a type."""
        if rule == "authorization":
            return reads_as_authorization(value)
        if not self.sent and value.lower() in _NO_SECRET:
            return False
        if not _PROSE.search(value) or "-----BEGIN" in value or reads_as_authorization(value):
            return True
        return self.sent and rule == "password"

    def conceal(
        self, text: str, span: tuple[int, int], rule: str, at: str, escape: Escape | None = None
    ) -> Iterator[Edit]:
        """The edit that masks the value at SPAN, which is spelled under ESCAPE; none where it is masked already."""
        source = text[slice(*span)]
        seen = view(source, escape) if escape else None
        value = seen.text if seen else source
        made, masks = conceal_value(self.vault, value, rule, words=self.sent or rule == USER)
        if masks:
            yield Edit(*span, seen.spell(0, len(value), made) if seen else made, masks, at)

    def text(self, text: str, at: str, depth: int = 0) -> list[Edit]:
        """Secrets in TEXT, whatever it is, as it stands; edits may overlap."""
        edits = list(self._patterns(text, at)) if depth == 0 else []
        edits += self._shapes(text, at)
        return [*edits, *(replace(edit, at=at) for edit in self.vault.find(text))]

    def views(self, text: str) -> Iterator[View]:
        """What TEXT spells: each escape read where it stands, and `+` as a space where that can matter."""
        for escape in (ANY, FORM) if self.vault.has_spaces and "+" in text else (ANY,):
            seen = view(text, escape) if escape is FORM or any(mark in text for mark in "%\\&") else None
            if seen:
                yield seen

    def _shapes(self, text: str, at: str) -> Iterator[Edit]:
        masked: list[tuple[int, int]] | None = None
        for shape in shapes(text):
            if masked is None:
                masked = self.vault.masked(text)
            behind = bisect_right(masked, (shape.start, len(text)))
            if behind and masked[behind - 1][1] >= shape.end:
                continue  # A part of what stands for a secret.
            yield from self.conceal(text, (shape.start, shape.end), shape.rule, at, ANY)

    def _patterns(self, text: str, at: str) -> Iterator[Edit]:
        for pattern in self.patterns:
            for span in pattern_spans(pattern, text):
                yield from self.conceal(text, span, USER, at)


def lifted(seen: View, edits: Iterable[Edit]) -> Iterator[Edit]:
    """EDITS of what SEEN spells, as edits of its source."""
    for edit in edits:
        start, end = seen.span(edit.start, edit.end)
        yield replace(edit, start=start, end=end, new=seen.spell(edit.start, edit.end, edit.new))


def pattern_spans(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """What the user's PATTERN matches in octet text: its first group where it has one, else all of it."""
    compiled = _compiled(pattern)
    group = 1 if compiled.groups else 0
    try:
        characters = text if text.isascii() else text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        characters = text
    for match in compiled.finditer(characters):
        start, end = match.span(group)
        if start >= end:
            continue
        if characters is text:
            yield start, end
        else:
            before = len(characters[:start].encode("utf-8"))
            yield before, before + len(characters[start:end].encode("utf-8"))


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
