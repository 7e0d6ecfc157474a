"""What sets two canonical requests apart, part by part, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core.canonical.key import Canonical

_WEIGHTS = {"scheme": 40, "host": 200, "port": 40, "method": 60, "path": 80}
_FIELD = 4
_MOST_FIELDS = 120
"""Fields together weigh less than another host, so that the nearest recording is one of the same API."""
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that differs: its name, its value in the recording and in the request; None for no value."""

    part: str
    recorded: str | None
    asked: str | None


def differences(recorded: Canonical, asked: Canonical) -> tuple[Difference, ...]:
    """The parts in which RECORDED and ASKED differ, in the recording's order, then those only asked for.

    Safe to show: credentials take part as constants, and long values are cut.
    """
    left, right = _by_name(recorded), _by_name(asked)
    names = [*left, *(name for name in right if name not in left)]
    return tuple(
        Difference(name, _shown(left.get(name)), _shown(right.get(name)))
        for name in names
        if left.get(name) != right.get(name)
    )


def distance(recorded: Canonical, asked: Canonical) -> int:
    """How far apart two requests are, 0 for one key; host and path weigh more than query and body."""
    if recorded.key == asked.key:
        return 0
    left, right = set(recorded.parts), set(asked.parts)
    total, fields = 0, set()
    for name, value in left ^ right:
        if name not in _WEIGHTS:
            fields.add(name)
        elif name == "path":
            total += _path_distance(value, dict(asked.parts)["path"]) if (name, value) in left else 0
        elif (name, value) in left:
            total += _WEIGHTS[name]
    return total + min(_FIELD * len(fields), _MOST_FIELDS) + 1


def _path_distance(recorded: str, asked: str) -> int:
    left, right = recorded.split("/"), asked.split("/")
    same = sum(one == other for one, other in zip(left, right, strict=False))
    return _WEIGHTS["path"] - (_WEIGHTS["path"] - 10) * (same - 1) // max(len(left), len(right))


def _by_name(canonical: Canonical) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in canonical.parts:
        found.setdefault(name, []).append(value)
    return found


def _shown(values: list[str] | None) -> str | None:
    if values is None:
        return None
    text = ", ".join(values).encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
