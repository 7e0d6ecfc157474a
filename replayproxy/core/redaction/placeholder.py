"""What stands for a secret: as long as it, of the same kinds of character, and always the same within a cassette.

Values are octet text: `str` whose characters are octets (Latin-1), non-ASCII text as its UTF-8 octets.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from replayproxy.core.credentials import kept_prefix

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
ATTEMPTS = 9
"""How often a placeholder that came out as the value is made again, before letters stand for all of it."""
SHORT = 4
"""Values with fewer characters hide nothing; all of one form share one placeholder (`x`, `X`, `0`)."""

_ESCAPED_MARK = re.compile("%(?:2[0-9A-Fa-f]|3[A-Fa-f]|[46]0|5[B-Fb-f]|7[B-Eb-e])")
_HEX_LETTERS = frozenset("abcdefABCDEF")
_CLASSES = str.maketrans({**dict.fromkeys(LOWER, "a"), **dict.fromkeys(UPPER, "A"), **dict.fromkeys("0123456789", "9")})


@lru_cache(maxsize=4096)
def placeholder(salt: str, value: str) -> str:
    """What stands for VALUE in a cassette with this SALT (hex).

    Same length in octets, digits for digits and letters for letters of their case (hexadecimal stays so), other
    ASCII characters (percent-encoded ones too) and a vendor's prefix kept; no number gains a leading zero. It differs
    from VALUE, unless VALUE is shorter than SHORT or empty. Made by HMAC-SHA256 (RFC 2104), so that it tells nothing
    about VALUE.
    """
    if len(value) < SHORT:
        return blank(value)
    kept = kept_prefix(value)
    rest, octets = _characters(value[kept:])
    key = bytes.fromhex(salt)
    for attempt in range(ATTEMPTS):
        choose = _chooser(key, attempt, value)
        made = value[:kept] + "".join(_stand_ins(rest, choose, octets=octets))
        if made != value:
            return made
    choose = _chooser(key, ATTEMPTS, value)
    return "".join(LOWER[choose(26)] for _ in value)


def blank(value: str) -> str:
    """VALUE with each letter and digit replaced by the one of its kind that says nothing."""
    return value.translate(_BLANKS)


_BLANKS = str.maketrans({**dict.fromkeys(LOWER, "x"), **dict.fromkeys(UPPER, "X"), **dict.fromkeys("0123456789", "0")})


def form(value: str) -> str:
    """The kinds of VALUE's characters; a value and its placeholder share it."""
    return value.translate(_CLASSES)


def text_of(value: str) -> str:
    """Octet text as the characters that its octets spell in UTF-8; as it is where they spell none."""
    return _characters(value)[0]


def octets_of(text: str) -> str:
    """The octet text of a placeholder that `text_of` gave TEXT for.

    In a placeholder a character outside ASCII is beyond U+00FF if its octets are UTF-8, and an octet if they are not.
    """
    return text if all(character <= "\xff" for character in text) else text.encode("utf-8").decode("latin-1")


def _characters(value: str) -> tuple[str, bool]:
    """VALUE as the characters its octets spell, where they are UTF-8; else the octets, and True."""
    try:
        return value.encode("latin-1").decode("utf-8"), False
    except UnicodeError:
        return value, True


def _chooser(key: bytes, attempt: int, value: str) -> Callable[[int], int]:
    """A function that gives the next number below its argument, from HMAC-SHA256 in counter mode."""

    def octets() -> Iterator[int]:
        block = 0
        while True:
            digest = hmac.digest(key, b"%d:%d:" % (attempt, block) + value.encode("utf-8"), hashlib.sha256)
            yield from (int.from_bytes(digest[at : at + 2]) for at in range(0, len(digest), 2))
            block += 1

    stream = octets()
    return lambda below: next(stream) % below


def _stand_ins(value: str, choose: Callable[[int], int], *, octets: bool) -> Iterator[str]:
    """A character for each of VALUE's, as octet text."""
    hexadecimal = _is_hexadecimal(value)
    fixed = {at for escape in _ESCAPED_MARK.finditer(value) for at in range(*escape.span())}
    if value.endswith("="):  # The last character before the padding of base64 has bits that must stay zero.
        fixed.add(len(value.rstrip("=")) - 1)
    for at, character in enumerate(value):
        if at in fixed:
            yield character
        elif character == "0":
            yield str(choose(10))
        elif "1" <= character <= "9":
            yield str(1 + choose(9))
        elif character.isascii() and character.isalpha():
            letters = LOWER[:6] if hexadecimal else LOWER
            letter = letters[choose(len(letters))]
            yield letter if character.islower() else letter.upper()
        else:
            yield character if character.isascii() else _wide(character, choose, octet=octets)


def _is_hexadecimal(value: str) -> bool:
    letters = [character for character in value if character.isalpha()]
    digits = any(character.isdigit() for character in value)
    return len(value) >= 8 and digits and all(letter in _HEX_LETTERS for letter in letters)


def _wide(character: str, choose: Callable[[int], int], *, octet: bool) -> str:
    """Octet text for a character outside ASCII, as many octets as it takes."""
    if octet:
        return chr(0xE0 + choose(31))
    octets = len(character.encode("utf-8"))
    if octets == 2:
        made = chr(0x430 + choose(32))
    elif octets == 3:
        made = chr(0x4E00 + choose(256))
    else:
        made = chr(0x1F600 + choose(64))
    return made.encode("utf-8").decode("latin-1")
