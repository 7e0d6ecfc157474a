"""The spellings in which a known secret comes back: plainly, and inside base64 at each of its three alignments."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache

from replayproxy.core.redaction.edits import Edit, Mask

KNOWN = "known-value"
"""The rule by which a secret that was masked elsewhere is found again."""

_URL_SAFE = str.maketrans("+/", "-_")
_STANDARD = str.maketrans("-_", "+/")
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"


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

    def edit(self, text: str, at: int) -> Edit | None:
        """The edit that masks the secret in TEXT, where this spelling begins AT; None where it is another's part."""
        if self.shift is not None:
            return _in_base64(text, at, self, self.shift)
        end = at + len(self.text)
        if self.bounded and not stands_alone(text, at, end):
            return None
        return Edit(at, end, self.stands, (Mask(KNOWN, self.stands),))


@lru_cache(maxsize=1024)
def needles(secret: str, stands: str, *, bounded: bool) -> tuple[Needle, ...]:
    """SECRET as it is, and the part of its base64 that does not depend on its neighbours, at each alignment."""
    needles = [Needle(secret, secret, stands, None, bounded)]
    octets = secret.encode("latin-1")
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + octets).decode("ascii")
        core = text[(shift * 8 + 5) // 6 : (shift + len(octets)) * 8 // 6]
        spellings = dict.fromkeys((core, core.translate(_URL_SAFE)))
        needles += [Needle(spelled, secret, stands, shift, bounded=False) for spelled in spellings]
    return tuple(needles)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands from START to END is no part of a longer word."""
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
