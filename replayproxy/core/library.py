"""All that can be answered: the recordings of every cassette, arranged for look-up by key.

A library never changes, so that all episodes share one. Cassettes stand in the order given, the interactions of each
in the order of their requests.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from replayproxy.core.arrangement import Judge, Mask, ReadBlob, arrange, digest_of
from replayproxy.core.canonical import Canonical, Difference, canonical, differences, distance
from replayproxy.core.digest import digest
from replayproxy.core.exchange import Cassette, Origin, Request
from replayproxy.core.provider import MatchRules, Providers
from replayproxy.core.redaction import Redactor
from replayproxy.core.rights import requirements
from replayproxy.core.sequence import Recording, Scope, Series, Writes

NEAR = 32
"""How many keys are compared, at most, to find the nearest recording."""
REMEMBERED = 4096
"""How many questions are kept, at most: environments ask the same again in every episode."""
LONGEST_REMEMBERED = 16_384
"""The longest body, in octets, of a question that is kept."""

type Place = tuple[Origin, str]


@dataclass(frozen=True, slots=True)
class Question:
    """A request in the form in which it is looked up.

    `key` is that under the first salt, `preferences` those under every salt. `series` is what is recorded, or None.
    """

    request: Request
    rules: MatchRules
    key: bytes
    preferences: frozenset[bytes]
    series: Series | None


@dataclass(frozen=True, slots=True)
class Nearest:
    """The recording nearest to a question, the name of its cassette, and what differs. Only ever reported.

    `left_out` tells which rule left out which place of the question, so that a person sees what was not compared.
    """

    recording: Recording
    cassette: str
    differences: tuple[Difference, ...]
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Series in the order of the targets of their first requests, so that those that begin alike stand together."""

    targets: tuple[str, ...]
    series: tuple[Series, ...]

    @classmethod
    def of(cls, series: Iterable[Series]) -> Self:
        """SERIES in their order; those of one target stay as they come."""
        ordered = sorted(series, key=lambda one: _first(one).interaction.request.target)
        return cls(tuple(_first(one).interaction.request.target for one in ordered), tuple(ordered))

    def around(self, target: str) -> Sequence[Series]:
        """The series, NEAR at most, whose targets begin most like TARGET; found without looking at the others."""
        start = min(bisect_left(self.targets, target) - NEAR // 2, len(self.series) - NEAR)
        return self.series[max(start, 0) :][:NEAR]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The recordings of some cassettes, judged for one purpose; built by `build`.

    `digest` is over the contents of all recordings in their order, without times. `ports` holds the recorded ports of
    each recorded host. `recorded_us` is the earliest moment of recording, 0 where none is known.
    """

    cassettes: tuple[str, ...]
    providers: Providers
    purpose: str
    recordings: tuple[Recording, ...]
    writes: Mapping[Scope, Writes]
    digest: str
    ports: Mapping[str, frozenset[int]]
    recorded_us: int
    _by_key: Mapping[bytes, Series]
    _by_place: Mapping[Place, Neighbours]
    _by_host: Mapping[str, Neighbours]
    _masks: tuple[Mask | None, ...]
    _show: Mask
    _rules: Mapping[str, MatchRules]
    _joined: dict[tuple[bytes, ...], Series] = field(default_factory=dict)
    _asked: dict[Request, Question] = field(default_factory=dict, repr=False)

    @classmethod
    def build(
        cls,
        cassettes: Sequence[Cassette],
        providers: Providers = Providers(),  # noqa: B008 - a frozen value
        *,
        purpose: str,
        today: str | None = None,
        read: ReadBlob | None = None,
    ) -> Self:
        """The library of CASSETTES for PURPOSE; TODAY and READ as for `Judge` and `arrange`.

        Raises UsageError for an unknown purpose, ValueError for match rules that settings would have refused.
        """
        requirements(purpose)
        judge = Judge(purpose=purpose, today=today)
        salts = dict.fromkeys(cassette.salt for cassette in cassettes)
        masks = {salt: mask_of(cassettes, salt, providers) for salt in salts}
        show = next(filter(None, masks.values()), None) or _masking(_own_salt(cassettes), providers, ())
        found = arrange(cassettes, providers, judge, read, show)
        by_place, by_host = _indexes(found.series.values())
        ports = _ports(found.recordings)
        return cls(
            cassettes=tuple(cassette.name for cassette in cassettes),
            providers=providers,
            purpose=purpose,
            recordings=found.recordings,
            writes=found.writes,
            digest=digest_of(found.recordings),
            ports=ports,
            recorded_us=_earliest(cassettes),
            _by_key=found.series,
            _by_place=by_place,
            _by_host=by_host,
            _masks=tuple(masks.values()),
            _show=show,
            _rules={host: providers.of(host).match for host in ports},
        )

    @property
    def hosts(self) -> frozenset[str]:
        """Every recorded host, normalised."""
        return frozenset(self.ports)

    def rules_of(self, host: str) -> MatchRules:
        """The match rules of HOST (normalised)."""
        return self._rules.get(host) or self.providers.of(host).match

    def question(self, request: Request) -> Question:
        """REQUEST as it is looked up, under each salt that cassettes were masked with.

        It depends on nothing but the request, so that the last ones are remembered.
        """
        known = self._asked.get(request)
        if known is None:
            known = self._questioned(request)
            if len(self._asked) >= REMEMBERED:
                self._asked.clear()
            if isinstance(request.body, bytes) and len(request.body) <= LONGEST_REMEMBERED:
                self._asked[request] = known
        return known

    def _questioned(self, request: Request) -> Question:
        rules = self.rules_of(request.origin.host)
        forms: list[Canonical] = []
        plain: Canonical | None = None
        for mask in self._masks:
            masked = mask(request) if mask else request
            if masked is request or masked == request:
                plain = plain or canonical(request, rules)
                forms.append(plain)
            else:
                forms.append(canonical(masked, rules))
        first = forms[0] if forms else canonical(request, rules)
        keys = tuple(dict.fromkeys(form.key for form in forms))
        return Question(request, rules, first.key, frozenset(form.preference for form in forms), self._series(keys))

    def _series(self, keys: tuple[bytes, ...]) -> Series | None:
        """What is recorded under KEYS: one series, or several joined in their order."""
        if len(keys) == 1:
            return self._by_key.get(keys[0])
        found = [self._by_key[key] for key in keys if key in self._by_key]
        if len(found) < 2:
            return found[0] if found else None
        if keys not in self._joined:
            self._joined[keys] = joined(found)
        return self._joined[keys]

    def shown(self, request: Request) -> Request:
        """REQUEST without any secret, fit for a person's eyes; nothing of it lasts."""
        return self._show(request)

    def nearest(self, shown: Request) -> Nearest | None:
        """The recording nearest to SHOWN, a masked request, among a bounded number; None where its host has none.

        Those of the same place come first, then those of the same host whose path begins alike.
        """
        host = shown.origin.host
        rules = self.rules_of(host)
        near = self._by_place.get((shown.origin, shown.path)) or self._by_host.get(host)
        if near is None:
            return None
        asked = canonical(shown, rules)
        forms = [(canonical(_first(one).interaction.request, rules), _first(one)) for one in near.around(shown.target)]
        form, recording = min(forms, key=lambda pair: (distance(pair[0], asked), pair[1].position))
        if recording.masked_url is not None:  # what differs is told, so that it has to be masked first
            form = canonical(self._show(recording.interaction.request), rules)
        return Nearest(recording, self.cassettes[recording.cassette], differences(form, asked), asked.dropped)


def _first(series: Series) -> Recording:
    return series.recordings[0]


def joined(series: Sequence[Series]) -> Series:
    """One series of all the recordings of SERIES, in their order."""
    recordings = sorted((one for each in series for one in each.recordings), key=lambda one: one.position)
    covering = dict.fromkeys(writes for each in series for writes in each.covering)
    return Series(tuple(recordings), tuple(covering), series[0].rule)


def mask_of(cassettes: Sequence[Cassette], salt: str, providers: Providers) -> Mask | None:
    """How requests are masked as SALT's cassettes were; None for cassettes that were not masked by us."""
    if not salt:
        return None
    known = dict.fromkeys(
        redaction.placeholder
        for cassette in cassettes
        if cassette.salt == salt
        for interaction in cassette.interactions
        for redaction in interaction.redactions
    )
    return _masking(salt, providers, tuple(known))


def _masking(salt: str, providers: Providers, placeholders: tuple[str, ...]) -> Mask:
    return Redactor(salt, lambda host: providers.of(host).redact, placeholders).redact_request


def _own_salt(cassettes: Sequence[Cassette]) -> str:
    """The salt that masks what is shown, where no cassette has one; whoever knows it knows the recordings."""
    return digest([[one.request.url for one in cassette.interactions] for cassette in cassettes])


def _indexes(all_series: Iterable[Series]) -> tuple[dict[Place, Neighbours], dict[str, Neighbours]]:
    by_place: dict[Place, list[Series]] = {}
    by_host: dict[str, list[Series]] = {}
    for series in all_series:
        request = _first(series).interaction.request
        by_place.setdefault((request.origin, request.path), []).append(series)
        by_host.setdefault(request.origin.host, []).append(series)
    return (
        {place: Neighbours.of(series) for place, series in by_place.items()},
        {host: Neighbours.of(series) for host, series in by_host.items()},
    )


def _ports(recordings: Iterable[Recording]) -> dict[str, frozenset[int]]:
    ports: dict[str, set[int]] = {}
    for recording in recordings:
        origin = recording.interaction.request.origin
        ports.setdefault(origin.host, set()).add(origin.port)
    return {host: frozenset(found) for host, found in ports.items()}


def _earliest(cassettes: Sequence[Cassette]) -> int:
    moments = [cassette.recorded_us for cassette in cassettes]
    moments += [one.started_us for cassette in cassettes for one in cassette.interactions]
    return min((moment for moment in moments if moment > 0), default=0)
