"""From cassettes to recordings in one order: named, judged, keyed, with the writes that cover each read."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from replayproxy.core.canonical import Canonical, canonical, is_conditional
from replayproxy.core.effect import is_write
from replayproxy.core.exchange import Blob, Body, Cassette, Interaction, Origin, Request
from replayproxy.core.provider import Provider, Providers
from replayproxy.core.rights import Finding, Tag, decide, lay
from replayproxy.core.sequence import Recording, Scope, Series, Writes

type ReadBlob = Callable[[Cassette, Blob], bytes]
"""Gives the octets of a body that lies in a file of a cassette."""
type Mask = Callable[[Request], Request]
"""Gives a request without any secret."""


NEAR = 32
"""How many keys are compared, at most, to find the nearest recording."""


class Near(Protocol):
    """Finds recordings like one that is asked for, without looking at many; the first of each key stands for it."""

    def place(self, origin: Origin, path: str, target: str) -> Sequence[Recording]:
        """Those at ORIGIN and PATH, NEAR at most, whose targets begin most like TARGET."""

    def host(self, host: str, target: str) -> Sequence[Recording]:
        """Those of HOST, NEAR at most, whose targets begin most like TARGET."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Recordings in the order of the targets of their requests, so that those that begin alike stand together."""

    targets: tuple[str, ...]
    recordings: tuple[Recording, ...]

    @classmethod
    def of(cls, recordings: Iterable[Recording]) -> Self:
        """RECORDINGS in their order; those of one target stay as they come."""
        ordered = sorted(recordings, key=lambda one: one.interaction.request.target)
        return cls(tuple(one.interaction.request.target for one in ordered), tuple(ordered))

    def around(self, target: str) -> Sequence[Recording]:
        """Those, NEAR at most, whose targets begin most like TARGET; found without looking at the others."""
        start = window_start(bisect_left(self.targets, target), len(self.recordings))
        return self.recordings[start:][:NEAR]


