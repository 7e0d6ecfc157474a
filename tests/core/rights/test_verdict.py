"""Tests for replayproxy.core.rights.verdict and findings: what a purpose may use, and why not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.errors import UsageError
from replayproxy.core.rights import PURPOSES, Permission, Tag, decide, findings, preset, requirements
from replayproxy.core.rights.findings import CODES, LEVELS, Finding, worst
from replayproxy.core.rights.vocabulary import USES, VALUES, Use, Value, strictness

STRICT = [name for name in PURPOSES if name != "local-debug"]


def one(use: Use, value: Value, *when: str, basis: str = "", expires: str = "") -> Tag:
    """Own synthetic data, but for one permission."""
    permissions = {**dict(preset("own-synthetic").permissions), use: Permission(value, basis, when)}
    return Tag(permissions=tuple(permissions.items()), expires=expires)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_own_synthetic_data_may_go_anywhere(purpose: str) -> None:
    """The preset grants what every built-in purpose requires."""
    assert decide(preset("own-synthetic"), purpose) is None


@pytest.mark.parametrize("tag", [Tag(), preset("unknown")], ids=["untagged", "unknown"])
def test_unknown_rights_are_for_local_debugging_only(tag: Tag) -> None:
    """Unknown blocks every other purpose, and says that nobody has decided."""
    assert decide(tag, "local-debug") is None
    for purpose in STRICT:
        finding = decide(tag, purpose)
        assert finding is not None
        assert (finding.code, finding.level, finding.use) == ("RP031", "needs-review", "store")
        assert "nobody has decided" in finding.message
        assert "permissions.store" in finding.hint


@pytest.mark.parametrize("purpose", PURPOSES)
def test_forbidden_replay_refuses_for_every_purpose(purpose: str) -> None:
    """Not even local debugging may replay what may not be replayed; the ground is told."""
    finding = decide(one("replay", "forbidden", basis="msa 4.2"), purpose)
    assert finding is not None
    assert (finding.code, finding.level, finding.use) == ("RP030", "deny", "replay")
    assert "forbidden by msa 4.2" in finding.message
    assert str(finding).startswith("RP030 replay")


@pytest.mark.parametrize("purpose", STRICT)
def test_a_condition_needs_a_person(purpose: str) -> None:
    """Conditions are not decided by machine yet; known ones are explained, unknown ones named as such."""
    finding = decide(one("replay", "conditional", "max-age:P30D", "moon-phase:full"), purpose)
    assert finding is not None
    assert (finding.code, finding.level) == ("RP033", "needs-review")
    assert "max-age:P30D (no older than" in finding.message
    assert "moon-phase:full (not a condition that replayproxy knows)" in finding.message


def test_a_condition_without_conditions_says_so() -> None:
    """`conditional` alone needs a person too, and passes for local debugging."""
    tag = one("replay", "conditional")
    finding = decide(tag, "open-source")
    assert finding is not None
    assert "no condition is stated" in finding.message
    assert decide(tag, "local-debug") is None


@pytest.mark.parametrize(("today", "code"), [("2026-12-31", None), ("2027-01-01", None), ("2027-01-02", "RP020")])
@pytest.mark.parametrize("purpose", PURPOSES)
def test_rights_end_after_their_last_day(today: str, code: str | None, purpose: str) -> None:
    """On the last day they hold, on the next they do not, for any purpose."""
    finding = decide(one("replay", "granted", expires="2027-01-01"), purpose, today)
    assert (finding and finding.code) == code
    assert finding is None or finding.level == "expired"


def test_without_a_date_expiry_is_not_judged() -> None:
    """The core reads no clock."""
    assert decide(one("replay", "granted", expires="2000-01-01"), "open-source") is None


def test_every_reason_is_found_and_the_gravest_decides() -> None:
    """The audit lists all; replay tells the worst."""
    tag = Tag(permissions=(("replay", Permission("forbidden")),), expires="2000-01-01")
    found = findings(tag, "ship-to-customer", "2026-12-01")
    assert [finding.code for finding in found] == ["RP020", "RP031", "RP030", "RP031", "RP031"]
    assert decide(tag, "ship-to-customer", "2026-12-01") == found[2]


def test_an_unknown_purpose_is_a_usage_error_that_lists_the_known_ones() -> None:
    """Purposes of the user's own need a policy, which is a later issue."""
    with pytest.raises(UsageError, match="no purpose called 'shipping'") as refused:
        decide(Tag(), "shipping")
    assert "local-debug, internal-training, ship-to-customer, open-source" in refused.value.hint
    assert requirements("open-source") == ("store", "replay", "publish", "derive")


def test_an_unknown_preset_is_a_usage_error_that_lists_the_known_ones() -> None:
    """Only what is known can be named."""
    with pytest.raises(UsageError, match="no rights called 'mine'") as refused:
        preset("mine")
    assert "own-synthetic, unknown" in refused.value.hint


def test_nothing_is_the_worst_of_nothing() -> None:
    """No finding, no verdict; among equals the first counts."""
    assert worst(()) is None
    first, second = (Finding(code="RP031", level="needs-review", message=text) for text in "ab")
    assert worst((first, second)) is first


@settings(max_examples=80)
@given(
    st.sampled_from(sorted(PURPOSES)),
    st.fixed_dictionaries({use: st.sampled_from(VALUES) for use in USES}),
    st.sampled_from(USES),
    st.sampled_from(VALUES),
)
def test_tightening_never_improves_a_verdict(purpose: str, stated: dict[Use, Value], use: Use, tighter: Value) -> None:
    """What is refused stays refused, at least as gravely, when any permission is tightened."""
    value = max(stated[use], tighter, key=strictness)
    before, after = (
        decide(Tag(permissions=tuple((use, Permission(value)) for use, value in permissions.items())), purpose)
        for permissions in (stated, {**stated, use: value})
    )
    assert before is None or (after is not None and LEVELS.index(after.level) >= LEVELS.index(before.level))
    assert after is None or after.code in CODES
