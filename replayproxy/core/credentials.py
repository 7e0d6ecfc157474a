"""What a credential is called and what it looks like: tables, and the two questions that are asked of them.

A name or shape stands here only where it means a credential and nothing else: masking an ordinary value
breaks the application that reads it. Paging tokens, token counts and published keys are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Where = Literal["header", "query", "form", "json"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """Names that carry a credential, as the last words of a name (`db_password`, `stripeSecretKey`)."""

    id: str
    reason: str
    endings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShapeRule:
    """A known form of key. `keyword` occurs in every text that has one; `prefix` is kept in a placeholder."""

    id: str
    reason: str
    keyword: str
    prefix: str
    rest: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A credential in a text: the span that has to be masked, and the rule that knows it."""

    start: int
    end: int
    rule: str


_TOKENS = """access actor api app auth authentication authorization bearer bot client delegated deploy device
id identity impersonation installation job jwt login oauth oauth2 personal private refresh reset
secret security server service session shared signing storage sts subject user verification
webhook"""
_KEYS = """access api app application auth consumer encryption fastly functions integration license mashape
master private rapidapi secret service session shared signing subscription"""


def _endings(words: str, noun: str, *others: str) -> tuple[str, ...]:
    return (*(f"{word} {noun}" for word in words.split()), *others)


NAME_RULES = (
    NameRule("authorization", "the value of an Authorization field", ("authorization",)),
    NameRule("cookie", "a session travels in a cookie; its name and attributes are no secret", ("cookie",)),
    NameRule(
        "token",
        "a token that gives access",
        _endings(
            _TOKENS,
            "token",
            *(
                "accesstoken",
                "refreshtoken",
                "authtoken",
                "sessiontoken",
                "idtoken",
                "apitoken",
                "oauthtoken",
            ),
            *("id token hint", "trackertoken"),
        ),
    ),
    NameRule(
        "password",
        "a password",
        ("password", "passwd", "passphrase", "passcode", "pwd", "userpassword", "password confirmation"),
    ),
    NameRule(
        "secret",
        "a secret shared between client and vendor",
        ("secret", "clientsecret", "appsecret", "client assertion", "code verifier", "device code"),
    ),
    NameRule(
        "key",
        "a key that gives access",
        _endings(_KEYS, "key", "apikey", "accesskey", "secretkey", "privatekey", "hapikey", "signingkey"),
    ),
    NameRule(
        "signature",
        "a signature that gives access to what a URL names",
        ("amz signature", "goog signature", "oauth signature"),
    ),
)
"""Rules for names, in the order in which they are asked."""

VENDOR_HEADERS = frozenset(
    """authentication cf-access-client-secret circle-token deploy-token dd-api-key dd-application-key
    fastly-key job-token private-token token x-auth-key x-emby-token x-figma-token x-gitlab-token
    x-honeycomb-team x-insert-key x-plex-token x-postmark-account-token x-query-key x-token
    x-vault-token""".split()  # noqa: SIM905 - a table
)
"""Header fields of vendors, lower case, beside those that an ending above covers."""

