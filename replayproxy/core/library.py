"""All that can be answered: the recordings of every cassette, arranged for look-up by key.

A library never changes, so that all episodes share one. Cassettes stand in the order given, the interactions of each
in the order of their requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from replayproxy.core.arrangement import Arrangement, Facts, Judge, Mask, ReadBlob, arrange, digest_of
from replayproxy.core.canonical import Canonical, Difference, canonical, differences, distance
from replayproxy.core.digest import digest
from replayproxy.core.exchange import Cassette, Origin, Request
from replayproxy.core.provider import MatchRules, Providers
from replayproxy.core.redaction import Redactor
from replayproxy.core.rights import requirements
from replayproxy.core.sequence import Recording, Scope, Series, Writes

REMEMBERED = 512
"""How many questions are kept, at most: environments ask the same again in every episode."""
LONGEST_REMEMBERED = 16_384
"""The longest body, in octets, of a question that is kept."""


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
    replies: dict[object, object] = field(default_factory=dict, compare=False, repr=False)
    """What was worked out for it, by what was decided: a memo, so that it lasts as long as the question."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The recording nearest to a question, the name of its cassette, and what differs. Only ever reported.

    `left_out` tells which rule left out which place of the question, so that a person sees what was not compared.
    """

    recording: Recording
    cassette: str
    differences: tuple[Difference, ...]
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """The recordings of some cassettes, judged for one purpose; built by `build`, or by `of` from an index.

    `digest` is over the contents of all recordings in their order, without times. `ports` holds the recorded ports of
    each recorded host, `over_http2` those hosts and ports that were spoken to by HTTP/2. `recorded_us` is the earliest
    moment of recording, 0 where none is known. `heads` holds, by the mark of a series, the positions of all recordings
    that a head which asks for it may turn out to ask for, where some of them answered a head alone.
    """

    facts: Facts
    arrangement: Arrangement
    providers: Providers
    purpose: str
    cassettes: tuple[str, ...]
    recordings: Sequence[Recording]
    writes: Mapping[Scope, Writes]
    digest: str
    ports: Mapping[str, frozenset[int]]
    recorded_us: int
    over_http2: frozenset[tuple[str, int]]
    heads: Mapping[bytes, tuple[int, ...]]
    _by_key: Mapping[bytes, Series]
    _masks: tuple[Mask | None, ...]
    _show: Mask
    _rules: Mapping[str, MatchRules]
    _joined: dict[tuple[bytes, ...], Series] = field(default_factory=dict, repr=False)
    _asked: dict[Request, Question] = field(default_factory=dict, repr=False)
    _forms: dict[int, Canonical] = field(default_factory=dict, repr=False)

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
        salts = {salt: placeholders(cassettes, salt) for salt in dict.fromkeys(one.salt for one in cassettes)}
        show = "" if any(salts) else _own_salt(cassettes)
        found = arrange(cassettes, providers, judge, read, _show(_masks(salts, providers), show, providers))
        facts = Facts(
            cassettes=tuple(cassette.name for cassette in cassettes),
            salts=salts,
            show=show,
            digest=digest_of(found.recordings),
            ports=_ports(found.recordings),
            recorded_us=_earliest(cassettes),
            over_http2=_over_http2(found.recordings),
        )
        library = cls.of(facts, found, providers, purpose)
        heads = _heads(library)
        return cls.of(replace(facts, heads=heads), found, providers, purpose) if heads else library

    @classmethod
    def of(cls, facts: Facts, arrangement: Arrangement, providers: Providers, purpose: str) -> Self:
        """The library of what FACTS and ARRANGEMENT say, which was judged for PURPOSE and made under PROVIDERS."""
        masks = _masks(facts.salts, providers)
        return cls(
            facts=facts,
            arrangement=arrangement,
            providers=providers,
            purpose=purpose,
            cassettes=facts.cassettes,
            recordings=arrangement.recordings,
            writes=arrangement.writes,
            digest=facts.digest,
            ports=facts.ports,
            recorded_us=facts.recorded_us,
            over_http2=facts.over_http2,
            heads=facts.heads,
            _by_key=arrangement.series,
            _masks=masks,
            _show=_show(masks, facts.show, providers),
            _rules={host: providers.of(host).match for host in facts.ports},
        )

    def titles(self) -> Iterator[tuple[int, str]]:
        """Position and title of every recording in their order; none is held, however many there are."""
        return self.arrangement.titles()

    def ids(self) -> Iterator[str]:
        """The id of every recording in their order, likewise."""
        return self.arrangement.names()

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
            if len(self._joined) >= REMEMBERED:
                self._joined.clear()
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
        near = self.arrangement.near
        those = near.place(shown.origin, shown.path, shown.target) or near.host(host, shown.target)
        if not those:
            return None
        asked = canonical(shown, rules)
        forms = [(self._form(one, rules), one) for one in those]
        form, recording = min(forms, key=lambda pair: (distance(pair[0], asked), pair[1].position))
        if recording.unmasked:  # what differs is told, so that it has to be masked first
            form = canonical(self._show(recording.interaction.request), rules)
        return Nearest(recording, self.cassettes[recording.cassette], differences(form, asked), asked.dropped)

    def _form(self, recording: Recording, rules: MatchRules) -> Canonical:
        """The canonical form of RECORDING, which a client that misses again and again is compared with each time."""
        known = self._forms.get(recording.position)
        if known is None:
            if len(self._forms) >= REMEMBERED:
                self._forms.clear()
            known = self._forms[recording.position] = canonical(recording.interaction.request, rules)
        return known


def joined(series: Sequence[Series]) -> Series:
    """One series of all the recordings of SERIES, in their order."""
    recordings = sorted((one for each in series for one in each.recordings), key=lambda one: one.position)
    covering = dict.fromkeys(writes for each in series for writes in each.covering)
    return Series.of(recordings, tuple(covering), series[0].rule)


def placeholders(cassettes: Sequence[Cassette], salt: str) -> tuple[str, ...]:
    """What stands for secrets in the CASSETTES of SALT; nothing in those that were not masked by us."""
    known = dict.fromkeys(
        redaction.placeholder
        for cassette in cassettes
        if salt and cassette.salt == salt
        for interaction in cassette.interactions
        for redaction in interaction.redactions
    )
    return tuple(known)


def _masks(salts: Mapping[str, tuple[str, ...]], providers: Providers) -> tuple[Mask | None, ...]:
    """How requests are masked as the cassettes of each salt were; None for those that were not masked by us."""
    return tuple(_masking(salt, providers, known) if salt else None for salt, known in salts.items())


def _show(masks: Iterable[Mask | None], salt: str, providers: Providers) -> Mask:
    return next(filter(None, masks), None) or _masking(salt, providers, ())


def _masking(salt: str, providers: Providers, placeholders: tuple[str, ...]) -> Mask:
    return Redactor(salt, lambda host: providers.of(host).redact, placeholders).redact_request


def _own_salt(cassettes: Sequence[Cassette]) -> str:
    """The salt that masks what is shown, where no cassette has one; whoever knows it knows the recordings."""
    return digest([[one.request.url for one in cassette.interactions] for cassette in cassettes])


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


def _over_http2(recordings: Iterable[Recording]) -> frozenset[tuple[str, int]]:
    requests = (recording.interaction.request for recording in recordings)
    return frozenset((one.origin.host, one.origin.port) for one in requests if one.version.startswith("HTTP/2"))


def _heads(library: Library) -> dict[bytes, tuple[int, ...]]:
    """As `Library.heads`: recordings at the place of one that answered a head alone are asked for by their heads."""
    places = {_place(one) for one in library.recordings if one.interaction.response.before_body}
    found: dict[bytes, list[int]] = {}
    for one in library.recordings if places else ():
        if _place(one) in places:
            series = library.question(replace(one.interaction.request, body=b"")).series
            if series is not None:
                found.setdefault(series.mark, []).append(one.position)
    return {mark: tuple(positions) for mark, positions in found.items()}


def _place(recording: Recording) -> tuple[str, Origin, str]:
    request = recording.interaction.request
    return request.method, request.origin, request.path
