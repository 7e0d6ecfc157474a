"""The secrets that are known in a cassette, held in memory only, and what stands for each.

The vault answers what a value becomes (`conceal`), and where in a text known secrets come back (`find`). It never
gives a secret away: nothing that it returns holds one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from replayproxy.core.redaction.edits import Edit, Mask
from replayproxy.core.redaction.placeholder import SHORT, blank, form, placeholder

KNOWN = "known-value"
"""The rule by which a secret that was masked elsewhere is found again."""

_LEARNT_FROM = 6
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]")
_JWT = re.compile(r"(ey[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.)([A-Za-z0-9_-]*)")
_ORDINARY = frozenset(
    """access active basic bearer changeme client default disabled enabled example expired hidden invalid missing
    optional password private public redacted refresh removed required secret session string unknown username
    authorization undefined""".split()  # noqa: SIM905 - a table
)
_WINDOW = 6
_MANY = 200


@dataclass(frozen=True, slots=True)
class Needle:
    """A spelling in which a secret may come back.

    `shift` is how many octets stand before the secret in the first group of base64, None where it is spelled plainly.
    `bounded` needles are ordinary words: they count only between characters that no word has.
    """

    text: str
    secret: str
    stands: str
    shift: int | None
    bounded: bool


class Vault:
    """Known secrets and placeholders; one made `within` another sees all that the other knows and adds nothing."""

    def __init__(self, salt: str, placeholders: Iterable[str] = (), within: Vault | None = None) -> None:
        self._salt = salt
        self._within = within
        self._learned: dict[str, str] = {}
        self._needles: dict[str, Needle] = {}
        self.has_spaces: bool = within is not None and within.has_spaces
        self._placeholders = set(placeholders)
        self._forms = _forms(self._placeholders)

    def __len__(self) -> int:
        """How many secrets are known here."""
        return len(self._learned) + (len(self._within) if self._within else 0)

    def is_placeholder(self, value: str) -> bool:
        """Whether VALUE stands for a secret already, or is too short to hide one."""
        if len(value) < SHORT:
            return value == blank(value)
        return value in self._placeholders or (self._within is not None and self._within.is_placeholder(value))

    def holds(self, value: str) -> bool:
        """Whether VALUE is part of a placeholder."""
        return any(value in known for known in self._placeholders) or (
            self._within is not None and self._within.holds(value)
        )

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
        found += [
            (at, at + len(known), known)
            for known in self._all_placeholders()
            if len(known) >= _LEARNT_FROM and (at := value.find(known)) >= 0
        ]
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
            if sum(character.isalnum() for character in between) >= _LEARNT_FROM:
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
        self._placeholders.add(stands)
        bounded = _is_word(secret)
        if secret in self._learned or (bounded and not words) or not _is_learnt(secret, rule, word=bounded):
            return stands
        self._learned[secret] = stands
        self.has_spaces = self.has_spaces or " " in secret
        for needle in _needles(secret, stands, bounded=bounded):
            self._needles.setdefault(needle.text, needle)
        return stands

    def find(self, text: str) -> Iterator[Edit]:
        """Where known secrets occur in TEXT, plainly or in base64, and what they become."""
        if self._within is not None:
            yield from self._within.find(text)
        for needle in self._candidates(text):
            yield from _occurrences(text, needle)
        yield from self._recognised(text)

    def _candidates(self, text: str) -> Iterable[Needle]:
        """The needles that TEXT may hold."""
        if len(self._needles) < _MANY:
            return [needle for spelled, needle in self._needles.items() if spelled in text]
        windows = {text[at : at + _WINDOW] for at in range(len(text) - _WINDOW + 1)}
        return [needle for spelled, needle in self._needles.items() if spelled[:_WINDOW] in windows]

    def _recognised(self, text: str) -> Iterator[Edit]:
        """Values whose placeholder is one of those this vault was given: secrets that another run has masked.

        Nothing secret is stored, so a client's secret is known by what it would become.
        """
        if not self._forms or len(text) < 8:
            return
        shape = form(text)
        for wanted in self._forms:
            at = shape.find(wanted)
            while at >= 0:
                value = text[at : at + len(wanted)]
                made = value if value in self._placeholders else placeholder(self._salt, value)
                if made != value and made in self._placeholders:
                    yield Edit(at, at + len(wanted), made, (Mask(KNOWN, made),))
                at = shape.find(wanted, at + 1)

    def _all_placeholders(self) -> Iterator[str]:
        yield from self._placeholders
        if self._within is not None:
            yield from self._within._all_placeholders()


def _forms(placeholders: Iterable[str]) -> tuple[str, ...]:
    """The forms of the placeholders that a value can be told by: long enough, with letters and digits."""
    return tuple(sorted({form(value) for value in placeholders if len(value) >= 8 and not _is_word(value)}))


def _is_word(secret: str) -> bool:
    """Whether SECRET could be an ordinary word or number: it has no letter, or no digit, and is not long."""
    return len(secret) < 20 and not (_DIGIT.search(secret) and _LETTER.search(secret))


def _is_learnt(secret: str, rule: str, *, word: bool) -> bool:
    if len(secret) < _LEARNT_FROM or secret.lower() in _ORDINARY or _DATE.match(secret):
        return False
    if rule == "cookie":
        return len(secret) >= 8 and not word
    return True


def _needles(secret: str, stands: str, *, bounded: bool) -> Iterator[Needle]:
    """SECRET as it is, and the part of its base64 that does not depend on its neighbours, at each alignment."""
    yield Needle(secret, secret, stands, None, bounded)
    octets = secret.encode("latin-1")
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + octets).decode("ascii")
        core = text[(shift * 8 + 5) // 6 : (shift + len(octets)) * 8 // 6]
        for spelled in {core, core.translate(_URL_SAFE)}:
            yield Needle(spelled, secret, stands, shift, bounded=False)


_URL_SAFE = str.maketrans("+/", "-_")
_STANDARD = str.maketrans("-_", "+/")
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"


def _occurrences(text: str, needle: Needle) -> Iterator[Edit]:
    at = text.find(needle.text)
    while at >= 0:
        end = at + len(needle.text)
        if needle.shift is not None:
            edit = _in_base64(text, at, needle, needle.shift)
            if edit is not None:
                yield edit
        elif not needle.bounded or _stands_alone(text, at, end):
            yield Edit(at, end, needle.stands, (Mask(KNOWN, needle.stands),))
        at = text.find(needle.text, at + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    around = text[start - 1 : start] + text[end : end + 1] if start else text[end : end + 1]
    return not any(character.isalnum() or character == "_" for character in around)


def _in_base64(text: str, at: int, needle: Needle, shift: int) -> Edit | None:
    """The edit of the groups of four characters that hold the secret, whose base64 begins inside one of them."""
    skipped = (shift * 8 + 5) // 6
    begin = at - skipped
    groups = -(-(shift + len(needle.secret)) // 3)
    head = "A" * -begin if begin < 0 else ""
    source = text[max(begin, 0) : begin + 4 * groups]
    source = source[: len(source) - len(source.lstrip(_ALPHABET))]
    coded = (head + source).translate(_STANDARD).ljust(4 * groups, "A")
    octets = base64.b64decode(coded)
    if octets[shift : shift + len(needle.secret)] != needle.secret.encode("latin-1"):
        return None
    changed = octets[:shift] + needle.stands.encode("latin-1") + octets[shift + len(needle.secret) :]
    made = base64.b64encode(changed).decode("ascii")[len(head) : len(head) + len(source)]
    if "-" in source or "_" in source or needle.text != needle.text.translate(_STANDARD):
        made = made.translate(_URL_SAFE)
    start = max(begin, 0)
    return Edit(start, start + len(source), made, (Mask(KNOWN, needle.stands),))
