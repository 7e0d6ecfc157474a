"""Of the value of a credential field only what is secret goes."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.values import conceal_value, reads_as_authorization
from replayproxy.core.redaction.vault import Vault

SALT = "00112233445566778899aabbccddeeff"
SECRET = "AT-live-0012"
KEY = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
HEADER = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0."
SIGNATURE = "c2lnbmF0dXJlLW9mLWl0"
PEM = "-----BEGIN PRIVATE KEY-----{}-----END PRIVATE KEY-----\n"
RESPONSE = "6629fae49393a05397450978507c4ef1"
DIGEST = 'Digest username="u", nonce="n1n1n1n1", uri="/", response="{}", cnonce="{}"'
ACCESS = "AKIAIOSFODNN7EXAMPLE"
SIGV4 = "AWS4-HMAC-SHA256 Credential={}/20130524/s3/aws4_request, SignedHeaders=host, Signature={}"
LINES = "\nMIIEvQIBADANBgkqhkiG9w0\n"


def stand(value: str) -> str:
    """What stands for VALUE."""
    return placeholder(SALT, value)


def basic(pair: str) -> str:
    """Basic credentials."""
    return "Basic " + base64.b64encode(pair.encode("latin-1")).decode()


VALUES = {
    "a token": ("token", SECRET, stand(SECRET)),
    "bearer": ("authorization", f"Bearer {SECRET}", f"Bearer {stand(SECRET)}"),
    "a scheme of its own": ("authorization", f"Acme  {SECRET}", f"Acme  {stand(SECRET)}"),
    "no scheme": ("authorization", SECRET, stand(SECRET)),
    "a known scheme in another field": ("token", f"Token {SECRET}", f"Token {stand(SECRET)}"),
    "no scheme but words": ("password", f"my {SECRET}", stand(f"my {SECRET}")),
    "a JWT": ("authorization", f"Bearer {HEADER}{SIGNATURE}", f"Bearer {HEADER}{stand(SIGNATURE)}"),
    "basic": ("authorization", basic(f"user:{SECRET}"), basic(f"user:{stand(SECRET)}")),
    "basic, a key as user": ("authorization", basic(f"{KEY}:"), basic(f"{stand(KEY)}:")),
    "basic, a key as user and a word": ("authorization", basic(f"{KEY}:xx"), basic(f"{stand(KEY)}:xx")),
    "basic, no colon": ("authorization", basic(SECRET), basic(stand(SECRET))),
    "basic, masked already": ("authorization", basic("user:xx"), basic("user:xx")),
    "basic, no padding": (
        "authorization",
        basic(f"us:{SECRET}").rstrip("="),
        basic(f"us:{stand(SECRET)}").rstrip("="),
    ),
    "basic that is no base64": ("authorization", f"Basic !{SECRET}", f"Basic {stand('!' + SECRET)}"),
    "digest": ("authorization", DIGEST.format(RESPONSE, "0a4f113b"), DIGEST.format(stand(RESPONSE), stand("0a4f113b"))),
    "SigV4": ("authorization", SIGV4.format(ACCESS, "fe5f80f7"), SIGV4.format(stand(ACCESS), stand("fe5f80f7"))),
    "OAuth 1": (
        "authorization",
        f'OAuth realm="r", oauth_token="{SECRET}", oauth_signature_method="HMAC-SHA1"',
        f'OAuth realm="r", oauth_token="{stand(SECRET)}", oauth_signature_method="HMAC-SHA1"',
    ),
    "parameters of no known name": (
        "authorization",
        "Acme a b",
        "Acme x x",
    ),
    "a PEM block": ("key", PEM.format(LINES), PEM.format(stand(LINES))),
    "nothing": ("token", "", ""),
}


@pytest.mark.parametrize(("rule", "value", "made"), VALUES.values(), ids=VALUES)
def test_what_is_secret_goes_and_the_rest_stays(rule: str, value: str, made: str) -> None:
    """The scheme, the user, names of parameters, header and claims, and the lines of PEM stay."""
    vault = Vault(SALT)
    concealed, masks = conceal_value(vault, value, rule)
    assert concealed == made
    assert bool(masks) == (value != made)
    assert {mask.rule for mask in masks} <= {rule}
    assert conceal_value(vault, made, rule) == (made, ())


def test_coded_credentials_are_known_as_they_are() -> None:
    """Basic credentials that come back as they were sent are masked as a whole, the password in them too."""
    vault = Vault(SALT)
    sent, made = basic(f"user:{SECRET}").split()[1], basic(f"user:{stand(SECRET)}").split()[1]
    conceal_value(vault, f"Basic {sent}", "authorization")
    assert {edit.new for edit in vault.find(f"x={sent}")} >= {made}
    assert [edit.new for edit in vault.find(f"pw {SECRET}")] == [stand(SECRET)]


@pytest.mark.parametrize(
    ("value", "reads"),
    [
        ("Bearer abc", True),
        ("Basic YTpi", True),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", True),
        ("required", False),
        ("Missing bearer token", False),
        ("", False),
    ],
)
def test_prose_about_authorization_is_none(value: str, reads: bool) -> None:
    """Outside a header, a member called `authorization` may hold a text about it."""
    assert reads_as_authorization(value) is reads


@given(st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=6, max_size=30), st.text("abc", max_size=4))
def test_a_password_is_gone_from_basic_credentials(password: str, user: str) -> None:
    """Whatever the password, the coded credentials keep the user and no longer have it."""
    made, _ = conceal_value(Vault(SALT), basic(f"{user}:{password}"), "authorization")
    kept, _, masked = base64.b64decode(made.split()[1] + "==").decode("latin-1").partition(":")
    assert kept == user
    assert masked != password
    assert len(masked) == len(password)
