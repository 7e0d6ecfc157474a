"""Field names that a proxy must treat apart: framing, hop-by-hop fields, and what leads past the proxy."""

from __future__ import annotations

import re
from functools import lru_cache

END_TO_END, HOST, LENGTH, CODING, CONNECTION, UPGRADE, EXPECT, CREDENTIALS, TRAILER, HOP = range(10)

TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
"""RFC 9110 section 5.6.2."""

_COMMON = {
    "content-length": LENGTH,
    "transfer-encoding": CODING,
    "connection": CONNECTION,
    "upgrade": UPGRADE,
    "trailer": TRAILER,
    "keep-alive": HOP,
    "proxy-connection": HOP,
    "te": HOP,
}
_REQUEST = _COMMON | {
    "host": HOST,
    "expect": EXPECT,
    "proxy-authorization": CREDENTIALS,
    "http2-settings": HOP,
}
_ANSWER = _COMMON | {"alt-svc": HOP}

KEPT_THOUGH_LISTED = frozenset({"host", "content-length"})
"""Fields that `Connection` cannot take away: without them the message means something else."""


@lru_cache(maxsize=2048)
def request_name(octets: bytes) -> tuple[str, int]:
    """The text of a field name that a parser has accepted, and its kind in a request."""
    name = octets.decode("latin-1")
    lower = name.lower()
    return name, _REQUEST.get(lower, HOP if lower.startswith("proxy-") else END_TO_END)


@lru_cache(maxsize=2048)
def answer_name(name: str) -> int:
    """The kind of a field name in an answer; raises ValueError for what is no field name (RFC 9110 section 5.1)."""
    if not TOKEN.fullmatch(name):
        raise ValueError(f"not a field name: {name!r}")
    lower = name.lower()
    # Proxy-Authenticate is the one proxy field that an answer of ours (407) needs.
    dropped = lower.startswith("proxy-") and lower != "proxy-authenticate"
    return _ANSWER.get(lower, HOP if dropped else END_TO_END)


def listed(value: str) -> set[str]:
    """The members of a comma-separated list, lower case."""
    return {member for part in value.split(",") if (member := part.strip().lower())}
