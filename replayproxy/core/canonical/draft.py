"""The canonical request in the making: the parts of the key, what was left out, and the user's rules."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from json.encoder import encode_basestring

from replayproxy.core.canonical.jsonpath import JsonPath, Path
from replayproxy.core.canonical.jwt import steady_jwt
from replayproxy.core.canonical.rules import BOUND, IGNORED, RULE_IDS
from replayproxy.core.credentials import shapes
from replayproxy.core.provider import MatchRules, Selector

BUILT_IN = MatchRules()
"""The built-in rules alone."""

CREDENTIAL = "<credential>"
LEFT_OUT = "<left-out>"
SHOWN = 1024
"""Longer values take part by their SHA-256, so that the parts of a large request stay small."""
_SHORTEST_SHAPE = 8
_quoted: Callable[[str], str] = encode_basestring


class Plan:
    """The user's rules, made ready: which places are left out, which built-in rules are taken back."""

    __slots__ = ("_json_kept", "_kept", "_left", "_on", "json_left", "paths")

    def __init__(self, rules: MatchRules) -> None:
        self._on = frozenset(text for text in rules.on if text in RULE_IDS)
        kept = [Selector.parse(text) for text in rules.on if text not in RULE_IDS]
        self._kept = frozenset(_place(selector) for selector in kept)
        self._json_kept = tuple(JsonPath.parse(one.name) for one in kept if one.kind == "json")
        left = [(one, IGNORED) for one in rules.ignore] + [(one, BOUND) for one in rules.bind]
        self._left = {_place(one): rule for one, rule in left if one.kind not in ("json", "path")}
        self.json_left = tuple((JsonPath.parse(one.name), rule) for one, rule in left if one.kind == "json")
        self.paths = tuple((re.compile(one.name), rule) for one, rule in left if one.kind == "path")

    def left_out(self, place: str) -> str:
        """`match.ignore` or `match.bind` where the user leaves PLACE (`query:NAME` …) out, else ""."""
        return self._left.get(place, "") if self._left else ""

    def json_left_out(self, path: Path) -> str:
        """The same for a place in a JSON document."""
        return next((rule for pattern, rule in self.json_left if pattern.matches(path)), "")

    def keeps(self, rule: str, place: str, path: Path | None = None) -> bool:
        """Whether the built-in RULE was taken back, or at PLACE (PATH in a JSON document)."""
        if rule in self._on or place in self._kept:
            return True
        return path is not None and any(pattern.matches(path) for pattern in self._json_kept)


def _place(selector: Selector) -> str:
    return f"{selector.kind}:{selector.name}"


@lru_cache(maxsize=256)
def plan_of(rules: MatchRules) -> Plan:
    """The plan of RULES; raises ValueError for an `on` that is neither a rule's id nor a selector."""
    return Plan(rules)


class Draft:
    """Collects what a canonical request consists of; used once and thrown away."""

    __slots__ = ("dropped", "parts", "plan", "secrets")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.parts: list[tuple[str, str]] = []
        self.dropped: list[tuple[str, str]] = []
        self.secrets: list[tuple[str, str]] = []

    def part(self, name: str, value: str) -> None:
        """NAME with VALUE takes part; a long value by its beginning and digest."""
        self.parts.append((name, value if len(value) <= SHOWN else shortened(value)))

    def drop(self, rule: str, place: str) -> None:
        """RULE left PLACE out."""
        self.dropped.append((rule, place))

    def hide(self, place: str, value: str) -> None:
        """VALUE at PLACE was left out as a credential; it only chooses among recordings of one key."""
        self.dropped.append(("credential", place))
        self.secrets.append((place, steady_jwt(value) or value))

    def concealed(self, place: str, value: str, path: Path | None = None) -> str:
        """A constant for a credential, or its SHA-256 where the rule is taken back; never itself."""
        if self.plan.keeps("credential", place, path):
            return fingerprint(value)
        self.hide(place, value)
        return CREDENTIAL

    def without_shapes(self, text: str, place: str, path: Path | None = None) -> str:
        """TEXT with what looks like a known kind of key concealed."""
        if len(text) < _SHORTEST_SHAPE:
            return text
        spans = merged((shape.start, shape.end) for shape in shapes(text))
        return replaced(text, [(start, end, self.concealed(place, text[start:end], path)) for start, end in spans])

    def key(self) -> bytes:
        """The SHA-256 of the parts: two requests have one key if and only if they have the same parts."""
        return sha256_of(self.parts)


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """SPANS in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """TEXT with each of SPANS (in order, without overlap) replaced by what it holds."""
    pieces: list[str] = []
    at = 0
    for start, end, new in spans:
        pieces += (text[at:start], new)
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


def fingerprint(value: str) -> str:
    """What tells credentials apart without telling them."""
    return f"<credential sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()}>"


def sha256_of(value: object) -> bytes:
    """The SHA-256 of VALUE (lists, strings, booleans) as ASCII JSON, which spells lone surrogates too."""
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode("ascii")).digest()


def shortened(value: str) -> str:
    """A long VALUE by its beginning, length and SHA-256."""
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{value[:80]}… ({len(value)} characters, sha256:{digest})"


def quoted(text: str) -> str:
    """TEXT as a JSON string, so that it cannot be taken for a number or a constant of ours."""
    return _quoted(text)
