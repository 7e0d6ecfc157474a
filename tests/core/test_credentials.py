"""What a credential is called and looks like, and what only resembles one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.credentials import (
    DOUBTFUL,
    NAME_RULES,
    SHAPE_RULES,
    VENDOR_HEADERS,
    Where,
    is_opaque,
    kept_prefix,
    names_credential,
    shapes,
)

HEADERS = {
    "Authorization": "authorization",
    "proxy-authorization": "authorization",
    "Cookie": "cookie",
    "Set-Cookie": "cookie",
    "X-API-Key": "key",
    "api-key": "key",
    "apikey": "key",
    "x-goog-api-key": "key",
    "Ocp-Apim-Subscription-Key": "key",
    "X-RapidAPI-Key": "key",
    "x-auth-token": "token",
    "x-amz-security-token": "token",
    "X-Shopify-Access-Token": "token",
    "xi-api-key": "key",
    "X-Vault-Token": "vendor-header",
    "private-token": "vendor-header",
    "X-Figma-Token": "vendor-header",
    "CF-Access-Client-Secret": "vendor-header",
    "Idempotency-Key": None,
    "Sec-WebSocket-Key": None,
    "Surrogate-Key": None,
    "X-Request-Id": None,
    "X-RateLimit-Remaining-Tokens": None,
    "X-Next-Page-Token": None,
    "Content-Type": None,
    "WWW-Authenticate": None,
}
FIELDS = {
    "access_token": "token",
    "accessToken": "token",
    "ACCESS-TOKEN": "token",
    "accesstoken": "token",
    "refresh_token": "token",
    "id_token": "token",
    "session_token": "token",
    "github_access_token": "token",
    "SessionToken": "token",
    "client_secret": "secret",
    "secret": "secret",
    "webhook_secret": "secret",
    "client_assertion": "secret",
    "code_verifier": "secret",
    "password": "password",
    "db_password": "password",
    "user[password]": "password",
    "passwd": "password",
    "api_key": "key",
    "apiKey": "key",
    "APIKey": "key",
    "openai_api_key": "key",
    "private_key": "key",
    "SecretAccessKey": "key",
    "X-Amz-Signature": "signature",
    "token_type": None,
    "expires_in": None,
    "max_tokens": None,
    "total_tokens": None,
    "next_page_token": None,
    "nextPageToken": None,
    "page_token": None,
    "continuation_token": None,
    "NextToken": None,
    "sync_token": None,
    "password_reset_url": None,
    "password_policy": None,
    "public_key": None,
    "publishable_key": None,
    "private_key_id": None,
    "secret_name": None,
    "key": None,
    "token": None,
    "code": None,
    "cookie": None,
    "set-cookie": None,
    "monkey": None,
    "": None,
    "----": None,
    "x" * 200 + "_token": None,
}


@pytest.mark.parametrize(("name", "rule"), HEADERS.items())
def test_headers(name: str, rule: str | None) -> None:
    """Header fields that carry credentials, whatever their case, and those that do not."""
    assert names_credential(name, "header") == rule


@pytest.mark.parametrize("where", ["query", "form", "json"])
@pytest.mark.parametrize(("name", "rule"), FIELDS.items())
def test_fields(name: str, rule: str | None, where: Where) -> None:
    """Fields by the words of their names; paging and counting tokens, ids and published keys are none."""
    assert names_credential(name, where) == rule


def test_a_folder_is_no_password() -> None:
    """In JSON `pwd` is a working folder; in a form it is a password."""
    assert names_credential("pwd", "json") is None
    assert names_credential("pwd", "form") == "password"
    assert names_credential("user_pwd", "json") == "password"


def test_doubtful_names_are_none_of_the_certain() -> None:
    """A name is certain or doubtful, not both."""
    assert not [(w, n) for w, names in DOUBTFUL.items() for n in names if names_credential(n, w)]
    assert all(names_credential(name, "header") for name in VENDOR_HEADERS)


@pytest.mark.parametrize(
    ("value", "opaque"),
    [
        ("4/0AY0e-g7aBcDeFgHiJk", True),
        ("d41d8cd98f00b204e9800998ecf8427e", True),
        ("not_found", False),
        ("invalid_request_error_codes", False),
        ("12345678901234567890", False),
        ("has 1 space in its text", False),
        ("short1", False),
        ("", False),
    ],
)
def test_opaque_values(value: str, *, opaque: bool) -> None:
    """A key is long, has letters and digits, and nothing of prose."""
    assert is_opaque(value) is opaque


W40 = "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5oQ7s"
HEX = "0123456789abcdef" * 6
KEYS = {
    "aws-access-key": "AKIAIOSFODNN7EXAMPLE",
    "stripe-key": "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "webhook-secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "github-token": "ghp_" + W40[:36],
    "gitlab-token": "glpat-" + W40[:20],
    "slack-token": "xoxb-123456789012-" + W40[:24],
    "slack-webhook": "/services/T00000000/B00000000/" + W40[:24],
    "anthropic-key": "sk-ant-api03-" + W40,
    "openai-key": "sk-proj-" + W40,
    "google-api-key": "AIza" + W40[:35],
    "google-token": "ya29.a0Af-" + W40,
    "google-secret": "GOCSPX-" + W40[:28],
    "google-refresh": "1//0" + W40,
    "twilio-key": "SK" + HEX[:32],
    "sendgrid-key": "SG." + W40[:22] + "." + W40[:40],
    "mailgun-key": "key-" + HEX[:32],
    "mailchimp-key": HEX[:32] + "-us12",
    "npm-token": "npm_" + W40[:36],
    "pypi-token": "pypi-" + W40 + W40,
    "rubygems-key": "rubygems_" + HEX[:48],
    "docker-token": "dckr_pat_" + W40[:27],
    "hugging-face-token": "hf_" + W40[:34],
    "groq-key": "gsk_" + W40 + "abcd",
    "xai-key": "xai-" + W40 + W40,
    "perplexity-key": "pplx-" + W40,
    "replicate-token": "r8_" + W40[:37],
    "elevenlabs-key": "sk_" + HEX[:48],
    "shopify-token": "shpat_" + HEX[:32],
    "square-token": "sq0atp-" + W40[:22],
    "facebook-token": "EAA" + W40 * 3,
    "digitalocean-token": "dop_v1_" + HEX[:64],
    "figma-token": "figd_" + W40,
    "linear-key": "lin_api_" + W40,
    "notion-token": "ntn_" + W40 + "abcdef",
    "airtable-token": "pat" + W40[:14] + "." + HEX[:64],
    "sentry-token": "sntrys_" + W40 + W40,
    "grafana-token": "glsa_" + W40[:32] + "_1234abcd",
    "vault-token": "hvs." + W40,
    "atlassian-token": "ATATT3" + W40 + W40,
    "postman-key": "PMAK-" + HEX[:24] + "-" + HEX[:34],
    "new-relic-key": "NRAK-" + "A1B2C3D4E5F6G7H8I9J0K1L2M3N",
    "telegram-token": "1234567890:AA" + W40[:33],
    "azure-key": "AccountKey=" + W40 + "abcdefghij/+ABCDEFGHIJKLMNOPQRSTUVWX==",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + W40,
    "url-password": "postgres://user:hunter22@db.example.test/x",
    "url-parameter": "https://a.example.test/x?a=1&X-Amz-Signature=" + HEX,
}


def test_every_shape_has_its_case() -> None:
    """No rule without an example, and no two rules of one id."""
    assert list(KEYS) == [rule.id for rule in SHAPE_RULES]
    assert len({rule.id for rule in NAME_RULES}) == len(NAME_RULES)


@pytest.mark.parametrize(("rule", "key"), KEYS.items())
def test_shapes(rule: str, key: str) -> None:
    """Each known key is found in running text, and nothing is found where it is cut in half."""
    text = f'say "{key}", then'
    found = [shape for shape in shapes(text) if shape.rule == rule]
    assert len(found) == 1
    assert text[found[0].start : found[0].end] in key
    assert not [shape for shape in shapes(f"say {key[: len(key) // 3]} then") if shape.rule == rule]


@pytest.mark.parametrize(
    ("key", "span"),
    [
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + W40, W40),
        ("redis://:pw-1234@cache:6379", "pw-1234"),
        ("#access_token=abc.def-123&x=1", "abc.def-123"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END PRIVATE KEY-----", "\nMIIEpAIBAAKCAQEA\n"),
        ("https://api.telegram.org/bot1234567890:AA" + W40[:33] + "/getMe", "1234567890:AA" + W40[:33]),
    ],
)
def test_what_of_it_is_secret(key: str, span: str) -> None:
    """Only the secret part is in the span: of a JWT the signature, of a URL the password."""
    assert [key[shape.start : shape.end] for shape in shapes(key)] == [span]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words, and a few numbers 1234567890",
        "sk-circle-fade-dot-animation-delay-of-the-page",
        "task-1234567890123456789012345",
        "https://example.test/path?page=2&token_type=bearer",
        "https://user@example.test/",
        "pk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "gpt-4o-mini-2024-07-18",
        "chatcmpl-9aBcDeFgHiJkLmNoPqRsTuVwXyZ12",
        "req_018EeWyXxfu5pfWkrYcMdjWG",
        "msg_013Zva2CMHLNnXjNJJKqJ2EF",
        "a8098c1a-f86e-11da-bd1a-00112444be1e",
        "d41d8cd98f00b204e9800998ecf8427e",
        "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA\n-----END PUBLIC KEY-----",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "MDEwOlJlcG9zaXRvcnkxMjk2MjY5",
        "AKIA is the prefix of a key",
        "path-pattern.0123",
        "at 12:30:AA",
    ],
)
def test_ordinary_text_has_none(text: str) -> None:
    """Identifiers, prose, published keys and digests are no credentials."""
    assert list(shapes(text)) == []


@pytest.mark.parametrize(
    ("value", "prefix"),
    [
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "sk_live_"),
        ("ghp_abcdefghijk", "ghp_"),
        ("sk-ant-api03-abcdefgh", "sk-ant-api03-"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
        ("sk_live_abc", ""),
        ("hunter2", ""),
        ("", ""),
    ],
)
def test_the_prefix_of_a_vendor(value: str, prefix: str) -> None:
    """A prefix that SDKs look at is kept, unless nearly nothing is left to mask."""
    assert value[: kept_prefix(value)] == prefix


@settings(max_examples=60)
@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=200))
def test_spans_lie_in_the_text(text: str) -> None:
    """Whatever the text: spans are not empty and lie in it."""
    assert all(0 <= shape.start < shape.end <= len(text) for shape in shapes(text))


def test_no_pattern_matches_nothing() -> None:
    """Each rule needs a key of some length."""
    assert not [rule.id for rule in SHAPE_RULES if re.match(f"(?:{rule.prefix})(?:{rule.rest})", "")]
