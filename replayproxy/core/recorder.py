"""The record machine: what was seen on the wire becomes an interaction that may be stored.

The order is fixed: content coding is undone, secrets are masked, bindings are proposed. Nothing that left this
module unmasked may reach a disk. Pure: the edge hands in salt, times and octets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from replayproxy.core import binding, coding
from replayproxy.core.exchange import Blob, Chunk, Interaction, Redaction, Request, Response, interaction_id
from replayproxy.core.redaction import BodyStream, Redactor
from replayproxy.core.redaction.digests import refreshed
from replayproxy.core.rights import Tag


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One exchange as the recorder saw it.

    `response.body` are the octets of the wire, still content coded, and `pieces` the same octets as they arrived, each
    with the milliseconds since the request was sent (empty where the body came with a length). Of a body that was too
    large to be held `response.body` is the Blob it was masked into, `sizes` those of its pieces, and `masks` what was
    masked in it. Other fields are as in `Interaction`.
    """

    order: int
    request: Request
    response: Response
    pieces: Sequence[tuple[bytes, int]] = ()
    sizes: Sequence[tuple[int, int]] = ()
    masks: tuple[Redaction, ...] = ()
    started_us: int
    first_ms: int
    ended_ms: int
    rights: Tag | None = None
    take: str = ""
    scenario: str = ""


class Recorder:
    """Turns exchanges into interactions; it remembers the credentials it has masked, and nothing else."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def stream(self, host: str, content_type: str) -> BodyStream:
        """What masks the body of an answer of HOST that is too large to be held."""
        return self._redactor.stream(host, content_type)

    def finish(self, seen: Observed) -> Interaction:
        """The interaction to store: decoded, masked, with its id and the bindings that it suggests."""
        plain = Interaction(
            id="",
            order=seen.order,
            request=seen.request,
            response=described(seen) if isinstance(seen.response.body, Blob) else decoded(seen.response, seen.pieces),
            started_us=seen.started_us,
            first_ms=seen.first_ms,
            ended_ms=seen.ended_ms,
            rights=seen.rights,
            take=seen.take,
            scenario=seen.scenario,
            redactions=seen.masks,
        )
        masked = self._redactor.redact(plain)
        return replace(masked, id=interaction_id(masked.order, masked.request), proposals=binding.propose(masked))


def described(seen: Observed) -> Response:
    """The answer whose body lies in a file, with its pieces, and without digests that masking has made untrue."""
    response = seen.response
    headers = refreshed(response.headers, None) if seen.masks else response.headers
    chunks = tuple(Chunk(size, at) for size, at in seen.sizes) if len(seen.sizes) > 1 else ()
    return replace(response, headers=headers, chunks=chunks)


def decoded(response: Response, pieces: Sequence[tuple[bytes, int]]) -> Response:
    """RESPONSE with its content coding undone and its pieces described, as `Response` says.

    A body of a single piece needs no description: one piece is what is replayed anyway.
    """
    assert isinstance(response.body, bytes)
    body, held = coding.undo(response.headers, response.body)
    several = len(pieces) > 1
    if held is None:
        chunks = tuple(Chunk(len(data), at) for data, at in pieces) if several else ()
        return replace(response, body=body, chunks=chunks)
    sizes = coding.chunk_sizes([data for data, _ in pieces], held.names) if several else ()
    chunks = tuple(Chunk(size, at, len(data)) for size, (data, at) in zip(sizes, pieces, strict=False))
    return replace(response, body=body, coding=held, chunks=chunks)
