"""Whether a purpose may use what a tag speaks of.

`unknown` blocks like a refusal, and says something else: nobody has decided. Only `local-debug` lets it
through, and a condition too. `forbidden` and expired rights refuse for every purpose. Policies with purposes
of the user's own, conditions decided by machine, ages of terms, subjects and signatures come with the audit.
"""

from __future__ import annotations

from replayproxy.core.errors import UsageError
from replayproxy.core.rights.findings import Finding, worst
from replayproxy.core.rights.tag import Tag
from replayproxy.core.rights.vocabulary import CONDITIONS, USE_MEANINGS, Use

LENIENT = "local-debug"
"""The purpose that unknown and conditional permissions do not block: nothing leaves the machine."""

PURPOSES: dict[str, tuple[Use, ...]] = {
    LENIENT: ("replay",),
    "internal-training": ("store", "replay", "train"),
    "ship-to-customer": ("store", "replay", "ship", "train"),
    "open-source": ("store", "replay", "publish", "derive"),
}
"""The built-in purposes and the permissions that each requires."""


def requirements(purpose: str) -> tuple[Use, ...]:
    """The permissions that PURPOSE requires; raises UsageError that lists the purposes there are."""
    if purpose not in PURPOSES:
        known = ", ".join(PURPOSES)
        raise UsageError(f"there is no purpose called {purpose!r}", hint=f"known purposes: {known}")
    return PURPOSES[purpose]


def decide(tag: Tag, purpose: str, today: str | None = None) -> Finding | None:
    """The gravest reason why PURPOSE may not use what TAG speaks of; None where it may.

    TODAY (`YYYY-MM-DD`) is the host's date, never the episode's: a virtual clock must not revive an expired
    right. Without it expiry is not judged. Raises UsageError for an unknown purpose.
    """
    return worst(findings(tag, purpose, today))


def findings(tag: Tag, purpose: str, today: str | None = None) -> tuple[Finding, ...]:
    """Every reason, as for `decide`: first expiry, then permissions in the order of the requirements."""
    required = requirements(purpose)
    judged = [_expiry(tag, today), *(_permission(tag, use, purpose) for use in required)]
    return tuple(finding for finding in judged if finding)


def _expiry(tag: Tag, today: str | None) -> Finding | None:
    if today is None or not tag.expires or today <= tag.expires:
        return None
    return Finding(
        code="RP020",
        level="expired",
        message=f"the rights ended on {tag.expires}",
        hint="record it again under rights that hold, or delete it",
    )


def _permission(tag: Tag, use: Use, purpose: str) -> Finding | None:
    stated = tag.stated(use)
    value = tag.permission(use)
    about = f"{use} ({USE_MEANINGS[use]})"
    ground = f" by {stated.basis}" if stated and stated.basis else ""
    if value == "forbidden":
        hint = "record the provider's sandbox or synthetic data instead, or have the widening attested"
        return Finding(code="RP030", level="deny", use=use, message=f"{about} is forbidden{ground}", hint=hint)
    if value == "granted" or purpose == LENIENT:
        return None
    if value == "unknown":
        hint = f"state permissions.{use} in the provider's rights, or use --purpose {LENIENT}"
        message = f"{about} is unknown: nobody has decided{ground}"
        return Finding(code="RP031", level="needs-review", use=use, message=message, hint=hint)
    conditions = stated.when if stated else ()
    return Finding(
        code="RP033",
        level="needs-review",
        use=use,
        message=f"{about} is conditional{ground} and needs a person: {_spelt(conditions)}",
        hint="have someone decide whether the conditions are met, and state the permission then",
    )


def _spelt(conditions: tuple[str, ...]) -> str:
    if not conditions:
        return "no condition is stated"
    named = (f"{text} ({_meaning(text)})" for text in conditions)
    return ", ".join(named)


def _meaning(condition: str) -> str:
    known = CONDITIONS.get(condition.partition(":")[0])
    return known[1] if known else "not a condition that replayproxy knows"
