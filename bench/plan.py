"""What is measured: the axes, the default selection, and filters. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product

from bench.recordings import Recordings

MODES = ("plain", "tls", "tls-new")
METHODS = ("GET", "POST", "GET-FRESH", "MISS", "MISS-AGAIN")
SIZES = (300, 10_240, 1_048_576)
CONNECTIONS = (1, 32, 512)
COUNTS = (10, 1_000, 100_000)


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One point on the axes.

    `mode`: `plain` (absolute-form, kept alive), `tls` (CONNECT, kept alive) or `tls-new` (CONNECT, a connection for
    each request). `method`: GET, POST with 1 KB of JSON, GET-FRESH (a GET with a field of a value never sent before, as
    request ids and signatures are), MISS (a path never asked for before) or MISS-AGAIN (1,000 paths in turn). `size` of
    the answers in octets; `count` interactions recorded.
    """

    mode: str = "plain"
    method: str = "GET"
    size: int = 300
    connections: int = 32
    count: int = 1000

    @property
    def name(self) -> str:
        """What `--only` matches and JSON shows."""
        return f"{self.mode}/{self.method}/{self.size}/c{self.connections}/n{self.count}"

    @property
    def recordings(self) -> Recordings:
        """What it is asked of."""
        scheme = "http" if self.mode == "plain" else "https"
        return Recordings(scheme, "POST" if self.method == "POST" else "GET", self.size, self.count)

    @property
    def batch(self) -> tuple[int, int]:
        """Cases of one batch are measured in the same rounds, all their servers up."""
        return self.size, self.count


BASE = Case()


def short_cases() -> tuple[Case, ...]:
    """The corners that the ratios in `baseline.json` are of."""
    return (*(replace(BASE, mode=mode) for mode in MODES), *(replace(BASE, method=method) for method in METHODS[1:]))


def default_cases() -> tuple[Case, ...]:
    """The corners, and each axis varied alone, plain and through kept-alive TLS."""
    varied = [replace(BASE, size=size) for size in SIZES[1:]]
    varied += [replace(BASE, connections=number) for number in CONNECTIONS if number != BASE.connections]
    varied += [replace(BASE, count=10)]
    return (*short_cases(), *(replace(case, mode=mode) for case in varied for mode in MODES[:2]))


def full_cases() -> tuple[Case, ...]:
    """Every point of the axes."""
    points = product(MODES, METHODS, SIZES, CONNECTIONS, COUNTS)
    return tuple(Case(*point) for point in points)


def chosen[T](named: Iterable[tuple[str, T]], patterns: Sequence[str]) -> list[T]:
    """Those whose name a pattern matches as a shell would, or has within it; all of them without patterns."""
    return [
        value
        for name, value in named
        if not patterns or any(fnmatchcase(name, pattern) or pattern in name for pattern in patterns)
    ]


def batches(cases: Iterable[Case]) -> list[list[Case]]:
    """CASES by batch, in their order."""
    found: dict[tuple[int, int], list[Case]] = {}
    for case in cases:
        found.setdefault(case.batch, []).append(case)
    return list(found.values())
