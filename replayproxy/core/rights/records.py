"""The parts of a rights tag, and what each may hold in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from replayproxy.core.rights.vocabulary import (
    CONDITIONS,
    DURATION,
    EVIDENCE,
    OWNER_KINDS,
    USE_MEANINGS,
    USES,
    VALUES,
    Evidence,
    OwnerKind,
    Use,
    Value,
    condition,
)
from replayproxy.core.shape import (
    FILLED,
    Choice,
    Day,
    Either,
    Flag,
    Instant,
    Items,
    Key,
    Made,
    Record,
    Text,
    matching,
)


@dataclass(frozen=True, slots=True)
class Service:
    """Who was called."""

    id: str = ""
    name: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose data the answers are."""

    id: str = ""
    kind: OwnerKind | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """A text that was relied on: where it is, since when it holds, when it was read, and what pins it."""

    url: str = ""
    effective: str = ""
    retrieved: str = ""
    sha256: str = ""
    pin: str = ""
    evidence: Evidence | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that was used; `ref` is a salted digest of its name, never the name."""

    plan: str = ""
    region: str = ""
    paid: bool | None = None
    contract_ref: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether one use is allowed, on what ground, and under which conditions (all of them have to be met)."""

    value: Value
    basis: str = ""
    when: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.when and self.value != "conditional":
            raise ValueError(f"conditions (when) belong to conditional, not to {self.value}")


@dataclass(frozen=True, slots=True)
class Obligation:
    """What has to be done by whoever uses the recording."""

    id: str
    text: str = ""
    url: str = ""
    at: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom an attestation holds; empty for everyone."""

    customers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document that stands behind an attestation, by name and digest."""

    sha256: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Attestation:
    """A person's signed statement that widens permissions; kept, and not yet believed."""

    ref: str
    by: str = ""
    role: str = ""
    at: str = ""
    widens: tuple[Use, ...] = ()
    scope: Scope = Scope()
    evidence: Document = Document()
    expires: str = ""
    keyid: str = ""
    sig: str = ""


def permissions(**stated: Permission) -> tuple[tuple[Use, Permission], ...]:
    """STATED in the order of the vocabulary."""
    return tuple((use, stated[use]) for use in USES if use in stated)


_SHA256 = matching("[0-9a-f]{64}", "64 lower-case hex digits")
_DURATION = matching(DURATION, "an ISO 8601 duration (P30D)")

SERVICE = Record(
    "service",
    Service,
    (
        Key("id", FILLED, "short name of the provider"),
        Key("name", FILLED, "its full name"),
        Key("role", FILLED, "what it is to us, such as service"),
    ),
)
OWNER = Record(
    "owner",
    Owner,
    (
        Key("id", FILLED, "short name of the owner"),
        Key("kind", Choice(OWNER_KINDS), "what the owner is to us"),
    ),
)
TERMS = Record(
    "terms",
    Terms,
    (
        Key("url", FILLED, "where the text is"),
        Key("effective", Day(), "the day from which it holds"),
        Key("retrieved", Instant(), "when it was read"),
        Key("sha256", _SHA256, "digest of what was read"),
        Key("pin", FILLED, "a stored copy, such as ota:REPOSITORY@COMMIT:PATH"),
        Key("evidence", Choice(EVIDENCE), "whether the text itself was read, a report of it, or a contract"),
    ),
)
ACCOUNT = Record(
    "account",
    Account,
    (
        Key("plan", FILLED, "plan of the account"),
        Key("region", FILLED, "where it is billed"),
        Key("paid", Flag(), "whether it is paid for"),
        Key("contract_ref", FILLED, "contract that covers it"),
        Key("ref", FILLED, "salted digest of the account's name, never the name"),
    ),
)
_VALUE = Choice(VALUES)
_WHEN = Text("condition", condition, hint=f"known conditions: {', '.join(CONDITIONS)}")
PERMISSION: Either[Permission] = Either(
    Made(_VALUE, Permission),
    Record(
        "mapping with value, basis and when",
        Permission,
        (
            Key("value", _VALUE, "whether it is allowed", required=True),
            Key("basis", FILLED, "the clause or letter that says so"),
            Key("when", Items(_WHEN), "conditions, all of which have to be met; only where conditional"),
        ),
    ),
)
PERMISSIONS = Record(
    "permissions",
    permissions,
    tuple(Key(use, PERMISSION, USE_MEANINGS[use]) for use in USES),
)
OBLIGATION = Record(
    "obligation",
    Obligation,
    (
        Key(
            "id",
            FILLED,
            "what kind: attribution, delete-on-termination, delete-by, delete-on-request, …",
            required=True,
        ),
        Key("text", FILLED, "what to write or do"),
        Key("url", FILLED, "where to link to"),
        Key("at", Day(), "the day by which"),
        Key("within", _DURATION, "how soon after it is asked for"),
    ),
)
ATTESTATION = Record(
    "attestation",
    Attestation,
    (
        Key("ref", FILLED, "its reference", required=True),
        Key("by", FILLED, "who attests"),
        Key("role", FILLED, "as what"),
        Key("at", Day(), "when"),
        Key("widens", Items(Choice(USES)), "the permissions that it widens"),
        Key("scope", Record("scope", Scope, (Key("customers", Items(FILLED), "for these only"),)), "for whom"),
        Key(
            "evidence",
            Record("document", Document, (Key("sha256", _SHA256, "its digest"), Key("name", FILLED, "its name"))),
            "the document behind it",
        ),
        Key("expires", Day(), "its last day"),
        Key("keyid", FILLED, "the key that signed it"),
        Key("sig", FILLED, "the signature"),
    ),
)
