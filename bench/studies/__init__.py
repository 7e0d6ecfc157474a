"""What is measured apart from the rounds, each by a function that gives a study as JSON holds it.

A study has `name`, `what` (one sentence), `lines` (text for people) and `metrics` (name to figure).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.rounds import Bench
from bench.studies.episodes import episodes
from bench.studies.fairness import fairness
from bench.studies.idle import idle
from bench.studies.recording import recording
from bench.studies.scale import scale

STUDIES: Mapping[str, Callable[[Bench], dict[str, Any]]] = {
    "scale": scale,
    "episodes": episodes,
    "idle": idle,
    "fairness": fairness,
    "recording": recording,
}
