"""What stands for a secret has its shape, tells nothing, and is always the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.placeholder import SHORT, blank, form, octets_of, placeholder, text_of

SALT = "00ff" * 8


def octets(text: str) -> str:
    """TEXT as octet text."""
    return text.encode().decode("latin-1")


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("AT-live/0012+x==", r"[A-Z]{2}-[a-z]{4}/\d{2}[1-9]{2}\+x=="),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", r"sk_live_\d[a-z][A-Z].{21}"),
        ("ghp_abcdefgh1", r"ghp_[a-z]{8}[1-9]"),
        ("d41d8cd98f00b204e9800998ecf8427e", r"[0-9a-f]{32}"),
        ("D41D8CD98F", r"[0-9A-F]{10}"),
        ("a8098c1a-f86e-11da-bd1a-00112444be1e", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        ("1234567890", r"[1-9]{9}\d"),
        ("hello", r"[a-z]{5}"),
        ("abcd1230=", r"[a-z]{4}[1-9]{3}0="),
        ("!!!!", r"[a-z]{4}"),
        ("====", r"[a-z]{4}"),
        ("abc", "xxx"),
        ("A1", "X0"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_the_shape_stays(value: str, shape: str) -> None:
    """Length, kinds of character, vendor's prefix, punctuation and padding."""
    made = placeholder(SALT, value)
    assert re.fullmatch(shape, made)
    assert made != value or value == "-" or not value
    assert made == placeholder(SALT, value)


def test_another_salt_gives_another_placeholder() -> None:
    """Two cassettes cannot be compared."""
    assert placeholder(SALT, "AT-live-0001") != placeholder("11" * 16, "AT-live-0001")


@pytest.mark.parametrize("value", ["пароль", "密码密码", "🔑🔑🔑🔑", "pässword"])
def test_text_outside_ascii_stays_text(value: str) -> None:
    """As many characters in as many octets; the text form can be read back."""
    made = placeholder(SALT, octets(value))
    assert len(made) == len(octets(value))
    text = made.encode("latin-1").decode()
    assert len(text) == len(value)
    assert text_of(made) == text
    assert octets_of(text) == made


def test_octets_that_are_no_text_stay_octets() -> None:
    """Octets that are not UTF-8 are replaced one by one."""
    made = placeholder(SALT, "\xff\xfe\xe9-1234")
    assert len(made) == 8
    assert made[3] == "-"
    assert text_of(made) == made == octets_of(made)


@given(st.text(alphabet=st.characters(max_codepoint=255), min_size=SHORT, max_size=40))
def test_same_length_and_never_the_secret(value: str) -> None:
    """Whatever the octets."""
    made = placeholder(SALT, value)
    assert len(made) == len(value)
    assert made != value
    assert octets_of(text_of(made)) == made


@given(st.from_regex(r"[a-zA-Z0-9_./+-]{4,40}", fullmatch=True))
def test_a_value_and_its_placeholder_share_their_form(value: str) -> None:
    """So that a secret can be told by what it would become, with no secret stored."""
    if re.search(r"[a-zA-Z0-9]", value):
        assert form(placeholder(SALT, value)) == form(value)
    assert blank(blank(value)) == blank(value)
