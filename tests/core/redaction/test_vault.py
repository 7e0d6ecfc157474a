"""What is known: what a value becomes, where it is found again, and what stands for a secret already."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.edits import Mask, apply, settle
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.vault import Vault

SALT = "00112233445566778899aabbccddeeff"
SECRET = "AT-live-0012"
OTHER = "zz9-plural-7"
HEADER = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0."


def stand(value: str) -> str:
    """What stands for VALUE."""
    return placeholder(SALT, value)


def masked(vault: Vault, text: str) -> str:
    """TEXT with all that VAULT finds in it masked."""
    return apply(text, settle(vault.find(text)))


CONCEALED = {
    "a value": (SECRET, stand(SECRET), 1),
    "nothing": ("", "", 0),
    "too short to hide": ("xx", "xx", 0),
    "short": ("a1", "x0", 1),
    "a JWT": (f"{HEADER}c2lnbmF0dXJl", HEADER + stand("c2lnbmF0dXJl"), 1),
    "an unsecured JWT": (HEADER, HEADER, 0),
    "known": (OTHER, stand(OTHER), 1),
    "known between marks": (f"<{OTHER}>", f"<{stand(OTHER)}>", 1),
    "known and more": (f"{OTHER}:{SECRET}", f"{stand(OTHER)}{stand(':' + SECRET)}", 2),
    "known and a little": (f"{OTHER}:ab", f"{stand(OTHER)}:ab", 1),
    "known twice": (f"{OTHER}/{OTHER}", f"{stand(OTHER)}/{stand(OTHER)}", 2),
    "masked": (stand(OTHER), stand(OTHER), 0),
    "masked and more": (f"{stand(OTHER)}:{SECRET}", f"{stand(OTHER)}{stand(':' + SECRET)}", 1),
}


@pytest.mark.parametrize(("value", "made", "masks"), CONCEALED.values(), ids=CONCEALED)
def test_what_a_value_becomes(value: str, made: str, masks: int) -> None:
    """Its placeholder; what is known or masked inside it keeps what stands for it; header and claims of a JWT stay."""
    vault = Vault(SALT)
    vault.conceal(OTHER, "key")
    concealed, hidden = vault.conceal(value, "token")
    assert concealed == made
    assert len(hidden) == masks
    assert all(mask.rule == "token" and mask.placeholder in made for mask in hidden)
    assert vault.conceal(made, "token") == (made, ())


LEARNT = {
    "a token": (SECRET, "token", True, True),
    "a word a client sent": ("hunter", "password", True, True),
    "a word a vendor sent": ("hunter", "password", False, False),
    "a long word a vendor sent": ("correcthorsebatterystaple", "password", False, True),
    "a word of the protocol": ("refresh", "token", True, False),
    "a date": ("2026-12-01T00:00:00Z", "token", True, False),
    "short": ("a1b2c", "token", True, False),
    "a cookie": ("a1b2c3d4", "cookie", True, True),
    "a short cookie": ("a1b2c3", "cookie", True, False),
    "a setting in a cookie": ("light-mode", "cookie", True, False),
}


@pytest.mark.parametrize(("secret", "rule", "words", "learnt"), LEARNT.values(), ids=LEARNT)
def test_what_is_looked_for_elsewhere(secret: str, rule: str, words: bool, learnt: bool) -> None:
    """Every value is masked where it was found; only one that no ordinary text has is masked wherever it stands."""
    vault = Vault(SALT)
    made, masks = vault.conceal(secret, rule, words=words)
    assert made == stand(secret)
    assert masks == (Mask(rule, made),)
    assert masked(vault, f"see {secret}.") == (f"see {made}." if learnt else f"see {secret}.")
    assert len(vault) == int(learnt)


def test_of_known_values_that_overlap_the_first_stays() -> None:
    """What is left of the other is masked for itself."""
    vault = Vault(SALT)
    for secret in ("abc-12-def", "12-def-3456"):
        vault.learn(secret, stand(secret), "token")
    assert vault.conceal("abc-12-def-3456", "token")[0] == stand("abc-12-def") + stand("-3456")


def test_it_learns_once() -> None:
    """The same secret again teaches nothing."""
    vault = Vault(SALT)
    for _ in range(2):
        vault.learn(SECRET, stand(SECRET), "token")
    assert len(vault) == 1


def test_a_secret_that_holds_an_escape_is_known_without_it_too() -> None:
    """What is read under escapes has those of the secret's own read as well."""
    vault = Vault(SALT)
    vault.conceal("ab%2Fcd-0012", "token")
    assert masked(vault, "x ab%2Fcd-0012 y") == f"x {stand('ab%2Fcd-0012')} y"
    assert masked(vault, "x ab/cd-0012 y") == f"x {stand('ab/cd-0012')} y"


