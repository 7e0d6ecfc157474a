"""Figures are medians over rounds, and ratios are formed within a round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bench.client import Seen
from bench.figures import Spread, method_pairs, metrics, rounded, rows
from bench.plan import BASE, Case
from bench.rounds import Leg, Start

MISS = Case(method="MISS")


def leg(
    number: int, server: str, requests: int, case: Case = BASE, *, server_cpu: float = 1, client: float = 0.5
) -> Leg:
    """A leg of one second in which SERVER answered REQUESTS."""
    seen = Seen(
        requests=requests, seconds=1, server_cpu=server_cpu, client_cpu=client, sent=requests, handshakes=0, resumed=0,
        p50_us=10, p99_us=20, max_us=30,
    )  # fmt: skip
    return Leg(case, server, number, seen)


def start(server: str, *seconds: float, resident: int = 50_000_000) -> Start:
    """Starts of SERVER with the base case's recordings."""
    return Start(
        server=server, recordings=BASE.recordings.name, first_seconds=9, seconds=seconds, cpu_seconds=seconds,
        resident=resident,
    )  # fmt: skip


def test_a_ratio_is_formed_within_a_round() -> None:
    """A round in which the machine was slow for both leaves the ratio as it is."""
    legs = [leg(0, "native", 300), leg(0, "nginx", 100), leg(1, "native", 30), leg(1, "nginx", 10), leg(2, "native", 1)]
    assert metrics(legs, [])[f"ratio native:nginx {BASE.name}"] == Spread(3, 3, 3)


def test_a_ratio_between_cases_is_of_one_server() -> None:
    """Servers that were asked for only one of them have no such ratio."""
    legs = [leg(0, "native", 100), leg(0, "native", 25, MISS), leg(0, "nginx", 50, MISS)]
    found = metrics(legs, [])
    assert found[f"ratio native {MISS.name}:{BASE.name}"].median == 0.25
    assert f"ratio nginx {MISS.name}:{BASE.name}" not in found


def test_servers_without_a_common_round_have_no_ratio() -> None:
    """Figures of different rounds are never divided."""
    found = metrics([leg(0, "native", 1), leg(1, "nginx", 1)], [])
    assert not [name for name in found if name.startswith("ratio")]


def test_starts_are_compared_one_by_one() -> None:
    """Each start is divided by the peer's of the same turn."""
    found = metrics([], [start("native", 1, 2), start("mitmdump", 4, 4)])
    assert found["ready-ratio native:mitmdump http-get-300-1000-1"] == Spread(0.375, 0.25, 0.5)
    assert found["resident native http-get-300-1000-1"].median == 50


@pytest.mark.parametrize(
    ("server_cpu", "client", "bound"), [(0.95, 0.4, "server"), (0.5, 0.99, "client"), (0.5, 0.5, "neither")]
)
def test_a_row_says_what_bounds_the_wall_time(server_cpu: float, client: float, bound: str) -> None:
    """Whoever has used up a core."""
    [row] = rows([leg(0, "native", 100, server_cpu=server_cpu, client=client)])
    assert row["bound_by"] == bound


def test_methods_are_compared_with_gets_of_their_batch_only() -> None:
    """The same recordings are behind both."""
    pairs = method_pairs([BASE, MISS, Case(method="MISS", count=10), Case(method="GET-FRESH")])
    assert {(one.name, other.name) for one, other in pairs} == {
        ("plain/MISS/300/c32/n1000", "plain/GET/300/c32/n1000"),
        ("plain/MISS/300/c32/n1000", "plain/GET-FRESH/300/c32/n1000"),
        ("plain/GET-FRESH/300/c32/n1000", "plain/GET/300/c32/n1000"),
        ("plain/GET/300/c32/n1000", "plain/GET-FRESH/300/c32/n1000"),
    }


@given(some.lists(some.floats(0.001, 1e9), min_size=1))
def test_a_median_is_within_its_range(values: list[float]) -> None:
    """Of any number of rounds."""
    spread = Spread.of(values)
    assert spread.least <= spread.median <= spread.most


@pytest.mark.parametrize(("value", "kept"), [(123456, 123500), (0.00123456, 0.001235), (0, 0)])
def test_four_digits_count(value: float, kept: float) -> None:
    """Large and small figures alike."""
    assert rounded(value) == kept
