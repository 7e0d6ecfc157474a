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
    """A known form of key.

    Every key holds one of `marks`, `behind` characters after its beginning. `prefix` (a pattern) is what a placeholder
    keeps of it; where `whole` is false it is no part of the secret at all. `rest` (a pattern) follows it; where `mixed`
    is true it has a digit.
    """

    id: str
    reason: str
    marks: tuple[str, ...]
    prefix: str
    rest: str
    behind: tuple[int, ...] = (0,)
    whole: bool = True
    mixed: bool = False


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
    elif lower.endswith("cookie") or (where == "json" and lower == "pwd"):
        return None  # In JSON, `pwd` is a folder.
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
_WORD = "[A-Za-z0-9]"
_URLSAFE = "[A-Za-z0-9_-]"
_PARAMETERS = """access_token refresh_token id_token api_key apikey client_secret password sig X-Amz-Signature
X-Amz-Security-Token X-Goog-Signature"""


def _prefixed(rule: str, reason: str, prefixes: str, rest: str, *, mixed: bool = False) -> ShapeRule:
    """A key that begins with one of PREFIXES (of which the first that fits is taken), and goes on with REST."""
    marks = tuple(prefixes.split())
    return ShapeRule(rule, reason, marks, "|".join(map(re.escape, marks)), rest, mixed=mixed)