def test_spaces_are_noticed() -> None:
    """A secret with a space may come back with a `+`."""
    vault, empty = Vault(SALT), Vault(SALT)
    assert not empty.has_spaces
    vault.learn("correct horse 9", "x", "password")
    assert vault.has_spaces
    assert Vault(SALT, within=vault).has_spaces


def test_within_another_all_is_known_and_nothing_is_told() -> None:
    """A vault within another knows what that one knows; what it learns itself the other does not."""
    outer = Vault(SALT)
    outer.conceal(SECRET, "token")
    inner = Vault(SALT, within=outer)
    inner.conceal(OTHER, "token")
    assert masked(inner, f"{SECRET} {OTHER}") == f"{stand(SECRET)} {stand(OTHER)}"
    assert inner.is_placeholder(stand(SECRET))
    assert len(inner) == 2
    assert masked(outer, OTHER) == OTHER
    assert not outer.is_placeholder(stand(OTHER))
    assert inner.masked(f"{stand(SECRET)}{stand(OTHER)}") == [(0, 12), (12, 24)]


def test_what_stands_for_secrets() -> None:
    """Parts that are placeholders are told in order; those that overlap are one, short ones do not count."""
    vault = Vault(SALT, ["abcdef1", "ef1ghi2", "abc9"])
    vault.recall(["qrs-tuv-4"])
    assert vault.masked("abc9 abcdef1ghi2 qrs-tuv-4abcdef1") == [(5, 16), (17, 26), (26, 33)]
    assert vault.is_placeholder("qrs-tuv-4")
    assert vault.is_placeholder("abc9")


RECOGNISED = {
    "a secret of another run": (SECRET, SECRET, True),
    "inside a text": (f"a {SECRET}, b", SECRET, True),
    "what has its form and is another": ("BT-live-0012", SECRET, False),
    "its placeholder": (stand(SECRET), SECRET, False),
    "a word": ("hunterses", "hunterses", False),
    "short": ("a1b2c3d", "a1b2c3d", False),
    "digits": ("x 12345678901234567890 y", "12345678901234567890", True),
    "digits among digits": ("1234567890123456789012", "12345678901234567890", False),
}


@pytest.mark.parametrize(("text", "secret", "known"), RECOGNISED.values(), ids=RECOGNISED)
def test_a_secret_that_another_run_masked_is_recognised(text: str, secret: str, known: bool) -> None:
    """A value whose placeholder was given is masked, though nobody ever told the value."""
    vault = Vault(SALT, [stand(secret)])
    assert masked(vault, text) == (text.replace(secret, stand(secret)) if known else text)


SECRETS = st.from_regex(r"[A-Za-z]{4}[0-9]{4}[A-Za-z0-9+/=_.~-]{0,24}", fullmatch=True)


@given(SECRETS, st.text(st.characters(max_codepoint=255), max_size=12), st.integers(0, 2))
def test_a_secret_is_gone_plainly_and_in_base64(secret: str, around: str, shift: int) -> None:
    """Whatever stands around it, what was concealed is in no text that was searched, at no alignment of base64."""
    vault = Vault(SALT)
    stands, _ = vault.conceal(secret, "token")
    coded = base64.b64encode(f"{'.' * shift}{secret}{around}".encode("latin-1")).decode()
    assert masked(vault, f"{around} {secret} {around}").count(stands) >= 1
    assert secret not in masked(vault, f" {secret} ")
    assert masked(vault, f"({coded})") != f"({coded})"
    assert secret.encode() not in base64.b64decode(masked(vault, coded))


def test_an_ordinary_word_is_no_part_of_a_longer_one() -> None:
    """A password that could be a word counts only by itself."""
    vault = Vault(SALT)
    vault.conceal("horses", "password")
    assert list(vault.find("seahorses")) == []
    assert len(list(vault.find("two horses."))) == 1


def test_what_one_vault_has_learnt_another_can_take_over() -> None:
    """Secrets and placeholders; a vault around both stays as it was, and its state tells when it knows more."""
    outer = Vault(SALT)
    first, second = outer.inner(), outer.inner()
    before = outer.state
    made, _ = first.conceal("correct horse-1", "password")
    first.conceal("xyz123456", "cookie")
    assert not second.may_hold_new("correct horse-1")
    second.absorb(first)
    assert (len(second), second.has_spaces, outer.state) == (2, True, before)
    assert second.is_placeholder(made)
    assert [edit.new for edit in second.find("a correct horse-1 b")] == [made]
    assert second.may_hold_new("a correct horse-1 b")
    assert second.may_hold_new("a%20b")
    assert not second.may_hold_new("a b")
    outer.recall(["abcdef"])
    assert outer.state != before
