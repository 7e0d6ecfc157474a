"""What figures are held to, and when a ratio counts as lost."""

from __future__ import annotations

from typing import Any

import pytest

from bench.bars import BARS, KEPT, SCHEMA, baseline, losses, verdicts
from bench.figures import Spread

NAME = "ratio native:mitmdump plain/GET/300/c32/n1000"
NGINX = "ratio native:nginx plain/GET/300/c32/n1000"


def measured(**values: float) -> dict[str, Spread]:
    """Figures without a range."""
    names = {"mitmdump": NAME, "nginx": NGINX}
    return {names[name]: Spread(value, value, value) for name, value in values.items()}


def committed(**ratios: float) -> dict[str, Any]:
    """A baseline."""
    return baseline(measured(**ratios))


@pytest.mark.parametrize(
    ("now", "skipped", "said"),
    [
        (measured(mitmdump=100, nginx=1), {}, []),
        (measured(mitmdump=67, nginx=0.67), {}, []),
        (measured(mitmdump=66, nginx=1), {}, [f"{NAME}: 66 is less than two thirds of 100"]),
        (measured(mitmdump=100), {"nginx": "no nginx here"}, []),
        (measured(mitmdump=100), {}, [f"{NGINX}: committed as 1, and not measured"]),
        (measured(nginx=1), {"mitmdump": "not here"}, [f"{NAME}: committed as 100, and not measured"]),
    ],
    ids=["as before", "just kept", "lost", "without nginx", "a row is gone", "a peer that must be there"],
)
def test_losses(now: dict[str, Spread], skipped: dict[str, str], said: list[str]) -> None:
    """Each loss is told with both figures; only what a machine may lack is passed over."""
    assert losses(now, committed(mitmdump=100, nginx=1), skipped) == said


def test_a_baseline_of_another_schema_is_no_baseline() -> None:
    """Nothing is compared with figures that mean something else."""
    assert losses({}, {"schema": "other/2", "ratios": {}}, {}) == [f"the baseline is not of schema {SCHEMA}"]


def test_a_baseline_keeps_ratios_that_a_bar_names() -> None:
    """Figures of one machine, as seconds, are not committed."""
    assert baseline({**measured(mitmdump=2), "ready native x": Spread(1, 1, 1)})["ratios"] == {NAME: 2}
    assert len(set(KEPT)) == len(KEPT) > 0


@pytest.mark.parametrize(
    ("metric", "value", "met"),
    [
        (NAME, 40, True),
        (NAME, 39.9, False),
        ("scale ready-ratio", 3, False),
        ("scale ready-ratio", 2.9, True),
        ("resident native http-get-300-1000-1", 60, True),
        ("episodes different", 1, False),
    ],
)
def test_a_bar_is_met_at_its_bound(metric: str, value: float, met: bool) -> None:
    """At the bound itself where that is included, and not beyond it."""
    [verdict] = [one for one in verdicts({metric: Spread(value, value, value)}) if one["metric"] == metric]
    assert verdict["met"] is met


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    """A short run does not claim what it did not see."""
    assert [verdict["met"] for verdict in verdicts({})] == [None] * len(BARS)