DOUBTFUL: dict[Where, frozenset[str]] = {
    "header": frozenset(),
    "query": frozenset(
        {"appid", "auth", "code", "key", "oauth_verifier", "session", "sid", "sig", "signature", "token"}
    ),
    "form": frozenset({"assertion", "auth", "code", "oauth_verifier", "session", "sid", "token"}),
    "json": frozenset({"assertion", "auth", "credential", "jwt", "token"}),
}
"""Names, lower case, that carry a credential only where the value is opaque (a `code` may be an error)."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]?|[0-9]+")
_ENDINGS = {ending: rule.id for rule in NAME_RULES for ending in rule.endings}
_ONLY_HEADERS = {"set-cookie": "cookie", "cookie": "cookie", "cookie2": "cookie"}


@lru_cache(maxsize=4096)
def names_credential(name: str, where: Where) -> str | None:
    """The id of the rule by which a field called NAME carries a credential, or None.

    NAME is compared by its words, so that `accessToken`, `access-token` and `ACCESS_TOKEN` are one.
    """
    lower = name.lower()
    if where == "header":
        if lower in _ONLY_HEADERS:
            return _ONLY_HEADERS[lower]
        if lower in VENDOR_HEADERS:
            return "vendor-header"
    elif lower.endswith("cookie"):
        return None
    if len(name) > 128:
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    tails = (" ".join(words[-count:]) for count in range(min(3, len(words)), 0, -1))
    return next((rule for tail in tails if (rule := _ENDINGS.get(tail))), None)


def is_opaque(value: str) -> bool:
    """Whether VALUE reads as a key: 16 octets or more, letters and digits, nothing that prose has."""
    return bool(_OPAQUE.fullmatch(value)) and bool(_DIGIT.search(value)) and bool(_LETTER.search(value))


_OPAQUE = re.compile(r"[A-Za-z0-9_.~+/=%|:-]{16,4096}")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")
_WORD = r"[A-Za-z0-9]"
_URLSAFE = r"[A-Za-z0-9_-]"
_MIXED = r"(?=[A-Za-z_-]*[0-9])"

SHAPE_RULES = (
    ShapeRule("aws-access-key", "Amazon Web Services access key id", "A", r"AKIA|ASIA", r"[A-Z2-7]{16}"),
    ShapeRule(
        "stripe-key", "Stripe secret or restricted key", "k_", r"[sr]k_(?:live|test)_", _WORD + "{10,250}"
    ),
    ShapeRule(
        "webhook-secret", "signing secret of webhooks", "whsec_", "whsec_", r"[A-Za-z0-9+/=_-]{16,128}"
    ),
    ShapeRule("github-token", "GitHub token", "gh", r"gh[pousr]_|github_pat_", r"[A-Za-z0-9_]{22,255}"),
    ShapeRule(
        "gitlab-token",
        "GitLab token",
        "gl",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas|agent|imt)-",
        r"[A-Za-z0-9_.-]{20,128}",
    ),
    ShapeRule(
        "slack-token", "Slack token", "x", r"xox[abeoprs]-|xapp-|xoxe\.xox[bp]-", r"[A-Za-z0-9-]{10,255}"
    ),
    ShapeRule(
        "slack-webhook",
        "Slack webhook",
        "/services/T",
        r"/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/",
        _WORD + "{16,32}",
    ),
    ShapeRule(
        "anthropic-key", "Anthropic key", "sk-ant-", r"sk-ant-(?:api\d\d-|admin\d\d-)?", _URLSAFE + "{20,255}"
    ),
    ShapeRule(
        "openai-key",
        "OpenAI key, and those of vendors who copy its form",
        "sk-",
        r"sk-(?:proj-|svcacct-|admin-|or-v1-)?",
        _MIXED + _URLSAFE + "{20,255}",
    ),
    ShapeRule("google-api-key", "Google API key", "AIza", "AIza", _URLSAFE + "{35}"),
    ShapeRule("google-token", "Google access token", "ya29.", r"ya29\.", r"[A-Za-z0-9_.-]{20,2048}"),
    ShapeRule("google-secret", "Google client secret", "GOCSPX-", "GOCSPX-", _URLSAFE + "{28}"),
    ShapeRule("google-refresh", "Google refresh token", "1//0", "1//0", _URLSAFE + "{40,255}"),
    ShapeRule("twilio-key", "Twilio API key", "SK", "SK", r"[0-9a-f]{32}"),
    ShapeRule("sendgrid-key", "SendGrid key", "SG.", r"SG\.", _URLSAFE + r"{16,32}\." + _URLSAFE + "{16,64}"),
    ShapeRule("mailgun-key", "Mailgun key", "key-", "key-", r"[0-9a-f]{32}"),
    ShapeRule("mailchimp-key", "Mailchimp key", "-us", "", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    ShapeRule("npm-token", "npm token", "npm_", "npm_", _WORD + "{36}"),
    ShapeRule("pypi-token", "PyPI token", "pypi-", "pypi-", _URLSAFE + "{50,255}"),
    ShapeRule("rubygems-key", "RubyGems key", "rubygems_", "rubygems_", r"[0-9a-f]{48}"),
    ShapeRule("docker-token", "Docker Hub token", "dckr_", r"dckr_(?:pat|oat)_", _URLSAFE + "{20,64}"),
    ShapeRule("hugging-face-token", "Hugging Face token", "hf_", "hf_", _WORD + "{30,64}"),
    ShapeRule("groq-key", "Groq key", "gsk_", "gsk_", _WORD + "{40,64}"),
    ShapeRule("xai-key", "xAI key", "xai-", "xai-", _WORD + "{60,128}"),
    ShapeRule("perplexity-key", "Perplexity key", "pplx-", "pplx-", _WORD + "{40,64}"),
    ShapeRule("replicate-token", "Replicate token", "r8_", "r8_", _WORD + "{30,48}"),
    ShapeRule("elevenlabs-key", "ElevenLabs key", "sk_", "sk_", r"[0-9a-f]{48}"),
    ShapeRule("shopify-token", "Shopify token", "shp", r"shp(?:at|ss|ca|pa)_", r"[0-9a-fA-F]{32}"),
    ShapeRule("square-token", "Square token", "sq0", r"sq0(?:atp|csp|idp)-", _URLSAFE + "{22,64}"),
    ShapeRule("facebook-token", "Facebook token", "EAA", "EAA", _WORD + "{80,255}"),
    ShapeRule("digitalocean-token", "DigitalOcean token", "_v1_", r"do[opr]_v1_", r"[0-9a-f]{64}"),
    ShapeRule("figma-token", "Figma token", "figd_", "figd_", _URLSAFE + "{20,64}"),
    ShapeRule("linear-key", "Linear key", "lin_", r"lin_(?:api|oauth)_", _WORD + "{30,64}"),
    ShapeRule("notion-token", "Notion token", "_", r"secret_|ntn_", _WORD + "{43,50}"),
    ShapeRule("airtable-token", "Airtable token", "pat", "pat", _WORD + r"{14}\.[0-9a-f]{64}"),
    ShapeRule("sentry-token", "Sentry token", "sntry", r"sntry[su]_", r"[A-Za-z0-9_+/=-]{40,255}"),
    ShapeRule("grafana-token", "Grafana token", "glsa_", "glsa_", r"[A-Za-z0-9_]{32,64}"),
    ShapeRule("vault-token", "Vault token", "hv", r"hv[sbr]\.", _URLSAFE + "{24,255}"),
    ShapeRule("atlassian-token", "Atlassian token", "ATATT3", "ATATT3", r"[A-Za-z0-9_=-]{50,255}"),
    ShapeRule("postman-key", "Postman key", "PMAK-", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ShapeRule("new-relic-key", "New Relic key", "NRAK-", "NRAK-", r"[A-Z0-9]{27}"),
    ShapeRule("telegram-token", "Telegram bot token", ":AA", "", r"[0-9]{8,10}:AA" + _URLSAFE + "{33}"),
    ShapeRule(
        "azure-key",
        "Azure account key",
        "Key=",
        r"(?:Account|SharedAccess)Key=",
        r"[A-Za-z0-9+/]{43,86}={1,2}",
    ),
    ShapeRule(
        "private-key",
        "PEM private key (RFC 7468)",
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----",
        r"[^-]{16,20000}(?=-----END)",
    ),
    ShapeRule(
        "jwt",
        "the signature of a JSON Web Token (RFC 7519); its header and claims stay",
        "ey",
        r"ey[IJA]" + _URLSAFE + r"{6,4096}\.ey[IJA]" + _URLSAFE + r"{4,65536}\.",
        _URLSAFE + "{16,2048}",
    ),
    ShapeRule(
        "url-password",
        "a password in the authority of a URL (RFC 3986 section 3.2.1)",
        "://",
        r"://[^\s/:@\"'<>?#]{0,255}:",
        r"[^\s/:@\"'<>?#]{1,255}(?=@)",
    ),
    ShapeRule(
        "url-parameter",
        "a credential in the query or fragment of a URL",
        "=",
        r"(?:[?&#]|&amp;)(?:access_token|refresh_token|id_token|api_key|apikey|client_secret|password|sig|"
        r"X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=",
        r"[A-Za-z0-9_.~+/=%-]{6,4096}",
    ),
)
"""Rules for shapes. Their patterns are matched against text whose characters stand for octets."""

_BEFORE, _AFTER = r"(?:(?<![A-Za-z0-9])|(?<=/bot))", r"(?![A-Za-z0-9])"
_MASK_REST = frozenset({"private-key", "jwt", "url-password", "url-parameter", "slack-webhook", "azure-key"})
_COMPILED = tuple(
    (
        rule,
        re.compile(_BEFORE + rf"(?P<prefix>{rule.prefix})(?P<rest>{rule.rest})" + _AFTER),
    )
    if rule.id not in _MASK_REST
    else (rule, re.compile(rf"(?P<prefix>{rule.prefix})(?P<rest>{rule.rest})"))
    for rule in SHAPE_RULES
)
_PREFIX = re.compile(
    "|".join(rule.prefix for rule in SHAPE_RULES if rule.prefix and rule.id not in _MASK_REST)
)


def shapes(text: str) -> Iterator[Shape]:
    """Every known key in TEXT, rule by rule; spans may lie within each other.

    The span holds the vendor's prefix where that belongs to the key. Of a JWT it is the signature, of a PEM
    block what lies between its lines, of a URL the password or the parameter's value.
    """
    for rule, pattern in _COMPILED:
        if rule.keyword not in text:
            continue
        group = "rest" if rule.id in _MASK_REST else 0
        for match in pattern.finditer(text):
            yield Shape(*match.span(group), rule.id)


def kept_prefix(value: str) -> int:
    """How many characters of VALUE are a vendor's prefix, which a placeholder keeps (SDKs look at it)."""
    match = _PREFIX.match(value)
    return match.end() if match and len(value) - match.end() >= 6 else 0
