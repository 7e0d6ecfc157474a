"""Figures of what was measured: medians of rounds, and ratios formed within a round. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.plan import Case
from bench.rounds import Leg, Start

BOUND = 0.9
"""Of one core: who uses more is what limits requests per second of wall time."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some rounds, and the least and the most of them."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """That of VALUES, of which there is at least one."""
        ordered = sorted(values)
        return cls(median(ordered), ordered[0], ordered[-1])

    def to_json(self) -> dict[str, float]:
        """Three figures with four digits that count."""
        return {name: rounded(getattr(self, name)) for name in self.__slots__}


def rounded(value: float) -> float:
    """VALUE with four digits that count."""
    return float(f"{value:.4g}")


def row(case: Case, server: str, legs: Sequence[Leg]) -> dict[str, Any]:
    """The figures of one case and server."""
    seen = [leg.seen for leg in legs]
    server_busy = median(one.server_busy for one in seen)
    client_busy = median(one.client_busy for one in seen)
    return {
        "case": case.name,
        "server": server,
        "per_core_second": Spread.of(one.per_core for one in seen).to_json(),
        "per_second": rounded(median(one.requests / one.seconds for one in seen)),
        "p50_us": median(one.p50_us for one in seen),
        "p99_us": median(one.p99_us for one in seen),
        "server_busy": rounded(server_busy),
        "client_busy": rounded(client_busy),
        "bound_by": "client" if client_busy > BOUND > server_busy else "server" if server_busy > BOUND else "neither",
        "requests": sum(one.requests for one in seen),
    }


def rows(legs: Sequence[Leg]) -> list[dict[str, Any]]:
    """The figures of every case and server that was measured, in their order."""
    pairs = dict.fromkeys((leg.case, leg.server) for leg in sorted(legs, key=lambda leg: leg.round))
    return [row(*pair, [leg for leg in legs if (leg.case, leg.server) == pair]) for pair in pairs]


def ratio(legs: Sequence[Leg], one: Callable[[Leg], bool], other: Callable[[Leg], bool]) -> Spread | None:
    """Requests per core-second of ONE to those of OTHER, round by round; None where no round has both."""
    tops, bottoms = ({leg.round: leg.seen.per_core for leg in legs if wanted(leg)} for wanted in (one, other))
    both = [tops[number] / bottoms[number] for number in tops if bottoms.get(number)]
    return Spread.of(both) if both else None


def is_leg(server: str, case: str) -> Callable[[Leg], bool]:
    """Whether a leg is SERVER's of CASE."""
    return lambda leg: (leg.server, leg.case.name) == (server, case)


def metrics(legs: Sequence[Leg], starts: Sequence[Start]) -> dict[str, Spread]:
    """Every figure that a bar or a baseline may name.

    `ratio SERVER:OTHER CASE`, `ratio SERVER CASE:OTHERCASE` (cases of one batch and one server), `ready SERVER
    RECORDINGS` in seconds, `ready-ratio SERVER:OTHER RECORDINGS`, `resident SERVER RECORDINGS` in MB of 10^6.
    """
    found: dict[str, Spread | None] = {}
    names = list(dict.fromkeys(leg.server for leg in legs))
    cases = list(dict.fromkeys(leg.case for leg in legs))
    for case in cases:
        for one in names:
            for other in names:
                if one != other:
                    key = f"ratio {one}:{other} {case.name}"
                    found[key] = ratio(legs, is_leg(one, case.name), is_leg(other, case.name))
    for case, base in method_pairs(cases):
        for name in names:
            key = f"ratio {name} {case.name}:{base.name}"
            found[key] = ratio(legs, is_leg(name, case.name), is_leg(name, base.name))
    found.update(start_metrics(starts))
    return {name: spread for name, spread in found.items() if spread}


def method_pairs(cases: Sequence[Case]) -> list[tuple[Case, Case]]:
    """Each case beside the GETs of its batch: what one method costs, compared with another."""
    return [
        (case, base)
        for case in cases
        for base in cases
        if base.method.startswith("GET") and case.method != base.method and case.batch == base.batch
    ]


def start_metrics(starts: Sequence[Start]) -> dict[str, Spread | None]:
    """Those that are of starting."""
    found: dict[str, Spread | None] = {}
    for start in starts:
        found[f"ready {start.server} {start.recordings}"] = Spread.of(start.seconds)
        found[f"resident {start.server} {start.recordings}"] = Spread.of([start.resident / 1e6])
        for other in starts:
            if other.recordings == start.recordings and other.server != start.server:
                pairs = zip(start.seconds, other.seconds, strict=True)
                key = f"ready-ratio {start.server}:{other.server} {start.recordings}"
                found[key] = Spread.of(one / two for one, two in pairs)
    return found
