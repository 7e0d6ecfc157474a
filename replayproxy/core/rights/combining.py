"""How rights tags combine: a closer level may only tighten, a mix is as strict as its strictest source.

Permissions have an order (granted, conditional, unknown, forbidden) and so have classes of subjects; expiry
is the earlier day; terms, obligations, jurisdictions and licences add up. All else describes, and the closer
level describes best. What a level does not state it leaves to the level under it, so that someone can be the
first to state it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import license as spdx
from replayproxy.core.rights.findings import Finding
from replayproxy.core.rights.records import Permission
from replayproxy.core.rights.vocabulary import SUBJECTS, USES, Use, strictness

if TYPE_CHECKING:
    from replayproxy.core.rights.tag import Tag

UNKNOWN = Permission("unknown")
WIDENING = "a closer level may only tighten; a widening needs a signed attestation, which this version cannot check"


def lay(tag: Tag, base: Tag) -> tuple[Tag, tuple[Finding, ...]]:
    """TAG laid over BASE, and a finding (RP011) for each place where TAG would allow more.

    In such a place the result is as strict as BASE.
    """
    permissions, widenings = _permissions_over(tag, base)
    subject = tag.subject or base.subject
    if tag.subject and base.subject and SUBJECTS.index(tag.subject) < SUBJECTS.index(base.subject):
        subject = base.subject
        widenings.append(_widening("", f"subject: {tag.subject} over {base.subject}"))
    expires = tag.expires or base.expires
    if tag.expires and base.expires and tag.expires > base.expires:
        expires = base.expires
        widenings.append(_widening("", f"expires: {tag.expires} over {base.expires}"))
    laid = replace(
        tag,
        provider=tag.provider if tag.provider != type(tag.provider)() else base.provider,
        owner=tag.owner if tag.owner != type(tag.owner)() else base.owner,
        account=tag.account if tag.account != type(tag.account)() else base.account,
        license=_license_over(tag.license, base.license),
        terms=_union(base.terms, tag.terms),
        mode=tag.mode or base.mode,
        subject=subject,
        jurisdictions=_union(base.jurisdictions, tag.jurisdictions),
        recorded_at=tag.recorded_at or base.recorded_at,
        permissions=permissions,
        obligations=_union(base.obligations, tag.obligations),
        expires=expires,
        attestations=_union(base.attestations, tag.attestations),
        extensions=tuple((dict(base.extensions) | dict(tag.extensions)).items()),
    )
    return laid, tuple(widenings)


def _permissions_over(tag: Tag, base: Tag) -> tuple[tuple[tuple[Use, Permission], ...], list[Finding]]:
    laid: list[tuple[Use, Permission]] = []
    widenings: list[Finding] = []
    for use in USES:
        closer, under = tag.stated(use), base.stated(use)
        if closer and under and strictness(closer.value) < strictness(under.value):
            ground = f" ({under.basis})" if under.basis else ""
            widenings.append(_widening(use, f"{use}: {closer.value} over {under.value}{ground}"))
            closer = under
        if stated := _both(closer, under):
            laid.append((use, stated))
    return tuple(laid), widenings


def _both(closer: Permission | None, under: Permission | None) -> Permission | None:
    """CLOSER, with the conditions of UNDER where both are conditional; whichever there is."""
    if closer is None or under is None:
        return closer or under
    if closer.value != under.value:
        return closer
    return replace(closer, basis=closer.basis or under.basis, when=_union(under.when, closer.when))


def _widening(use: Use | Literal[""], what: str) -> Finding:
    return Finding(
        code="RP011",
        level="deny",
        use=use,
        message=f"{what} is a widening without attestation",
        hint=WIDENING,
    )


def _license_over(closer: str, under: str) -> str:
    """The licence of a closer level; both where they differ, since nobody may drop a demand."""
    if not closer or not under or spdx.NO_ASSERTION in (closer, under):
        return closer or under if closer != spdx.NO_ASSERTION or not under else under
    if closer != spdx.NONE != under and spdx.demands(under) <= spdx.demands(closer):
        return closer
    return spdx.joined(under, closer)


def _union[T](first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    return (*first, *(item for item in second if item not in first))


def difference(tag: Tag, base: Tag) -> Tag | None:
    """What to write beside BASE so that laying it over BASE gives TAG; None where BASE says it all.

    Raises RightsError where TAG cannot be reached from BASE: it allows more, or does not state what BASE
    states.
    """
    if tag == base:
        return None
    own = {name: part for name in tag.__dataclass_fields__ if (part := getattr(tag, name)) != getattr(base, name)}
    for name in ("terms", "jurisdictions", "permissions", "obligations", "attestations", "extensions"):
        if name in own:
            own[name] = tuple(item for item in own[name] if item not in getattr(base, name))
    result = type(tag)(**own)
    if result.over(base) != tag:
        raise RightsError("a tag that states less than another cannot be written as a difference to it")
    return result


def meet(first: Tag, second: Tag) -> Tag:
    """The rights to a mix of two recordings: what both allow, owed what either owes.

    A permission that one of them does not state is unknown. What describes only one of them is dropped.
    """
    if first == second:
        return first
    return replace(
        first,
        provider=_common(first.provider, second.provider),
        owner=_common(first.owner, second.owner),
        account=_common(first.account, second.account),
        license=spdx.joined(first.license or spdx.NO_ASSERTION, second.license or spdx.NO_ASSERTION),
        terms=_merged(first.terms, second.terms),
        mode=first.mode if first.mode == second.mode else "unknown",
        subject=max(first.subject or "unknown", second.subject or "unknown", key=SUBJECTS.index),
        jurisdictions=_merged(first.jurisdictions, second.jurisdictions),
        recorded_at=min(filter(None, (first.recorded_at, second.recorded_at)), default=""),
        permissions=tuple(
            (use, _stricter(first.stated(use) or UNKNOWN, second.stated(use) or UNKNOWN))
            for use in USES
            if first.stated(use) or second.stated(use)
        ),
        obligations=_merged(first.obligations, second.obligations),
        expires=min(filter(None, (first.expires, second.expires)), default=""),
        attestations=_merged((), tuple(item for item in first.attestations if item in second.attestations)),
        extensions=(),
    )


def _common[T](first: T, second: T) -> T:
    return first if first == second else type(first)()


def _merged[T](first: tuple[T, ...], second: tuple[T, ...]) -> tuple[T, ...]:
    """All of both, in an order that does not depend on which came first."""
    return tuple(sorted({*first, *second}, key=repr))


def _stricter(first: Permission, second: Permission) -> Permission:
    if first == second:
        return first
    if first.value != second.value:
        return max(first, second, key=lambda permission: strictness(permission.value))
    grounds = {ground for item in (first, second) for ground in item.basis.split("; ") if ground}
    return Permission(first.value, "; ".join(sorted(grounds)), _merged(first.when, second.when))
