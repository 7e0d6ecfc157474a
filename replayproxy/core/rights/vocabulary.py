"""The closed vocabularies of a rights tag, from the loosest word to the strictest where there is an order."""

from __future__ import annotations

import re
from typing import Literal, get_args

SCHEMA = "replayproxy.rights/1"

Use = Literal["store", "replay", "ship", "publish", "train", "derive", "benchmark"]
"""What one may want to do with a recording."""

Value = Literal["granted", "conditional", "unknown", "forbidden"]
"""Whether one may. Not spelt yes and no, which YAML reads as booleans."""

OwnerKind = Literal["provider", "customer", "third-party", "public", "unknown"]
Mode = Literal["live", "test", "sandbox", "mock", "unknown"]
Subject = Literal["synthetic", "test-mode", "public-record", "business", "unknown", "personal", "special-category"]
"""Whom the data is about."""

Evidence = Literal["primary", "second-hand", "contract"]

USES: tuple[Use, ...] = get_args(Use)
VALUES: tuple[Value, ...] = get_args(Value)
OWNER_KINDS: tuple[OwnerKind, ...] = get_args(OwnerKind)
MODES: tuple[Mode, ...] = get_args(Mode)
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)

USE_MEANINGS: dict[Use, str] = {
    "store": "keep the recording",
    "replay": "answer requests with it, inside the organisation",
    "ship": "hand it to a customer, in an image or a pack",
    "publish": "make it public",
    "train": "train or tune a model in an environment that serves it",
    "derive": "make other recordings from it",
    "benchmark": "measure and compare the service by it; only stated where a provider limits it",
}

_WORD = r"[A-Za-z0-9][A-Za-z0-9._@/+-]*"
DURATION = r"P(?=\d|T\d)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?"

CONDITIONS: dict[str, tuple[str, str]] = {
    "max-age": (DURATION, "no older than an ISO 8601 duration (max-age:P30D)"),
    "cache-header": ("", "while the recorded Cache-Control or Expires says it is fresh"),
    "attribution": (_WORD, "with the attribution of that obligation"),
    "share-alike": (f"{_WORD}(,{_WORD})*", "under one of these licences (share-alike:CC-BY-SA-4.0)"),
    "non-commercial": ("", "not for commercial ends"),
    "no-competing-model": ("(classifier-ok)?", "not to make a model that competes with the provider"),
    "not-for-training-purpose": ("", "not recorded for the purpose of training"),
    "no-foundation-model": ("", "not to train a foundation model"),
    "audience": (rf"org|public|customer:{_WORD}", "only to that audience (audience:customer:labX)"),
    "request-param": (r"[^=\s]+=\S*", "where the request said so (request-param:permanent=true)"),
    "plan": (_WORD, "on that plan"),
    "while-subscribed": ("", "while the subscription lasts"),
    "fields-only": (_WORD, "after that redaction profile"),
    "contract": (_WORD, "under that contract"),
    "region": (f"{_WORD}(,{_WORD})*", "in these regions"),
    "subject-consent": (_WORD, "with the consent of whom it is about"),
}
"""Conditions by name: the form of what follows the colon ("" for nothing), and what holds where it is met."""

_CONDITION = re.compile(r"([a-z][a-z0-9-]*)(?::(\S+))?")


def condition(text: str) -> str:
    """TEXT if it can be a condition; raises ValueError where a known one has a wrong argument.

    A condition that is not known is kept: it is never met by machine, so it needs a person.
    """
    parts = _CONDITION.fullmatch(text)
    if not parts:
        raise ValueError(f"found {text!r} where a condition (name or name:argument) belongs")
    form, meaning = CONDITIONS.get(parts[1], (".*", ""))
    if not re.fullmatch(form, parts[2] or ""):
        raise ValueError(f"found {text!r}, which is not how {parts[1]} is written: {meaning}")
    return text


def strictness(value: Value) -> int:
    """The place of VALUE in the order granted, conditional, unknown, forbidden: higher is stricter."""
    return VALUES.index(value)
