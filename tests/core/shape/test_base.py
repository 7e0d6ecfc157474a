"""Tests for replayproxy.core.shape.base: paths, words for what was found, hints."""

from __future__ import annotations

import pytest

from replayproxy.core.shape import ShapeError, found, nearest, spell


@pytest.mark.parametrize(
    ("path", "start", "text"),
    [
        ((), "", ""),
        ((), "a.yaml", "a.yaml"),
        (("providers", "api", "redact", 2, "at"), "", "providers.api.redact[2].at"),
        ((0, "at"), "", "[0].at"),
        (("ship",), "rights", "rights.ship"),
    ],
)
def test_a_path_is_spelt_as_people_write_it(path: tuple[str | int, ...], start: str, text: str) -> None:
    """Keys are joined by dots, positions stand in brackets."""
    assert spell(path, start) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "the boolean true"),
        (1.5, "the number 1.5"),
        ("x" * 99, repr("x" * 60)),
        (b"x", "binary data"),
        ([], "a list"),
        ((), "a list"),
        ({}, "a mapping"),
    ],
)
def test_what_was_found_is_said_in_words(value: object, text: str) -> None:
    """Short enough for one line."""
    assert found(value) == text


def test_the_nearest_word_is_suggested_or_all_are_listed() -> None:
    """A typo gets its word, anything else the choice."""
    assert nearest("MTACH", ["match", "hosts"]) == "did you mean match?"
    assert nearest("zzz", ["match", "hosts"]) == "allowed: match, hosts"


def test_an_error_is_told_with_its_path() -> None:
    """At the top there is no path to tell."""
    assert ShapeError(("a", 1), "wrong").what == "a[1]: wrong"
    assert ShapeError((), "wrong").what == "wrong"
