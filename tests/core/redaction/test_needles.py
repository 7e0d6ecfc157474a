"""A known secret in its spellings, and what each of them becomes."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.edits import apply, settle
from replayproxy.core.redaction.needles import Needle, needles, stands_alone

SECRET, STANDS = "AT-live/0012+x==", "OT-tufq/2276+x=="


def masked(text: str, secret: str = SECRET, stands: str = STANDS, *, bounded: bool = False) -> str:
    """TEXT after all edits for SECRET."""
    edits = []
    for needle in needles(secret, stands, bounded=bounded):
        at = text.find(needle.text)
        while at >= 0:
            edit = needle.edit(text, at)
            edits += [edit] if edit else []
            at = text.find(needle.text, at + 1)
    return apply(text, settle(edits))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("hunter", "wkqmzx"),
        ("the hunter.", "the wkqmzx."),
        ("hunter2", "hunter2"),
        ("a_hunter", "a_hunter"),
        ("huntersome hunter", "huntersome wkqmzx"),
    ],
)
def test_an_ordinary_word_counts_where_it_stands_alone(text: str, result: str) -> None:
    """What is part of a longer word is another word."""
    assert masked(text, "hunter", "wkqmzx", bounded=True) == result


@pytest.mark.parametrize(
    ("text", "start", "end", "alone"),
    [("ab", 0, 2, True), (" ab ", 1, 3, True), ("xab", 1, 3, False), ("ab_", 0, 2, False), ("-ab-", 1, 3, True)],
)
def test_where_a_word_ends(text: str, start: int, end: int, alone: bool) -> None:
    """Letters, digits and the underscore go on with a word; the ends of a text do not."""
    assert stands_alone(text, start, end) is alone


@given(
    st.lists(st.integers(33, 255), min_size=6, max_size=24, unique=True).map(bytes),
    st.binary(max_size=7),
    st.binary(max_size=7),
    st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]),
    st.sampled_from(["", "="]),
)
def test_base64_of_a_text_around_it(
    secret: bytes, before: bytes, after: bytes, encode: Callable[[bytes], bytes], stripped: str
) -> None:
    """Whatever stands around a secret, in its base64 the secret's octets change and no others."""
    stands = bytes(octet ^ 1 for octet in secret)
    text = encode(before + secret + after).decode()
    text = text.rstrip(stripped) if stripped else text
    made = masked(text, secret.decode("latin-1"), stands.decode("latin-1"))
    standard = made.translate(str.maketrans("-_", "+/")).rstrip("=")
    assert len(made) == len(text)
    assert base64.b64decode(standard + "=" * (-len(standard) % 4)) == before + stands + after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("QVQtbGl2ZS8wMDEyK3g9PQ==", id="alone"),
        pytest.param("x:QVQtbGl2ZS8wMDEyK3g9PQ", id="unpadded, after another character"),
        pytest.param("QVQtbGl2ZS8wMDEyK3g9PQ\r\nIA", id="before a new line"),
    ],
)
def test_base64_ends_where_its_alphabet_ends(text: str) -> None:
    """Characters around a coded secret stay; the coded secret goes."""
    made = masked(text)
    assert len(made) == len(text)
    assert "QVQtbGl2ZS8wMDEy" not in made
    assert made[:2] == text[:2] or not text.startswith("x:")


def test_what_only_looks_like_its_base64_stays() -> None:
    """The part that does not depend on neighbours may be another secret's: the octets decide."""
    needle = Needle("LW9uZS0", "-one-", "-two-", 0, bounded=False)
    assert needle.edit("LW9uZSs", 0) is None
    assert needle.edit("LW9uZS0t", 0) is not None
