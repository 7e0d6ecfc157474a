"""Which cases are measured, by which names they are asked for, and what is measured together."""

from __future__ import annotations

import pytest

from bench.plan import BASE, Case, batches, chosen, default_cases, full_cases, short_cases

SELECTIONS = {"short": short_cases(), "default": default_cases(), "full": full_cases()}


@pytest.mark.parametrize("cases", SELECTIONS.values(), ids=SELECTIONS)
def test_a_selection_names_every_case_once(cases: tuple[Case, ...]) -> None:
    """Figures are kept by name."""
    assert len({case.name for case in cases}) == len(cases)


def test_each_selection_holds_the_smaller_one() -> None:
    """A longer run answers everything that a shorter one does."""
    assert set(short_cases()) < set(default_cases()) < set(full_cases())


def test_the_full_selection_has_every_point() -> None:
    """The product of the axes."""
    assert len(full_cases()) == 3 * 5 * 3 * 3 * 3


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ((), {"plain/GET/300/c32/n1000", "tls/GET/300/c32/n1000", "plain/MISS/300/c32/n1000"}),
        (("MISS",), {"plain/MISS/300/c32/n1000"}),
        (("*/GET/*",), {"plain/GET/300/c32/n1000", "tls/GET/300/c32/n1000"}),
        (("tls", "MISS"), {"tls/GET/300/c32/n1000", "plain/MISS/300/c32/n1000"}),
        (("c512",), set()),
    ],
)
def test_patterns_choose_by_name(patterns: tuple[str, ...], found: set[str]) -> None:
    """By a shell's pattern, or by a part of the name."""
    cases = (BASE, Case(mode="tls"), Case(method="MISS"))
    assert {case.name for case in chosen(((case.name, case) for case in cases), patterns)} == found


def test_what_shares_recordings_is_measured_together() -> None:
    """Batches stand in the order of their first case."""
    small, large = Case(count=10), Case(size=10_240)
    assert batches([BASE, small, Case(mode="tls"), large]) == [[BASE, Case(mode="tls")], [small], [large]]


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (BASE, "http-get-300-1000-1"),
        (Case(mode="tls-new", method="POST"), "https-post-300-1000-1"),
        (Case(method="MISS", count=10), "http-get-300-10-1"),
    ],
)
def test_a_case_is_asked_of_recordings(case: Case, name: str) -> None:
    """Misses are asked of what GETs are."""
    assert case.recordings.name == name
