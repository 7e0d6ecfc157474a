"""What an index cannot give back exactly is not put into one."""

from __future__ import annotations

from pathlib import Path

import pytest

from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.library import Library
from replayproxy.core.rights import Tag
from replayproxy.core.sequence import Scope
from replayproxy.store import Blobs, Loaded
from replayproxy.store.index_writing import scope_text, write_index

ORIGIN = Origin("https", "a.test", 443)
REQUEST = Request(method="GET", origin=ORIGIN, target="/a")


def write(path: Path, **more: object) -> None:
    """An index at PATH of one interaction of which MORE is said."""
    given = {"id": interaction_id(0, REQUEST), "request": REQUEST, "response": Response(status=200)} | more
    interaction = Interaction(order=0, **given)  # type: ignore[arg-type]
    cassette = Cassette(name="tape", interactions=(interaction,))
    library = Library.build([cassette], purpose="local-debug")
    write_index(path, "identity", library, [Loaded(cassette, path, Blobs("tape", []))])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"id": "not one of ours"}, "must be"),
        ({"rights": Tag(license="no licence at all")}, "rights tag cannot be said"),
        ({"rights": Tag(extensions=(("x-a", (1,)),))}, "rights tag cannot be said"),
        ({"rights": Tag(extensions=(("x-a", {1}),))}, "rights tag cannot be said"),
        ({"take": "\udcff"}, "surrogates"),
    ],
)
def test_what_would_not_come_back_is_refused(tmp_path: Path, more: dict[str, object], why: str) -> None:
    """An id of another form, a tag that says what no tag can, text that is none."""
    with pytest.raises(ValueError, match=why):
        write(tmp_path / "made.index", **more)


def test_an_index_is_the_same_for_the_same_cassettes(tmp_path: Path) -> None:
    """Octet for octet, so that two that were made at once have one name."""
    paths = [tmp_path / name for name in ("one.index", "two.index")]
    for path in paths:
        write(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_scopes_are_told_apart() -> None:
    """By origin and by segment, whatever is in them."""
    scopes = [
        Scope(ORIGIN, ()),
        Scope(ORIGIN, ("",)),
        Scope(ORIGIN, ("a", "b")),
        Scope(ORIGIN, ("a/b",)),
        Scope(ORIGIN, ('a","b',)),
        Scope(Origin("http", "a.test", 443), ()),
        Scope(Origin("https", "a.test", 80), ()),
    ]
    assert len({scope_text(scope) for scope in scopes}) == len(scopes)