def window_start(at: int, count: int) -> int:
    """Where the NEAR of COUNT neighbours begin that stand around the place AT; half of them before it, if there are."""
    return max(min(at - NEAR // 2, count - NEAR), 0)


@dataclass(frozen=True, slots=True)
class NearInMemory:
    """Neighbours by place and by host."""

    by_place: Mapping[tuple[Origin, str], Neighbours]
    by_host: Mapping[str, Neighbours]

    @classmethod
    def of(cls, firsts: Iterable[Recording]) -> Self:
        """Of FIRSTS, the first recording of each key."""
        by_place: dict[tuple[Origin, str], list[Recording]] = {}
        by_host: dict[str, list[Recording]] = {}
        for one in firsts:
            request = one.interaction.request
            by_place.setdefault((request.origin, request.path), []).append(one)
            by_host.setdefault(request.origin.host, []).append(one)
        return cls(
            {place: Neighbours.of(those) for place, those in by_place.items()},
            {host: Neighbours.of(those) for host, those in by_host.items()},
        )

    def place(self, origin: Origin, path: str, target: str) -> Sequence[Recording]:
        """As `Near.place`."""
        found = self.by_place.get((origin, path))
        return found.around(target) if found else ()

    def host(self, host: str, target: str) -> Sequence[Recording]:
        """As `Near.host`."""
        found = self.by_host.get(host)
        return found.around(target) if found else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The recordings of a library in their order, by key, and the writes by what they name.

    Held in memory as `arrange` makes it, or fetched from an index as it is asked for. `titles` gives position and title
    of every recording in their order, holding few of them at a time; `names` gives their ids likewise.
    """

    recordings: Sequence[Recording]
    series: Mapping[bytes, Series]
    writes: Mapping[Scope, Writes]
    near: Near
    titles: Callable[[], Iterator[tuple[int, str]]]
    names: Callable[[], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a library as a whole, whatever the purpose; `heads` is told in `Library`.

    `salts` are those that the cassettes were masked with, in their order, "" for none, each with the placeholders that
    are known. `show` is the salt that masks what people see where no cassette has one.
    """

    cassettes: tuple[str, ...]
    salts: Mapping[str, tuple[str, ...]]
    show: str
    digest: str
    ports: Mapping[str, frozenset[int]]
    recorded_us: int
    over_http2: frozenset[tuple[str, int]]
    heads: Mapping[bytes, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Whether an interaction may be served for a purpose; TODAY (`YYYY-MM-DD`) is the host's date or None."""

    purpose: str
    today: str | None = None
    _known: dict[tuple[Tag | None, ...], Finding | None] = field(default_factory=dict)

    def forbidden(self, interaction: Interaction, cassette: Cassette, provider: Provider) -> Finding | None:
        """What forbids it, or None: its own tag over the cassette's, which the provider's may only tighten."""
        return self.of(interaction.rights, cassette.rights, provider.rights)

    def of(self, own: Tag | None, base: Tag, provided: Tag | None) -> Finding | None:
        """What forbids what carries the tag OWN, in a cassette of BASE, from a provider of PROVIDED."""
        tags = own, base, provided
        if tags not in self._known:
            self._known[tags] = self._judged(*tags)
        return self._known[tags]

    def _judged(self, own: Tag | None, base: Tag, provided: Tag | None) -> Finding | None:
        tag, widenings = lay(own, base) if own else (base, ())
        if widenings:
            return widenings[0]
        if provided:
            tag, _ = lay(provided, tag)
        return decide(tag, self.purpose, self.today)


def arrange(
    cassettes: Sequence[Cassette],
    providers: Providers,
    judge: Judge,
    read: ReadBlob | None = None,
    show: Mask | None = None,
) -> Arrangement:
    """The interactions of CASSETTES in their order: those of the first before those of the second.

    READ gives request bodies that lie in files; without it such requests are told apart by the files' digests. SHOW
    masks the URLs of cassettes that were not masked by us. Raises ValueError for match rules that settings would have
    refused.
    """
    found = list(_recordings(cassettes, providers, judge, read, show))
    recordings = tuple(recording for recording, _ in found)
    writes = _writes(recordings)
    by_key: dict[bytes, list[Recording]] = {}
    for recording, form in found:
        by_key.setdefault(form.key, []).append(recording)
    series = {key: _series(those, writes, providers) for key, those in by_key.items()}
    return Arrangement(
        recordings=recordings,
        series=series,
        writes=writes,
        near=NearInMemory.of(those[0] for those in by_key.values()),
        titles=lambda: ((one.position, str(one)) for one in recordings),
        names=lambda: (one.id for one in recordings),
    )


def _recordings(
    cassettes: Sequence[Cassette], providers: Providers, judge: Judge, read: ReadBlob | None, show: Mask | None
) -> Iterator[tuple[Recording, Canonical]]:
    ids = unique_ids(cassettes)
    wholes: list[Interaction] = []
    for number, cassette in enumerate(cassettes):
        for interaction in sorted(cassette.interactions, key=lambda one: one.order):
            whole = _with_body(interaction, cassette, read)
            provider = providers.of(whole.request.origin.host)
            form = canonical(whole.request, provider.match)
            unmasked = show is not None and not cassette.salt
            recording = Recording.of(
                whole,
                wholes,
                len(wholes),
                id=next(ids),
                cassette=number,
                url=_masked_url(whole.request, show) if show and unmasked else whole.request.url,
                unmasked=unmasked,
                write=is_write(whole.request, provider.match),
                conditional=is_conditional(whole.request),
                preference=form.preference,
                forbidden=judge.forbidden(whole, cassette, provider),
            )
            wholes.append(whole)
            yield recording, form


def _masked_url(request: Request, show: Mask) -> str:
    return show(replace(request, headers=(), body=b"")).url


def unique_ids(cassettes: Sequence[Cassette]) -> Iterator[str]:
    """An id for each interaction in its order: its own, with the cassette's name where two cassettes share it."""
    shared = Counter(one.id for cassette in cassettes for one in cassette.interactions)
    taken: set[str] = set()
    for cassette in cassettes:
        for interaction in sorted(cassette.interactions, key=lambda one: one.order):
            own = interaction.id
            name = own if shared[own] == 1 else f"{cassette.name}:{own}"
            number = 1
            while name in taken:
                number += 1
                name = f"{cassette.name}:{own}.{number}"
            taken.add(name)
            yield name


def _with_body(interaction: Interaction, cassette: Cassette, read: ReadBlob | None) -> Interaction:
    body = interaction.request.body
    if read is None or not isinstance(body, Blob):
        return interaction
    return replace(interaction, request=replace(interaction.request, body=read(cassette, body)))


def _writes(recordings: Sequence[Recording]) -> dict[Scope, Writes]:
    by_scope: dict[Scope, list[Recording]] = {}
    for recording in recordings:
        if recording.write:
            by_scope.setdefault(recording.scope, []).append(recording)
    return {scope: Writes.of(those, recordings) for scope, those in by_scope.items()}


def _series(recordings: list[Recording], writes: dict[Scope, Writes], providers: Providers) -> Series:
    """The series of RECORDINGS; covered by whatever covers any of them, since rules may join several resources."""
    covering: dict[Scope, Writes] = {}
    if not any(recording.write for recording in recordings):
        for scope in dict.fromkeys(recording.scope for recording in recordings):
            covering |= {around: writes[around] for around in scope.around() if around in writes}
    host = recordings[0].interaction.request.origin.host
    return Series.of(tuple(recordings), tuple(covering.values()), providers.of(host).match.sequence)


def digest_of(recordings: Iterable[Recording]) -> str:
    """The SHA-256 over what RECORDINGS ask and answer, in their order and with their ids; times take no part.

    The contents are lists of text and whole numbers, so that there is one way to write them as JSON.
    """
    total = hashlib.sha256()
    for recording in recordings:
        total.update(json.dumps(_contents(recording), separators=(",", ":")).encode("ascii"))
    return total.hexdigest()


def _contents(recording: Recording) -> list[object]:
    request, response = recording.interaction.request, recording.interaction.response
    coding = response.coding
    return [
        recording.id,
        request.method,
        request.url,
        request.headers,
        _body(request.body),
        response.status,
        response.reason,
        response.headers,
        _body(response.body),
        response.trailers,
        [[one.status, one.reason, one.headers] for one in response.interim],
        [one.size for one in response.chunks],
        list(coding.names) if coding else None,
        [response.fault.kind, response.fault.phase] if response.fault else None,
    ]


def _body(body: Body) -> str:
    return body.sha256 if isinstance(body, Blob) else hashlib.sha256(body).hexdigest()
