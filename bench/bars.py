"""What the figures must reach, and whether they do; and the ratios that may not be lost again. Pure."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.figures import Spread, rounded
from bench.plan import BASE

SCHEMA = "replayproxy-bench-baseline/1"
LOST = 2 / 3
"""A ratio below this part of the committed one is a loss."""
OPTIONAL = frozenset({"nginx"})
"""Servers that a machine may be without; the others come with the development environment."""
OPERATORS = {">=": operator.ge, "<=": operator.le, "<": operator.lt}
TAIL = "/GET/300/c32/n1000"


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure by its name, and what it is held to."""

    what: str
    metric: str
    wanted: str
    bound: float


def _ratios(server: str, name: str, bounds: tuple[float, float, float]) -> tuple[Bar, ...]:
    modes = zip(("plain", "tls", "tls-new"), bounds, strict=True)
    return tuple(
        Bar(f"{server}, {mode}: times {name}", f"ratio {server}:{name} {mode}{TAIL}", ">=", bound)
        for mode, bound in modes
    )


BARS = (
    *_ratios("native", "mitmdump", (40, 30, 6)),
    *_ratios("native", "nginx", (0.5, 0.5, 0.5)),
    *_ratios("mitmproxy-engine", "mitmdump", (15, 10, 2)),
    Bar("native: JSON POST to GET", f"ratio native plain/POST/300/c32/n1000:{BASE.name}", ">=", 0.4),
    Bar(
        "native: a miss never asked for before to a hit never asked for before",
        "ratio native plain/MISS/300/c32/n1000:plain/GET-FRESH/300/c32/n1000",
        ">=",
        0.2,
    ),
    Bar(
        "native: a miss asked for again to a hit", f"ratio native plain/MISS-AGAIN/300/c32/n1000:{BASE.name}", ">=", 0.2
    ),
    Bar("native: time to be ready, to mitmdump's", "ready-ratio native:mitmdump http-get-300-1000-1", "<=", 0.4),
    Bar("native: MB resident once ready", "resident native http-get-300-1000-1", "<=", 60),
    Bar("100,000 interactions: time to be ready, to 1,000's", "scale ready-ratio", "<", 3),
    Bar("100,000 interactions: requests per core-second, to 1,000's", "scale throughput-ratio", ">=", 0.8),
    Bar("100,000 interactions: MB resident after each was asked for", "scale resident", "<=", 150),
    Bar("1,000 episodes interleaved: digests that are not as when alone", "episodes different", "<=", 0),
    Bar("1,000 episodes interleaved: MB resident", "episodes resident", "<=", 100),
    Bar("an idle episode: octets", "episodes idle-octets", "<", 10_000),
    Bar("10,000 idle connections, plain: MB resident", "idle plain", "<=", 500),
    Bar("10,000 idle connections, TLS: MB resident", "idle tls", "<=", 500),
    Bar("recording, plain: times mitmdump saving flows", "recording plain", ">=", 0.8),
    Bar("recording, kept-alive TLS: times mitmdump saving flows", "recording tls", ">=", 0.8),
)


def verdicts(metrics: Mapping[str, Spread]) -> list[dict[str, Any]]:
    """Each bar with what was measured, and whether it was met (None: not measured in this run)."""
    found = []
    for bar in BARS:
        spread = metrics.get(bar.metric)
        found.append({
            "what": bar.what,
            "metric": bar.metric,
            "wanted": f"{bar.wanted} {bar.bound:g}",
            "measured": spread.to_json() if spread else None,
            "met": OPERATORS[bar.wanted](spread.median, bar.bound) if spread else None,
        })  # fmt: skip
    return found


KEPT = tuple(bar.metric for bar in BARS if bar.metric.startswith("ratio "))
"""The figures of which a baseline is made: ratios within a round, which do not depend on the machine."""


def baseline(metrics: Mapping[str, Spread]) -> dict[str, Any]:
    """What is committed of METRICS."""
    return {"schema": SCHEMA, "ratios": {name: rounded(metrics[name].median) for name in KEPT if name in metrics}}


def losses(metrics: Mapping[str, Spread], committed: Mapping[str, Any], skipped: Mapping[str, str]) -> list[str]:
    """What was lost against the COMMITTED baseline, each as a message; a row that is gone is lost too.

    SKIPPED holds the servers that cannot be measured here, with the reason; ratios to those that need not be everywhere
    are then passed over.
    """
    if committed.get("schema") != SCHEMA:
        return [f"the baseline is not of schema {SCHEMA}"]
    found = []
    for name, ratio in committed["ratios"].items():
        if any(server in name.split(" ")[1].split(":") for server in OPTIONAL & set(skipped)):
            continue
        spread = metrics.get(name)
        if spread is None:
            found.append(f"{name}: committed as {ratio:g}, and not measured")
        elif spread.median < LOST * ratio:
            found.append(f"{name}: {rounded(spread.median):g} is less than two thirds of {ratio:g}")
    return found
