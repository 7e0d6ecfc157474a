"""The table of built-in rules: what varies from run to run and so is left out of the key, and why.

`docs/matching.md` shows this table; `show --why` and a miss name its ids. `match.on` takes a rule back,
whole by its id or at one place by a selector. A request header is in the key only if it is one of
KEY_HEADERS or taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from replayproxy.core.credentials import names_credential

KEY_HEADERS = ("range", "x-amz-target", "soapaction", "x-http-method-override")
"""The few header fields that select a resource, lower case."""

CONDITIONAL_HEADERS = frozenset({"if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"})
"""The fields that make a request conditional (RFC 9110 section 13.1), lower case."""

IGNORED = "match.ignore"
BOUND = "match.bind"
"""What stands for a rule's id in `Canonical.dropped` where a rule of the user's left something out."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A built-in rule: its id, where it applies, why, and its header fields (lower case, `*` at the end)."""

    id: str
    where: str
    reason: str
    headers: tuple[str, ...] = ()


RULES: tuple[Rule, ...] = (
    Rule(
        "credential",
        "headers, query, form and JSON fields that carry credentials; known keys in path and values",
        "a recording is replayed with a dummy key; the values only choose among recordings of one key",
    ),
    Rule(
        "aws-signature",
        "headers; query fields X-Amz-… where X-Amz-Signature is there",
        "SigV4 signs the time, so that every run signs anew",
        ("x-amz-date", "x-amz-content-sha256"),
    ),
    Rule(
        "gcs-signature",
        "query fields X-Goog-… where X-Goog-Signature is there",
        "a V4 signed URL holds its time and its signature",
    ),
    Rule(
        "url-signature",
        "query fields Signature, Expires, Policy, AWSAccessKeyId, GoogleAccessId, Key-Pair-Id, "
        "x-amz-security-token where Signature and one of the three ids are there",
        "S3 version 2, GCS version 2 and CloudFront URLs hold their time and signature",
    ),
    Rule(
        "azure-sas",
        "query fields sig, se, st, ske, skt where sig and sv are there",
        "a shared access signature holds its time and signature",
    ),
    Rule(
        "oauth1-signature",
        "query and form fields oauth_signature, oauth_nonce, oauth_timestamp where oauth_signature is there",
        "OAuth 1.0a (RFC 5849) signs a nonce and the time",
    ),
    Rule(
        "jwt-assertion",
        "form and JSON fields assertion and client_assertion that hold a JWT: only alg and the claims but "
        "iat, exp, nbf, jti take part",
        "RFC 7523 grants are signed anew for every token, as the Google SDKs do",
    ),
    Rule(
        "idempotency-key",
        "headers",
        "SDKs make up a key for each call, as stripe does",
        ("idempotency-key", "x-idempotency-key", "paypal-request-id"),
    ),
    Rule(
        "request-id",
        "headers; bound as well: where the answer echoed the recorded one it carries the caller's",
        "clients make up an id for each call, and reject an answer that carries another",
        (
            "x-request-id",
            "request-id",
            "x-correlation-id",
            "x-ms-client-request-id",
            "client-request-id",
            "x-client-request-id",
            "x-ms-correlation-request-id",
            "amz-sdk-invocation-id",
            "x-amzn-requestid",
        ),
    ),
    Rule(
        "jsonrpc-id",
        "the member id of a JSON-RPC 2.0 request, single or in a batch; bound as well",
        "the id counts calls or is made up, and the client rejects an answer to another",
    ),
    Rule(
        "trace",
        "headers",
        "tracing makes up ids for each call",
        (
            "traceparent",
            "tracestate",
            "baggage",
            "b3",
            "x-b3-*",
            "x-cloud-trace-context",
            "x-amzn-trace-id",
            "sentry-trace",
            "uber-trace-id",
            "x-datadog-*",
            "newrelic",
        ),
    ),
    Rule(
        "telemetry",
        "headers",
        "it tells of machine, SDK version, retry and the last call's duration, not of the question",
        (
            "user-agent",
            "x-stainless-*",
            "x-stripe-client-*",
            "x-goog-api-client",
            "x-amz-user-agent",
            "amz-sdk-request",
            "x-twilio-client",
            "x-client-data",
            "sec-ch-*",
        ),
    ),
    Rule(
        "telemetry-body",
        "bodies of POSTs that are OpenTelemetry traces, metrics or logs, events for Sentry, traces of the OpenAI "
        "Agents SDK, or reports of browsers",
        "they tell of this run in ids, times and durations, and no answer depends on them",
    ),
    Rule("date", "headers", "the time of the call", ("date", "x-ms-date", "x-goog-date")),
    Rule(
        "conditional",
        "headers",
        "it tells what the client has already; it only chooses among recordings of one key",
        tuple(sorted(CONDITIONAL_HEADERS)),
    ),
    Rule("caching", "headers", "it steers caches, not the origin's answer", ("cache-control", "pragma")),
    Rule(
        "negotiation",
        "headers",
        "the coding is negotiated anew on replay, and defaults change with the client's version",
        ("accept", "accept-charset", "accept-encoding", "accept-language", "te"),
    ),
    Rule("timeout", "headers", "what is left of a deadline differs with every call", ("grpc-timeout",)),
    Rule("websocket-key", "headers", "RFC 6455 asks for a new one per connection", ("sec-websocket-key",)),
    Rule(
        "framing",
        "headers",
        "how the body travels, or a digest of it; the body itself is in the key, content decoded",
        (
            "connection",
            "content-encoding",
            "content-length",
            "content-md5",
            "digest",
            "expect",
            "host",
            "transfer-encoding",
            "x-amz-decoded-content-length",
            "x-amz-trailer",
        ),
    ),
    Rule(
        "content-type",
        "headers",
        "it decides how the body counts, and the body is in the key; taken back it counts without its boundary",
        ("content-type",),
    ),
    Rule("boundary", "the delimiters of multipart bodies", "every upload makes up a boundary"),
    Rule(
        "aws-chunked",
        "chunk sizes, signatures and trailers of bodies with Content-Encoding aws-chunked or "
        "x-amz-content-sha256 STREAMING-…",
        "the framing is signed with the time; its payload is in the key",
    ),
    Rule(
        "graphql-layout",
        "white space, commas and comments of GraphQL documents",
        "they mean nothing (GraphQL section 2.1), and generators lay out differently",
    ),
    Rule("other-header", "every other header", "headers say how, and change with the client's version"),
)

