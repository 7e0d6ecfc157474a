"""Tests for replayproxy.core.rights.combining: laying tags over each other, differences, mixes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import Permission, Tag, WideningError, difference, lay, meet, preset
from replayproxy.core.rights.records import Account, Attestation, Obligation, Owner, Service, Terms
from replayproxy.core.rights.vocabulary import SUBJECTS, USES, VALUES, Use, Value, strictness

ITEMS = st.lists(st.sampled_from("abc"), max_size=2, unique=True)
PERMISSIONS = st.builds(
    Permission, st.sampled_from(("granted", "unknown", "forbidden")), st.sampled_from(["", "a", "b; a"])
) | st.builds(
    Permission,
    st.just("conditional"),
    st.sampled_from(["", "a"]),
    st.lists(st.sampled_from(["plan:a", "plan:b"]), unique=True).map(tuple),
)
DAYS = st.sampled_from(["", "2026-01-01", "2027-01-01"])
TAGS = st.builds(
    Tag,
    provider=st.sampled_from([Service(), Service("a"), Service("b")]),
    owner=st.sampled_from([Owner(), Owner("a", "provider")]),
    license=st.sampled_from(["", "NONE", "NOASSERTION", "MIT", "Apache-2.0 AND MIT", "MIT OR ISC"]),
    terms=ITEMS.map(lambda names: tuple(Terms(name) for name in names)),
    account=st.sampled_from([Account(), Account("free"), Account(paid=False)]),
    mode=st.sampled_from(["", "live", "test", "unknown"]),
    subject=st.sampled_from(["", *SUBJECTS]),
    jurisdictions=ITEMS.map(tuple),
    recorded_at=st.sampled_from(["", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
    permissions=st.dictionaries(st.sampled_from(USES), PERMISSIONS).map(lambda stated: tuple(stated.items())),
    obligations=ITEMS.map(lambda names: tuple(Obligation(name) for name in names)),
    expires=DAYS,
    attestations=ITEMS.map(lambda names: tuple(Attestation(name) for name in names)),
    extensions=st.sampled_from([(), (("x-a", 1),), (("x-a", 2), ("x-b", {"c": []}))]),
)


def one(use: Use, value: Value, *when: str, basis: str = "") -> Tag:
    """A tag that states one permission."""
    return Tag(permissions=((use, Permission(value, basis, when)),))


def as_strict(tag: Tag, base: Tag) -> bool:
    """Whether TAG allows nothing that BASE does not."""
    stated = [(tag.permission(use), base.permission(use)) for use in USES if base.stated(use)]
    permissions = all(strictness(closer) >= strictness(under) for closer, under in stated)
    subject = not base.subject or SUBJECTS.index(tag.subject or "synthetic") >= SUBJECTS.index(base.subject)
    return permissions and subject and (not base.expires or (bool(tag.expires) and tag.expires <= base.expires))


@pytest.mark.parametrize("closer", VALUES)
@pytest.mark.parametrize("under", VALUES)
def test_a_closer_level_may_only_tighten(closer: Value, under: Value) -> None:
    """The stricter of two values holds; the looser one over a stricter one is a widening."""
    if strictness(closer) >= strictness(under):
        assert one("ship", closer).over(one("ship", under)) == one("ship", closer)
        return
    with pytest.raises(WideningError, match=f"RP011 ship: {closer} over {under} is a widening") as refused:
        one("ship", closer).over(one("ship", under))
    (finding,) = refused.value.findings
    assert (finding.code, finding.level, finding.use) == ("RP011", "deny", "ship")
    assert "attestation" in refused.value.hint


def test_an_attestation_does_not_widen_yet() -> None:
    """Until signatures can be checked nobody's word is taken, and the ground of the stricter level is told."""
    attested = Tag(
        permissions=(("ship", Permission("granted")),), attestations=(Attestation("legal-1", widens=("ship",)),)
    )
    with pytest.raises(WideningError, match=r"ship: granted over forbidden \(msa 4\.2\)"):
        attested.over(one("ship", "forbidden", basis="msa 4.2"))


def test_a_difference_keeps_what_it_does_not_state() -> None:
    """Silence is no statement: a level that nobody has stated may be stated by a closer one."""
    base = preset("own-synthetic")
    laid = one("publish", "forbidden").over(base)
    assert laid.permission("publish") == "forbidden"
    assert laid.permission("ship") == "granted"
    assert laid.license == base.license
    assert one("ship", "granted").over(Tag()) == one("ship", "granted")


def test_conditions_add_up() -> None:
    """Two conditional levels: all conditions of both."""
    laid = one("ship", "conditional", "plan:b").over(one("ship", "conditional", "plan:a", basis="x"))
    assert laid == one("ship", "conditional", "plan:a", "plan:b", basis="x")


