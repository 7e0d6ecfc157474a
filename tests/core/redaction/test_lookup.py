"""All places of all texts, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.lookup import HEAD, MANY, Lookup

FILLING = [f"{number:0{HEAD}}#" for number in range(MANY)]


def lookup(wanted: list[str], *, many: bool) -> Lookup[int]:
    """A look-up of WANTED, each meaning its position, alone or among MANY others."""
    made = Lookup[int]()
    for position, text in enumerate(wanted):
        made.add(text, position)
    for text in FILLING if many else ():
        made.add(text, -1)
    return made


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        pytest.param(["secret"], "a secret, secret", [(2, 0), (10, 0)], id="every place"),
        pytest.param(["aaaaaa"], "aaaaaaaa", [(0, 0), (1, 0), (2, 0)], id="overlapping"),
        pytest.param(["secret", "secrets"], "secrets", [(0, 0), (0, 1)], id="one begins as the other"),
        pytest.param(["secretive"], "secrets", [], id="only its head"),
        pytest.param(["secret"], "secre", [], id="cut off"),
        pytest.param(["secret", "secret"], "secret", [(0, 0)], id="the first meaning stays"),
        pytest.param([], "secret", [], id="nothing is wanted"),
    ],
)
def test_every_place_is_found(wanted: list[str], text: str, found: list[tuple[int, int]], *, many: bool) -> None:
    """Place and meaning of each occurrence; the same whether few or many texts are looked for."""
    assert sorted((at, meaning) for at, _, meaning in lookup(wanted, many=many).find(text)) == found


def test_it_is_true_where_something_is_wanted() -> None:
    """An empty look-up is false."""
    assert not Lookup[int]()
    assert lookup(["secret"], many=False)


@given(st.lists(st.text("ab", min_size=HEAD, max_size=HEAD + 2), max_size=5), st.text("ab", max_size=40))
def test_many_are_found_as_few_are(wanted: list[str], text: str) -> None:
    """Both ways of looking give the same."""
    few, many = (sorted(lookup(wanted, many=flag).find(text)) for flag in (False, True))
    assert (
        few
        == many
        == sorted(
            (at, one, wanted.index(one)) for one in set(wanted) for at in range(len(text)) if text.startswith(one, at)
        )
    )
