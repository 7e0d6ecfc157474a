"""From cassettes to recordings in one order: named, judged, keyed, with the writes that cover each read."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from replayproxy.core.canonical import Canonical, canonical, is_conditional
from replayproxy.core.effect import is_write
from replayproxy.core.exchange import Blob, Body, Cassette, Interaction, Request
from replayproxy.core.provider import Provider, Providers
from replayproxy.core.rights import Finding, Tag, decide, lay
from replayproxy.core.sequence import Recording, Scope, Series, Writes

type ReadBlob = Callable[[Cassette, Blob], bytes]
"""Gives the octets of a body that lies in a file of a cassette."""
type Mask = Callable[[Request], Request]
"""Gives a request without any secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The recordings of a library in their order, by key, and the writes by what they name."""

    recordings: tuple[Recording, ...]
    series: dict[bytes, Series]
    writes: dict[Scope, Writes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Whether an interaction may be served for a purpose; TODAY (`YYYY-MM-DD`) is the host's date or None."""

    purpose: str
    today: str | None = None
    _known: dict[tuple[Tag | None, ...], Finding | None] = field(default_factory=dict)

    def forbidden(self, interaction: Interaction, cassette: Cassette, provider: Provider) -> Finding | None:
        """What forbids it, or None: its own tag over the cassette's, which the provider's may only tighten."""
        tags = interaction.rights, cassette.rights, provider.rights
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
    writes = _writes(recording for recording, _ in found)
    by_key: dict[bytes, list[Recording]] = {}
    for recording, form in found:
        by_key.setdefault(form.key, []).append(recording)
    series = {key: _series(those, writes, providers) for key, those in by_key.items()}
    return Arrangement(recordings=tuple(recording for recording, _ in found), series=series, writes=writes)


def _recordings(
    cassettes: Sequence[Cassette], providers: Providers, judge: Judge, read: ReadBlob | None, show: Mask | None
) -> Iterator[tuple[Recording, Canonical]]:
    position = 0
    ids = unique_ids(cassettes)
    for number, cassette in enumerate(cassettes):
        for interaction in sorted(cassette.interactions, key=lambda one: one.order):
            whole = _with_body(interaction, cassette, read)
            provider = providers.of(whole.request.origin.host)
            form = canonical(whole.request, provider.match)
            yield (
                Recording(
                    id=next(ids),
                    position=position,
                    cassette=number,
                    interaction=whole,
                    scope=Scope.of(whole.request),
                    write=is_write(whole.request, provider.match),
                    conditional=is_conditional(whole.request),
                    preference=form.preference,
                    forbidden=judge.forbidden(whole, cassette, provider),
                    masked_url=_masked_url(whole.request, show) if show and not cassette.salt else None,
                ),
                form,
            )
            position += 1


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


def _writes(recordings: Iterable[Recording]) -> dict[Scope, Writes]:
    by_scope: dict[Scope, list[Recording]] = {}
    for recording in recordings:
        if recording.write:
            by_scope.setdefault(recording.scope, []).append(recording)
    return {scope: Writes(tuple(those)) for scope, those in by_scope.items()}


def _series(recordings: list[Recording], writes: dict[Scope, Writes], providers: Providers) -> Series:
    """The series of RECORDINGS; covered by whatever covers any of them, since rules may join several resources."""
    covering: dict[Scope, Writes] = {}
    if not any(recording.write for recording in recordings):
        for scope in dict.fromkeys(recording.scope for recording in recordings):
            covering |= {around: writes[around] for around in scope.around() if around in writes}
    host = recordings[0].interaction.request.origin.host
    return Series(tuple(recordings), tuple(covering.values()), providers.of(host).match.sequence)


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