SHAPE_RULES = (
    _prefixed("aws-access-key", "Amazon Web Services access key id", "AKIA ASIA", "[A-Z2-7]{16}"),
    _prefixed("stripe-key", "Stripe secret or restricted key", "sk_live_ sk_test_ rk_live_ rk_test_", _WORD + "{10,}+"),
    _prefixed("webhook-secret", "signing secret of webhooks", "whsec_", "[A-Za-z0-9+/=_-]{16,}+"),
    _prefixed("github-token", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", "[A-Za-z0-9_]{22,}+"),
    _prefixed(
        "gitlab-token",
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- gloas- glagent- glimt-",
        "[A-Za-z0-9_.-]{20,}+",
    ),
    _prefixed(
        "slack-token",
        "Slack token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-",
        "[A-Za-z0-9-]{10,}+",
    ),
    ShapeRule(
        "slack-webhook",
        "Slack webhook",
        ("/services/T",),
        "/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/",
        _WORD + "{16,32}",
        whole=False,
    ),
    ShapeRule(
        "anthropic-key", "Anthropic key", ("sk-ant-",), r"sk-ant-(?:api\d\d-|admin\d\d-|oat\d\d-)?", _URLSAFE + "{20,}+"
    ),
    ShapeRule(
        "openai-key",
        "OpenAI key, and those of vendors who copy its form",
        ("sk-",),
        "sk-(?:proj-|svcacct-|admin-|or-v1-)?",
        _URLSAFE + "{20,}+",
        mixed=True,
    ),
    _prefixed("google-api-key", "Google API key", "AIza", _URLSAFE + "{35}"),
    _prefixed("google-token", "Google access token", "ya29.", "[A-Za-z0-9_.-]{20,}+"),
    _prefixed("google-secret", "Google client secret", "GOCSPX-", _URLSAFE + "{28}"),
    _prefixed("google-refresh", "Google refresh token", "1//0", _URLSAFE + "{40,}+"),
    _prefixed("twilio-key", "Twilio API key", "SK", "[0-9a-f]{32}"),
    _prefixed("sendgrid-key", "SendGrid key", "SG.", _URLSAFE + r"{16,32}\." + _URLSAFE + "{16,64}"),
    _prefixed("mailgun-key", "Mailgun key", "key-", "[0-9a-f]{32}"),
    ShapeRule("mailchimp-key", "Mailchimp key", ("-us",), "", "[0-9a-f]{32}-us[0-9]{1,2}", behind=(32,)),
    _prefixed("npm-token", "npm token", "npm_", _WORD + "{36}"),
    _prefixed("pypi-token", "PyPI token", "pypi-", _URLSAFE + "{50,}+"),
    _prefixed("rubygems-key", "RubyGems key", "rubygems_", "[0-9a-f]{48}"),
    _prefixed("docker-token", "Docker Hub token", "dckr_pat_ dckr_oat_", _URLSAFE + "{20,}+"),
    _prefixed("hugging-face-token", "Hugging Face token", "hf_", _WORD + "{30,64}"),
    _prefixed("groq-key", "Groq key", "gsk_", _WORD + "{40,64}"),
    _prefixed("xai-key", "xAI key", "xai-", _WORD + "{60,128}"),
    _prefixed("perplexity-key", "Perplexity key", "pplx-", _WORD + "{40,64}"),
    _prefixed("replicate-token", "Replicate token", "r8_", _WORD + "{30,48}"),
    _prefixed("elevenlabs-key", "ElevenLabs key", "sk_", "[0-9a-f]{48}"),
    _prefixed("shopify-token", "Shopify token", "shpat_ shpss_ shpca_ shppa_", "[0-9a-fA-F]{32}"),
    _prefixed("square-token", "Square token", "sq0atp- sq0csp- sq0idp-", _URLSAFE + "{22,}+"),
    _prefixed("facebook-token", "Facebook token", "EAA", _WORD + "{80,255}"),
    _prefixed("digitalocean-token", "DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    _prefixed("figma-token", "Figma token", "figd_", _URLSAFE + "{20,}+"),
    _prefixed("linear-key", "Linear key", "lin_api_ lin_oauth_", _WORD + "{30,64}"),
    _prefixed("notion-token", "Notion token", "secret_ ntn_", _WORD + "{43,50}"),
    _prefixed("airtable-token", "Airtable token", "pat", _WORD + r"{14}\.[0-9a-f]{64}"),
    _prefixed("sentry-token", "Sentry token", "sntrys_ sntryu_", "[A-Za-z0-9_+/=-]{40,}+"),
    _prefixed("grafana-token", "Grafana token", "glsa_", "[A-Za-z0-9_]{32,}+"),
    _prefixed("vault-token", "Vault token", "hvs. hvb. hvr.", _URLSAFE + "{24,}+"),
    _prefixed("atlassian-token", "Atlassian token", "ATATT3", "[A-Za-z0-9_=-]{50,}+"),
    _prefixed("postman-key", "Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _prefixed("new-relic-key", "New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    ShapeRule(
        "telegram-token",
        "Telegram bot token",
        (":AA",),
        "",
        "[0-9]{8,10}:AA" + _URLSAFE + "{33}",
        behind=(10, 9, 8),
    ),
    ShapeRule(
        "azure-key",
        "Azure account key",
        ("AccountKey=", "SharedAccessKey="),
        "(?:Account|SharedAccess)Key=",
        "[A-Za-z0-9+/]{43,86}={1,2}",
        whole=False,
    ),
    ShapeRule(
        "private-key",
        "PEM private key (RFC 7468)",
        ("-----BEGIN ",),
        "-----BEGIN (?:[A-Z]+ )?PRIVATE KEY(?: BLOCK)?-----",
        r"(?=(?:[^-]|-(?!----)){16})(?:[^-]++|-(?!----))++(?=-----END|\Z)",
        whole=False,
    ),
    ShapeRule(
        "jwt",
        "the signature of a JSON Web Token (RFC 7519); its header and claims stay",
        (".ey",),
        r"\.ey[IJA]" + _URLSAFE + r"{4,65536}+\.",
        _URLSAFE + "{16,2048}",
        whole=False,
    ),
    ShapeRule(
        "url-password",
        "a password in the authority of a URL (RFC 3986 section 3.2.1)",
        ("://",),
        r"://[^\s/:@\"'<>?#]{0,255}+:",
        r"[^\s/:@\"'<>?#]{1,255}+(?=@)",
        whole=False,
    ),
    ShapeRule(
        "url-parameter",
        "a credential in the query or fragment of a URL",
        tuple(f"{name}=" for name in _PARAMETERS.split()),
        "(?<=[?&#;])(?:" + "|".join(_PARAMETERS.split()) + ")=",
        "[A-Za-z0-9_.~+/=%-]{6,}+",
        whole=False,
    ),
)
"""Rules for shapes. Their patterns are matched against text whose characters stand for octets."""

_BEFORE, _AFTER = "(?:(?<![A-Za-z0-9])|(?<=/bot))", "(?![A-Za-z0-9])"
_LONGEST = 4096
"""Longer runs of a key's characters are data."""


def _compiled(rule: ShapeRule) -> re.Pattern[str]:
    key = f"(?P<prefix>{rule.prefix})(?P<rest>{rule.rest})"
    return re.compile(_BEFORE + key + _AFTER if rule.whole else key)


def _beginning(texts: tuple[str, ...]) -> str:
    """What all TEXTS begin with."""
    first, last = min(texts), max(texts)
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[:same]


_COMPILED = tuple((rule, _compiled(rule), _beginning(rule.marks)) for rule in SHAPE_RULES)
"""Each rule with its pattern, and what all its marks begin with, which is quick to look for."""
_PREFIX = re.compile("|".join(rule.prefix for rule in SHAPE_RULES if rule.prefix and rule.whole))
_TOKEN_HEADER = re.compile(r"[A-Za-z0-9_-]{6,}[IJA]ye")


def shapes(text: str) -> Iterator[Shape]:
    """Every known key in TEXT, rule by rule; spans may lie within each other.

    The span holds the vendor's prefix where that belongs to the key. Of a JWT it is the signature, of a PEM
    block what lies between its lines, of a URL the password or the parameter's value. The time that it takes grows
    with the length of TEXT and no faster, whatever TEXT is.
    """
    for rule, pattern, shared in _COMPILED:
        if shared not in text:
            continue
        for mark in rule.marks:
            if mark in text:
                yield from _keys(text, rule, pattern, mark)


def _keys(text: str, rule: ShapeRule, pattern: re.Pattern[str], mark: str) -> Iterator[Shape]:
    """The keys of RULE in TEXT that hold MARK."""
    at = text.find(mark)
    while at >= 0:
        tried = (pattern.match(text, at - behind) for behind in rule.behind if behind <= at)
        match = next(filter(None, tried), None)
        if match and _is_key(text, rule, match):
            yield Shape(*match.span(0 if rule.whole else "rest"), rule.id)
        at = text.find(mark, max(match.end() if match else 0, at + 1))


def _is_key(text: str, rule: ShapeRule, match: re.Match[str]) -> bool:
    """Whether MATCH is what its pattern alone cannot tell: of no absurd length, no prose, behind a JWT's header."""
    if rule.id == "jwt":
        before = text[max(0, match.start() - _LONGEST) : match.start()]
        return _TOKEN_HEADER.match(before[::-1]) is not None
    if rule.mixed and not _DIGIT.search(match["rest"]):
        return False
    return rule.id == "private-key" or len(match["rest"]) <= _LONGEST


def kept_prefix(value: str) -> int:
    """How many characters of VALUE are a vendor's prefix, which a placeholder keeps (SDKs look at it)."""
    match = _PREFIX.match(value)
    return match.end() if match and len(value) - match.end() >= 6 else 0
