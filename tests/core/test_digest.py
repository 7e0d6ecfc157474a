"""Digests: equal values, equal octets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.digest import canonical_json, digest

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_order_of_members_does_not_count(value: dict[str, object]) -> None:
    """A digest does not depend on the order in which a mapping was filled."""
    assert digest(dict(reversed(value.items()))) == digest(value)


def test_form() -> None:
    """Sorted keys, no white space, UTF-8, lone surrogates kept apart."""
    assert canonical_json({"b": [1, True, None], "a": "é"}) == '{"a":"é","b":[1,true,null]}'.encode()
    assert digest("\ud800") != digest("\ud801")
    assert len(digest(1)) == 64


@pytest.mark.parametrize("value", [1.0, [1.0], {"a": (1, 2.5)}])
def test_floats_are_refused(value: object) -> None:
    """No digest may depend on how a float is printed."""
    with pytest.raises(TypeError, match="float"):
        digest(value)
