"""Tests for replayproxy.core.rights.license: SPDX expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import Tag
from replayproxy.core.rights.license import demands, expression, joined

SPELLINGS = {
    "apache-2.0": "Apache-2.0",
    "mit OR Apache-2.0 AND CC0-1.0": "MIT OR (Apache-2.0 AND CC0-1.0)",
    "GPL-2.0-only WITH Classpath-exception-2.0": "GPL-2.0-only WITH Classpath-exception-2.0",
    "LicenseRef-api-stripe-ssa-2025-11-18": "LicenseRef-api-stripe-ssa-2025-11-18",
    "LicenseRef-scancode-openai-tou-20241211": "LicenseRef-scancode-openai-tou-20241211",
    "DocumentRef-a:LicenseRef-b": "DocumentRef-a:LicenseRef-b",
    "NOASSERTION": "NOASSERTION",
    "NONE": "NONE",
}
WRONG = ["CC-BY-4.0 AND", "", "  ", "AND", "(MIT", "MIT MIT", "Foo", "NOASSERTION AND MIT", "MIT WITH MIT", "é", "MIT,"]
EXPRESSIONS = st.sampled_from(
    [
        "MIT",
        "Apache-2.0",
        "MIT AND Apache-2.0",
        "MIT OR ISC",
        "CC0-1.0 AND (MIT OR ISC)",
        "LicenseRef-a",
        "NONE",
        "NOASSERTION",
        "",
    ]
)


@pytest.mark.parametrize(("text", "spelt"), SPELLINGS.items())
def test_an_expression_has_one_spelling(text: str, spelt: str) -> None:
    """Case and brackets are normalised, and the result stays as it is."""
    assert expression(text) == spelt
    assert expression(spelt) == spelt


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_expression_is_refused(text: str) -> None:
    """Malformed text and unknown identifiers raise, whatever the library does with them."""
    with pytest.raises(ValueError, match=r"SPDX|empty"):
        expression(text)


def test_a_tag_with_a_bad_licence_has_a_code_of_its_own() -> None:
    """RP004 tells a licence from the rest of the tag."""
    with pytest.raises(RightsError, match=r"^rights\.license: 'CC-BY-4\.0 AND' is not .*\[RP004\]\n") as refused:
        Tag.from_dict({"license": "CC-BY-4.0 AND"}, "rights")
    assert "LicenseRef-api-" in refused.value.hint


@settings(max_examples=100)
@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_joining_is_commutative_associative_and_idempotent(one: str, two: str, three: str) -> None:
    """Joining demands everything that any of them demands."""
    assert joined(one, one) == one
    assert joined(one, two) == joined(two, one)
    assert joined(joined(one, two), three) == joined(one, joined(two, three))


@settings(max_examples=50)
@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the library's own errors come out."""
    try:
        spelt = expression(text)
    except ValueError:
        return
    assert expression(spelt) == spelt


def test_demands_are_the_parts_of_a_conjunction() -> None:
    """An alternative is one demand."""
    assert demands("MIT AND (Apache-2.0 OR ISC)") == {"MIT", "Apache-2.0 OR ISC"}
    assert demands("MIT OR ISC") == {"MIT OR ISC"}