@pytest.mark.parametrize(
    ("closer", "under", "what"),
    [
        (Tag(subject="synthetic"), Tag(subject="personal"), "subject: synthetic over personal"),
        (Tag(expires="2028-01-01"), Tag(expires="2027-01-01"), "expires: 2028-01-01 over 2027-01-01"),
    ],
)
def test_subject_and_expiry_may_only_tighten_too(closer: Tag, under: Tag, what: str) -> None:
    """Nobody makes personal data synthetic or a right longer by saying so; the other way round is fine."""
    laid, (widening,) = lay(closer, under)
    assert laid == under
    assert what in str(widening)
    assert under.over(closer) == under


@pytest.mark.parametrize(
    ("closer", "under", "both"),
    [
        ("", "MIT", "MIT"),
        ("MIT", "", "MIT"),
        ("MIT", "MIT", "MIT"),
        ("ISC", "MIT", "ISC AND MIT"),
        ("MIT AND ISC", "ISC", "MIT AND ISC"),
        ("ISC", "MIT AND ISC", "ISC AND MIT"),
        ("MIT", "NOASSERTION", "MIT"),
        ("NOASSERTION", "MIT", "MIT"),
        ("NOASSERTION", "", "NOASSERTION"),
        ("NONE", "MIT", "NONE"),
        ("MIT", "NONE", "NONE"),
    ],
)
def test_no_level_drops_the_demand_of_a_licence(closer: str, under: str, both: str) -> None:
    """Licences add up; that nobody asserts one is no statement."""
    assert Tag(license=closer).over(Tag(license=under)).license == both


@settings(max_examples=80)
@given(TAGS, TAGS)
def test_laying_never_widens_and_stays(tag: Tag, base: Tag) -> None:
    """Whatever is laid over a base is as strict as the base, and laid again it changes nothing."""
    laid, widenings = lay(tag, base)
    assert as_strict(laid, base)
    assert laid.over(base) == laid
    assert {*base.terms, *tag.terms} == set(laid.terms)
    if not widenings:
        assert tag.over(base) == laid


@settings(max_examples=80)
@given(TAGS, TAGS)
def test_a_difference_laid_over_its_base_gives_the_tag(tag: Tag, base: Tag) -> None:
    """`difference` undoes `over`: what can be reached is written as little as possible."""
    laid, _ = lay(tag, base)
    rest = difference(laid, base)
    assert (rest is None) == (laid == base)
    assert (rest or Tag()).over(base) == laid


@settings(max_examples=100)
@given(TAGS)
def test_from_nothing_every_tag_is_its_own_difference(tag: Tag) -> None:
    """`Tag()` is neutral on both sides."""
    assert tag.over(Tag()) == tag
    assert Tag().over(tag) == tag
    assert difference(tag, Tag()) == (tag if tag != Tag() else None)


def test_what_cannot_be_reached_is_refused() -> None:
    """A tag that states less than its base, or allows more, has no difference to it."""
    with pytest.raises(RightsError, match="cannot be written as a difference"):
        difference(Tag(), preset("own-synthetic"))
    with pytest.raises(WideningError):
        difference(preset("own-synthetic"), preset("unknown"))


@settings(max_examples=80)
@given(TAGS, TAGS, TAGS)
def test_a_mix_has_no_order(first: Tag, second: Tag, third: Tag) -> None:
    """`meet` is idempotent, commutative and associative in everything that is decided on."""
    assert meet(first, first) == first
    assert meet(first, second) == meet(second, first)
    assume(len({first, second, third}) == 3)
    left, right = meet(meet(first, second), third), meet(first, meet(second, third))
    for use in USES:
        assert left.permission(use) == right.permission(use)
    assert (left.subject, left.license, left.expires) == (right.subject, right.license, right.expires)
    assert set(left.obligations) == set(right.obligations)


@settings(max_examples=80)
@given(TAGS, TAGS)
def test_a_mix_is_as_strict_as_both(first: Tag, second: Tag) -> None:
    """What one source does not allow, the mix does not; what either owes, it owes."""
    mixed = meet(first, second)
    for source in (first, second):
        assert as_strict(mixed, source)
        assert set(source.obligations) <= set(mixed.obligations)
        for use in USES:
            assert strictness(mixed.permission(use)) >= strictness(source.permission(use))


def test_a_mix_drops_what_describes_only_one_source() -> None:
    """Provider and owner of a mix are those of both, or unknown; grounds and conditions of both are kept."""
    first = Tag(owner=Owner("a", "provider"), permissions=(("ship", Permission("conditional", "b; a", ("plan:a",))),))
    second = Tag(owner=Owner("b", "provider"), permissions=(("ship", Permission("conditional", "c", ("plan:b",))),))
    mixed = meet(first, second)
    assert mixed.owner == Owner()
    assert mixed.stated("ship") == Permission("conditional", "a; b; c", ("plan:a", "plan:b"))
    assert meet(first, Tag()).permission("ship") == "unknown"
