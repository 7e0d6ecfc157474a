"""Tests for replayproxy.core.rights.tag: reading and writing tags."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import Permission, Tag, preset
from replayproxy.core.rights.records import Account, Attestation, Obligation, Owner, Service, Terms
from replayproxy.core.rights.vocabulary import CONDITIONS, MODES, OWNER_KINDS, SUBJECTS, USES

FULL: dict[str, Any] = {
    "provider": {"id": "stripe", "name": "Stripe, Inc.", "role": "service"},
    "owner": {"id": "stripe", "kind": "provider"},
    "license": "LicenseRef-api-stripe-ssa-2025-11-18",
    "terms": [
        {
            "url": "https://stripe.com/legal/ssa",
            "effective": "2025-11-18",
            "retrieved": "2026-11-20T09:00:00Z",
            "sha256": "0" * 64,
            "pin": "ota:contrib-versions@abc:Stripe/Terms.md",
            "evidence": "primary",
        }
    ],
    "account": {"plan": "standard", "region": "US", "paid": False, "contract_ref": "MSA-1", "ref": "acct-hash:9c1e"},
    "mode": "test",
    "subject": "test-mode",
    "jurisdictions": ["US"],
    "recorded_at": "2026-11-20T09:12:33Z",
    "permissions": {
        "store": {"value": "granted", "basis": "ssa:3"},
        "replay": "granted",
        "ship": {"value": "conditional", "when": ["max-age:P30D", "audience:customer:labX"]},
        "train": "unknown",
    },
    "obligations": [
        {"id": "attribution", "text": "Stripe", "url": "https://stripe.com"},
        {"id": "delete-by", "at": "2026-12-20"},
        {"id": "delete-on-request", "within": "P7D"},
    ],
    "expires": "2027-11-20",
    "attestations": [
        {
            "ref": "legal-2026-031",
            "by": "j.doe@acme",
            "role": "counsel",
            "at": "2026-11-25",
            "widens": ["ship"],
            "scope": {"customers": ["labX"]},
            "evidence": {"sha256": "1" * 64, "name": "letter.pdf"},
            "expires": "2027-11-25",
            "keyid": "ed25519:ab12",
            "sig": "AAAA",
        }
    ],
    "x-ticket": {"id": 7, "tags": ["a", None]},
}

WORD = st.text("abcdefgh:-. é", min_size=1, max_size=8).filter(str.strip)
DAY = st.dates().map(lambda day: day.isoformat())
INSTANT = st.datetimes().map(lambda moment: f"{moment.isoformat()}Z")
SHA256 = st.text("0123456789abcdef", min_size=64, max_size=64)
MAYBE = {"text": st.just("") | WORD, "day": st.just("") | DAY}
PERMISSIONS = st.builds(Permission, st.sampled_from(("granted", "unknown", "forbidden")), MAYBE["text"]) | st.builds(
    Permission,
    st.just("conditional"),
    MAYBE["text"],
    st.lists(st.sampled_from(["max-age:P30D", "attribution:a", "cache-header", "moon-phase:full"])).map(tuple),
)
TAGS = st.builds(
    Tag,
    provider=st.builds(Service, MAYBE["text"], MAYBE["text"], MAYBE["text"]),
    owner=st.builds(Owner, MAYBE["text"], st.sampled_from(("", *OWNER_KINDS))),
    license=st.sampled_from(["", "NONE", "NOASSERTION", "MIT", "MIT OR Apache-2.0", "LicenseRef-api-x AND MIT"]),
    terms=st.lists(st.builds(Terms, WORD, MAYBE["day"], st.just("") | INSTANT, st.just("") | SHA256), max_size=2).map(
        tuple
    ),
    account=st.builds(Account, MAYBE["text"], MAYBE["text"], st.sampled_from((None, True, False))),
    mode=st.sampled_from(("", *MODES)),
    subject=st.sampled_from(("", *SUBJECTS)),
    jurisdictions=st.lists(WORD, max_size=2).map(tuple),
    recorded_at=st.just("") | INSTANT,
    permissions=st.dictionaries(st.sampled_from(USES), PERMISSIONS).map(lambda stated: tuple(stated.items())),
    obligations=st.lists(st.builds(Obligation, WORD, at=MAYBE["day"]), max_size=2).map(tuple),
    expires=MAYBE["day"],
    attestations=st.lists(
        st.builds(Attestation, WORD, widens=st.lists(st.sampled_from(USES)).map(tuple)), max_size=1
    ).map(tuple),
    extensions=st.dictionaries(WORD.map(lambda name: f"x-{name}"), st.integers(), max_size=2).map(
        lambda stated: tuple(stated.items())
    ),
)


def test_a_full_tag_is_read_and_written_as_it_was() -> None:
    """Every key of the vocabulary survives reading and writing."""
    assert Tag.from_dict(FULL).to_dict() == FULL


@settings(max_examples=80)
@given(TAGS)
def test_writing_and_reading_gives_the_tag_back(tag: Tag) -> None:
    """`from_dict` undoes `to_dict`."""
    assert Tag.from_dict(tag.to_dict()) == tag


def test_a_tag_that_states_nothing_is_written_as_nothing_and_grants_nothing() -> None:
    """What is default is left out, and what is left out is unknown."""
    assert Tag().to_dict() == {}
    assert Tag.from_dict({}) == Tag()
    assert {Tag().permission(use) for use in USES} == {"unknown"}
    assert Tag().stated("ship") is None


def test_the_schema_is_accepted_and_not_kept() -> None:
    """A tag says which version of the vocabulary it is in; there is one."""
    assert Tag.from_dict({"schema": "replayproxy.rights/1"}) == Tag()


def test_permissions_are_held_in_one_order() -> None:
    """Two tags that state the same are equal, whatever the order in the file, and can be hashed."""
    one = Tag.from_dict({"permissions": {"ship": "granted", "store": "unknown"}})
    other = Tag.from_dict({"permissions": {"store": "unknown", "ship": {"value": "granted"}}})
    assert one == other
    assert hash(one) == hash(other)
    assert list(one.permissions) == [("store", Permission("unknown")), ("ship", Permission("granted"))]


def test_times_are_held_in_utc() -> None:
    """An offset is resolved; a time without one is in UTC."""
    assert Tag.from_dict({"recorded_at": "2026-11-20T10:12:33+01:00"}).recorded_at == "2026-11-20T09:12:33Z"
    assert Tag.from_dict({"recorded_at": "2026-11-20T09:12:33"}).recorded_at == "2026-11-20T09:12:33Z"


WRONG: dict[str, tuple[object, str, str, str]] = {
    "no mapping": ([], "rights", "found a list where rights tag belongs", ""),
    "nothing": (None, "rights", "found nothing where rights tag belongs", ""),
    "boolean no": ({"permissions": {"ship": False}}, "rights.permissions.ship", "the boolean false", "YAML reads yes"),
    "boolean yes": (
        {"permissions": {"ship": {"value": True}}},
        "rights.permissions.ship.value",
        "granted, conditional, unknown, forbidden",
        "YAML reads yes",
    ),
    "boolean tag": (True, "rights", "the boolean true", "YAML reads yes"),
    "unknown key": ({"permisions": {}}, "rights.permisions", "there is no such key", "did you mean permissions?"),
    "far key": ({"zzz": 1}, "rights.zzz", "there is no such key", "allowed: schema, provider"),
    "inner key": ({"permissions": {"sihp": "granted"}}, "rights.permissions.sihp", "no such key", "did you mean ship?"),
    "extension inside": ({"owner": {"x-a": 1}}, "rights.owner.x-a", "there is no such key", ""),
    "value": ({"permissions": {"ship": "allowed"}}, "rights.permissions.ship", "found 'allowed'; allowed: granted", ""),
    "near value": ({"permissions": {"ship": "forbiden"}}, "rights.permissions.ship", "", "did you mean forbidden?"),
    "no value": ({"permissions": {"ship": {"basis": "x"}}}, "rights.permissions.ship", "value is missing", "value:"),
    "when without conditional": (
        {"permissions": {"ship": {"value": "granted", "when": ["cache-header"]}}},
        "rights.permissions.ship",
        "conditions (when) belong to conditional, not to granted",
        "",
    ),
    "bad duration": (
        {"permissions": {"ship": {"value": "conditional", "when": ["max-age:30"]}}},
        "rights.permissions.ship.when[0]",
        "not how max-age is written",
        "known conditions:",
    ),
    "no condition": (
        {"permissions": {"ship": {"value": "conditional", "when": ["Thirty days"]}}},
        "rights.permissions.ship.when[0]",
        "name or name:argument",
        "known conditions:",
    ),
    "date": ({"expires": "2027-02-30"}, "rights.expires", "which is not a date", ""),
    "date form": ({"expires": "20270220"}, "rights.expires", "a date (YYYY-MM-DD) belongs", ""),
    "time": ({"recorded_at": "2027-02-30T00:00:00Z"}, "rights.recorded_at", "which is not a time", ""),
    "no time": ({"recorded_at": "2027-02-20"}, "rights.recorded_at", "a time (YYYY-MM-DDTHH:MM:SSZ) belongs", ""),
    "time before time": ({"recorded_at": "0001-01-01T00:00:00+01:00"}, "rights.recorded_at", "not a time", ""),
    "digest": ({"terms": [{}, {"sha256": "AB"}]}, "rights.terms[1].sha256", "64 lower-case hex digits", ""),
    "empty text": ({"owner": {"id": " "}}, "rights.owner.id", "found empty text", ""),
    "number": ({"owner": {"id": 7}}, "rights.owner.id", "found the number 7 where text belongs", ""),
    "binary": ({"owner": {"id": b"x"}}, "rights.owner.id", "found binary data where text belongs", ""),
    "flag": ({"account": {"paid": "yes"}}, "rights.account.paid", "where true or false belongs", ""),
    "list": ({"jurisdictions": "US"}, "rights.jurisdictions", "where list of text belongs", ""),
    "future": ({"schema": "replayproxy.rights/2"}, "rights.schema", "allowed: replayproxy.rights/1", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_tag_is_refused_with_path_and_hint(name: str) -> None:
    """The error names the path, what was found, and what is allowed."""
    data, path, problem, hint = WRONG[name]
    with pytest.raises(RightsError) as refused:
        Tag.from_dict(data, "rights")
    assert refused.value.what.startswith(f"{path}: ")
    assert problem in refused.value.what
    assert refused.value.what.endswith("[RP003]")
    assert hint in refused.value.hint
    assert refused.value.exit_code == 2


def test_the_path_starts_where_the_caller_says() -> None:
    """Without a start the path stands alone; without either the tag is named."""
    with pytest.raises(RightsError, match=r"^expires: "):
        Tag.from_dict({"expires": 1})
    with pytest.raises(RightsError, match=r"^the rights tag: "):
        Tag.from_dict(3)


@pytest.mark.parametrize(
    "text",
    [
        "max-age:P30D",
        "max-age:PT48H",
        "audience:org",
        "audience:customer:labX",
        "request-param:permanent=true",
        "share-alike:CC-BY-SA-4.0,ODbL-1.0",
        "no-competing-model",
        "no-competing-model:classifier-ok",
        "cache-header",
        "moon-phase:full",
    ],
)
def test_conditions_of_the_vocabulary_and_unknown_ones_are_kept(text: str) -> None:
    """A condition that is not known is kept, for a person to judge."""
    tag = Tag.from_dict({"permissions": {"ship": {"value": "conditional", "when": [text]}}})
    stated = tag.stated("ship")
    assert stated is not None
    assert stated.when == (text,)


@pytest.mark.parametrize("name", CONDITIONS)
def test_no_condition_takes_an_argument_of_another_form(name: str) -> None:
    """Each known condition has a form, and what has not is refused."""
    wrong = f"{name}:=" if name != "request-param" else name
    with pytest.raises(RightsError, match=name):
        Tag.from_dict({"permissions": {"ship": {"value": "conditional", "when": [wrong]}}})


def test_presets_are_tags_that_can_be_written() -> None:
    """The presets are valid tags."""
    for name in ("own-synthetic", "unknown"):
        assert Tag.from_dict(preset(name).to_dict()) == preset(name)


def test_the_schema_says_the_same_as_the_reader() -> None:
    """What is read fits the JSON schema; an unknown key and a boolean do not."""
    jsonschema = pytest.importorskip("jsonschema")
    from replayproxy.core.rights import TAG  # noqa: PLC0415 - beside the library that needs it

    validator = jsonschema.Draft202012Validator(TAG.schema())
    validator.check_schema(TAG.schema())
    assert list(validator.iter_errors(FULL)) == []
    assert not validator.is_valid({"permisions": {}})
    assert not validator.is_valid({"permissions": {"ship": False}})
    assert str(TAG) == "rights tag"
