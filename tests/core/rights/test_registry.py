"""Tests for replayproxy.core.rights.registry: whose tag holds for a host and path."""

from __future__ import annotations

import pytest

from replayproxy.core.rights import REGISTRY, Entry, Permission, Place, Registry, Tag, WideningError, preset, resolve
from replayproxy.core.rights.records import Terms
from replayproxy.core.shape import ShapeError


def tagged(license_: str) -> Tag:
    """A tag that can be told from others."""
    return Tag(license=license_)


def registry(*entries: tuple[str, str, str]) -> Registry:
    """A registry of (host, path, licence)."""
    return Registry.from_entries(
        Entry(f"{host}{path}", (Place(host, path),), tagged(name)) for host, path, name in entries
    )


@pytest.mark.parametrize(
    ("place", "host", "path", "covered"),
    [
        (Place("api.test"), "api.test", "/", True),
        (Place("api.test"), "api.test", "/a/b?", True),
        (Place("api.test"), "api.test.evil", "/", False),
        (Place("*.api.test"), "a.api.test", "/", True),
        (Place("*.api.test"), "a.b.api.test", "/", True),
        (Place("*.api.test"), "api.test", "/", False),
        (Place("api-*.test"), "api-1.test", "/", True),
        (Place("api-*.test"), "api-1.x.test", "/", False),
        (Place("api.test", "/v3/**"), "api.test", "/v3/a/b", True),
        (Place("api.test", "/v3/*"), "api.test", "/v3/a", True),
        (Place("api.test", "/v3/*"), "api.test", "/v3/a/b", False),
        (Place("api.test", "/v3/**"), "api.test", "/v2/a", False),
        (Place("api.test", "/a.b"), "api.test", "/aXb", False),
        (Place("api.test", "/v3/**"), "api.test", "/v3/a\nb", True),
    ],
)
def test_places_are_globs(place: Place, host: str, path: str, *, covered: bool) -> None:
    """`*` stays within a label or segment, save the leading one of a host; `**` does not."""
    assert place.covers(host, path) is covered


@pytest.mark.parametrize(
    ("host", "path", "license_"),
    [
        ("api.test", "/v3/x", "CC0-1.0"),
        ("api.test", "/v2/x", "MIT"),
        ("b.api.test", "/v3/x", "ISC"),
        ("c.test", "/", None),
    ],
)
def test_the_most_specific_entry_decides(host: str, path: str, license_: str | None) -> None:
    """A host beats a glob, a longer path a shorter one; nobody knows what no entry covers."""
    known = registry(("api.test", "/**", "MIT"), ("api.test", "/v3/**", "CC0-1.0"), ("*.api.test", "/**", "ISC"))
    found = known.lookup(host, path)
    assert (found and found.license) == license_


def test_of_two_entries_for_one_place_both_hold() -> None:
    """The order of the files does not matter."""
    entries = [("api.test", "/**", "MIT"), ("api.test", "/**", "ISC")]
    found = registry(*entries).lookup("api.test", "/")
    assert found is not None
    assert found.license == "ISC AND MIT"
    assert found == registry(*reversed(entries)).lookup("api.test", "/")


def test_a_host_is_known_whatever_the_path() -> None:
    """An entry for one path makes its host a provider's."""
    known = registry(("api.test", "/v3/**", "MIT"))
    assert known.knows("api.test")
    assert not known.knows("other.test")


def test_nobody_has_said_anything() -> None:
    """None asks the caller to refuse."""
    assert resolve("api.test", "/") is None
    assert resolve("api.test", "/", registry=registry(("other.test", "/**", "MIT"))) is None


@pytest.mark.parametrize("level", ["cli", "provider", "folder"])
def test_any_level_alone_is_the_tag(level: str) -> None:
    """Whoever speaks alone decides."""
    assert resolve("api.test", "/", **{level: preset("own-synthetic")}) == preset("own-synthetic")  # type: ignore[arg-type]


def test_closer_levels_tighten() -> None:
    """All levels hold together, the closest describes best."""
    resolved = resolve(
        "api.test",
        "/",
        cli=Tag(mode="test", permissions=(("train", Permission("forbidden")),)),
        provider=Tag(mode="live", permissions=(("ship", Permission("unknown")),)),
        folder=Tag(terms=(Terms("https://a.test"),)),
        registry=registry(("api.test", "/**", "MIT")),
    )
    assert resolved is not None
    assert (resolved.mode, resolved.license, resolved.terms) == ("test", "MIT", (Terms("https://a.test"),))
    assert [resolved.permission(use) for use in ("train", "ship", "store")] == ["forbidden", "unknown", "unknown"]


def test_a_level_that_widens_is_refused() -> None:
    """The command line cannot grant what the configuration forbids."""
    with pytest.raises(WideningError, match="RP011 ship: granted over forbidden"):
        resolve(
            "api.test",
            "/",
            cli=Tag(permissions=(("ship", Permission("granted")),)),
            provider=Tag(permissions=(("ship", Permission("forbidden")),)),
        )


@pytest.mark.parametrize("level", ["cli", "provider", "folder"])
def test_what_the_registry_knows_is_not_our_own(level: str) -> None:
    """The preset own-synthetic is refused for a provider's host, though its entry states no permission."""
    known = registry(("api.test", "/v3/**", "MIT"))
    with pytest.raises(WideningError, match=r"RP011 the registry knows api\.test") as refused:
        resolve("api.test", "/v2", registry=known, **{level: preset("own-synthetic")})
    assert "--rights" in refused.value.hint
    mine = resolve("mine.test", "/v2", registry=known, **{level: preset("own-synthetic")})
    assert mine == preset("own-synthetic")


ENTRY = {
    "id": "youtube-data",
    "match": [{"host": "WWW.googleapis.com", "path": "/youtube/v3/**"}],
    "evidence": "primary",
    "license": "LicenseRef-api-youtube-developer-policies",
    "mode_detectors": [],
    "reviewed": {"by": "a", "at": "2026-11-30"},
    "permissions": {"publish": {"value": "forbidden", "basis": "III.E"}},
    "x-note": "mine",
}


def test_a_registry_file_is_read() -> None:
    """An entry is a tag and the places that it speaks of."""
    known = REGISTRY.read({"schema": "replayproxy.registry/1", "entries": [ENTRY]}, ())
    found = known.lookup("www.googleapis.com", "/youtube/v3/videos")
    assert found is not None
    assert found.permission("publish") == "forbidden"
    assert found.extensions == (("x-note", "mine"),)
    assert known.lookup("www.googleapis.com", "/drive/v3") is None


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"match": []}, "entries[0].match", "found a list of 0 where at least 1 belong"),
        ({"match": [{"host": "https://a/"}]}, "entries[0].match[0].host", "where a host or a glob of hosts belongs"),
        ({"match": [{"host": "a", "path": "v3"}]}, "entries[0].match[0].path", "a glob of paths (/v3/**) belongs"),
        ({"permissions": {"ship": False}}, "entries[0].permissions.ship", "[RP003]"),
        ({"license": "AND"}, "entries[0].license", "[RP004]"),
    ],
)
def test_a_registry_file_with_a_fault_is_refused(change: dict[str, object], path: str, problem: str) -> None:
    """The path leads to the entry."""
    with pytest.raises(ShapeError) as refused:
        REGISTRY.read({"entries": [ENTRY | change]}, ())
    assert refused.value.what.startswith(f"{path}: ")
    assert problem in refused.value.what