RULE_IDS = frozenset(rule.id for rule in RULES)

_EXACT = {name: rule.id for rule in RULES for name in rule.headers if not name.endswith("*")}
_PREFIXES = tuple((name[:-1], rule.id) for rule in RULES for name in rule.headers if name.endswith("*"))


@lru_cache(maxsize=4096)
def header_rule(name: str) -> str:
    """The id of the rule that leaves the header NAME (lower case) out, "" where none does."""
    if name in KEY_HEADERS:
        return ""
    if name in _EXACT:
        return _EXACT[name]
    for prefix, rule in _PREFIXES:
        if name.startswith(prefix):
            return rule
    return "credential" if names_credential(name, "header") else "other-header"


@dataclass(frozen=True, slots=True)
class Signature:
    """Where one name of each of `marks` is in a query or form, `fields` are left out by `rule`."""

    rule: str
    marks: tuple[frozenset[str], ...]
    fields: frozenset[str]


_AMAZON = ("algorithm", "credential", "date", "expires", "security-token", "signature", "signedheaders")
_SIGNERS = frozenset({"awsaccesskeyid", "googleaccessid", "key-pair-id"})

SIGNATURES = (
    Signature("aws-signature", (frozenset({"x-amz-signature"}),), frozenset(f"x-amz-{name}" for name in _AMAZON)),
    Signature("gcs-signature", (frozenset({"x-goog-signature"}),), frozenset(f"x-goog-{name}" for name in _AMAZON)),
    Signature(
        "url-signature",
        (frozenset({"signature"}), _SIGNERS),
        _SIGNERS | {"signature", "expires", "policy", "x-amz-security-token"},
    ),
    Signature("azure-sas", (frozenset({"sig"}), frozenset({"sv"})), frozenset({"sig", "se", "st", "ske", "skt"})),
    Signature(
        "oauth1-signature",
        (frozenset({"oauth_signature"}),),
        frozenset({"oauth_signature", "oauth_nonce", "oauth_timestamp"}),
    ),
)
"""Names lower case, since vendors and SDKs spell them in either case."""

_MARKS = frozenset().union(*(signature.marks[0] for signature in SIGNATURES))


def signed_fields(names: list[str]) -> dict[str, str]:
    """Of NAMES in a query or form those (lower case) that a signature rule leaves out, with its id."""
    lowered = {name.lower() for name in names}
    if lowered.isdisjoint(_MARKS):
        return {}
    found: dict[str, str] = {}
    for signature in SIGNATURES:
        if not any(lowered.isdisjoint(mark) for mark in signature.marks):
            found.update(dict.fromkeys(signature.fields & lowered, signature.rule))
    return found
