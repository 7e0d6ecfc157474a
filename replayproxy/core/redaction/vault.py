"""The secrets that are known in a cassette, held in memory only, and what stands for each.

The vault answers what a value becomes (`conceal`), and where in a text known secrets come back (`find`). It never
gives a secret away: nothing that it returns holds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from replayproxy.core.redaction.edits import Edit, Mask
from replayproxy.core.redaction.lookup import Lookup
from replayproxy.core.redaction.needles import KNOWN, Needle, needles, stands_alone
from replayproxy.core.redaction.placeholder import SHORT, blank, form, placeholder
from replayproxy.core.redaction.views import ANY, view

_LEARNT_FROM = 6
_RECOGNISED_FROM = 8
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]")
_JWT = re.compile(r"(ey[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.)([A-Za-z0-9_-]*)")
_ORDINARY = frozenset(
    """access active basic bearer changeme client default disabled enabled example expired hidden invalid missing
    optional password private public redacted refresh removed required secret session string unknown username
    authorization undefined""".split()  # noqa: SIM905 - a table
)


class Vault:
    """Known secrets and placeholders; one made `within` another sees all that the other knows and adds nothing."""

    def __init__(self, salt: str, placeholders: Iterable[str] = (), within: Vault | None = None) -> None:
        self._salt = salt
        self._within = within
        self._learned: dict[str, str] = {}
        self._needles = Lookup[Needle]()
        self._placeholders: set[str] = set()
        self._masked = Lookup[None]()
        self._forms = Lookup[bool]()
        self.has_spaces: bool = within is not None and within.has_spaces
        for value in sorted(placeholders):
            self._hold(value)
            if len(value) >= _RECOGNISED_FROM and not _is_word(value):
                self._forms.add(form(value), len(set(form(value))) == 1)

    def _hold(self, stands: str) -> None:
        self._placeholders.add(stands)
        if len(stands) >= _LEARNT_FROM:
            self._masked.add(stands, None)

    def __len__(self) -> int:
        """How many secrets are known here."""
        return len(self._learned) + (len(self._within) if self._within else 0)

    @property
    def state(self) -> tuple[int, int]:
        """Another value whenever more is known than before."""
        return len(self), len(self._placeholders)

    def inner(self) -> Vault:
        """A vault that sees all that this one knows, and adds nothing to it."""
        return Vault(self._salt, within=self)

    def may_hold_new(self, text: str) -> bool:
        """Whether TEXT may hold a secret that this vault has learnt itself, beside what the one around it knows."""
        return bool(self._learned) and ("%" in text or next(self._needles.find(text), None) is not None)

    def absorb(self, other: Vault) -> None:
        """What OTHER has learnt itself is known here too."""
        for stands in other._placeholders:
            self._hold(stands)
        for secret, stands in other._learned.items():
            self._know(secret, stands)

    def is_placeholder(self, value: str) -> bool:
        """Whether VALUE stands for a secret already, or is too short to hide one."""
        if len(value) < SHORT:
            return value == blank(value)
        return value in self._placeholders or (self._within is not None and self._within.is_placeholder(value))

    def recall(self, placeholders: Iterable[str]) -> None:
        """PLACEHOLDERS are known to stand for secrets from now on."""
        for value in placeholders:
            self._hold(value)

    def masked(self, text: str) -> list[tuple[int, int]]:
        """The parts of TEXT that stand for secrets already, in order, none overlapping."""
        spans = [] if self._within is None else self._within.masked(text)
        spans += [(at, at + len(known)) for at, known, _ in self._masked.find(text)]
        joined: list[tuple[int, int]] = []
        for start, end in sorted(spans):
            if joined and start < joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        return joined

    def conceal(self, value: str, rule: str, *, words: bool = True) -> tuple[str, tuple[Mask, ...]]:
        """What VALUE becomes, and what that hides: a JWT keeps header and claims, placeholders stay.

        Where VALUE holds secrets that are known, each part is masked for itself, so that a value that a client puts
        together from placeholders comes out the same as the one that was recorded. VALUE is learnt; without
        WORDS not where it could be an ordinary word or number.
        """
        if not value or self.is_placeholder(value):
            return value, ()
        token = _JWT.fullmatch(value)
        if token:
            if not token[2]:
                return value, ()  # unsecured (RFC 7519 section 6): there is nothing to mask
            signature, masks = self.conceal(token[2], rule, words=words)
            return token[1] + signature, masks
        parts = self._parts(value)
        if not parts:
            made = self.learn(value, placeholder(self._salt, value), rule, words=words)
            return made, (Mask(rule, made),)
        return self._conceal_parts(value, parts, rule, words=words)

    def _parts(self, value: str) -> list[tuple[int, int, str]]:
        """The known secrets (with what stands for them) and placeholders inside VALUE, in order."""
        found = [(edit.start, edit.end, edit.new) for edit in self.find(value)]
        found += [(start, end, value[start:end]) for start, end in self.masked(value)]
        kept: list[tuple[int, int, str]] = []
        for part in sorted(found, key=lambda part: (part[0], -part[1])):
            if not kept or part[0] >= kept[-1][1]:
                kept.append(part)
        return kept

    def _conceal_parts(
        self, value: str, parts: list[tuple[int, int, str]], rule: str, *, words: bool
    ) -> tuple[str, tuple[Mask, ...]]:
        out, position = "", 0
        masks: tuple[Mask, ...] = ()
        for start, end, stands in [*parts, (len(value), len(value), "")]:
            between = value[position:start]
            if sum(character.isalnum() for character in between) >= SHORT:
                between, more = self.conceal(between, rule, words=words)
                masks += more
            if value[start:end] != stands:
                masks += (Mask(rule, stands),)
            out += between + stands
            position = end
        return out, masks

    def learn(self, secret: str, stands: str, rule: str, *, words: bool = True) -> str:
        """STANDS, which from now on is what SECRET becomes wherever it is found again.

        A secret of fewer than 6 octets or one that reads as an ordinary word is masked where it was found, and is
        not looked for elsewhere.
        """
        self._hold(stands)
        bounded = _is_word(secret)
        if secret in self._learned or (bounded and not words) or not _is_learnt(secret, rule, word=bounded):
            return stands
        self._know(secret, stands)
        said = view(secret, ANY)
        if said:  # Where it lies under an escape, those of its own are read too.
            self.learn(said.text, placeholder(self._salt, said.text), rule, words=words)
        return stands

    def _know(self, secret: str, stands: str) -> None:
        self._learned[secret] = stands
        self.has_spaces = self.has_spaces or " " in secret
        for needle in needles(secret, stands, bounded=_is_word(secret)):
            self._needles.add(needle.text, needle)

    def find(self, text: str) -> Iterator[Edit]:
        """Where known secrets occur in TEXT, plainly or in base64, and what they become."""
        if self._within is not None:
            yield from self._within.find(text)
        for at, _, needle in self._needles.find(text):
            edit = needle.edit(text, at)
            if edit is not None:
                yield edit
        yield from self._recognised(text)

    def _recognised(self, text: str) -> Iterator[Edit]:
        """Values whose placeholder is one of those this vault was given: secrets that another run has masked.

        Nothing secret is stored, so a client's secret is known by what it would become.
        """
        if not self._forms:
            return
        for at, wanted, uniform in self._forms.find(form(text)):
            end = at + len(wanted)
            value = text[at:end]
            if value in self._placeholders or (uniform and not stands_alone(text, at, end)):
                continue
            made = placeholder(self._salt, value)
            if made in self._placeholders:
                yield Edit(at, end, made, (Mask(KNOWN, made),))


def _is_word(secret: str) -> bool:
    """Whether SECRET could be an ordinary word or number: it has no letter, or no digit, and is not long."""
    return len(secret) < 20 and not (_DIGIT.search(secret) and _LETTER.search(secret))


def _is_learnt(secret: str, rule: str, *, word: bool) -> bool:
    if len(secret) < _LEARNT_FROM or secret.lower() in _ORDINARY or _DATE.match(secret):
        return False
    if rule == "cookie":
        return len(secret) >= 8 and not word
    return True
