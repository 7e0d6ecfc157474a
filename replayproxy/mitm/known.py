"""`--on-existing new`: what a cassette knows is served from it, and only the rest is asked of the upstream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from replayproxy.core.clock import RECORDED, Clock
from replayproxy.core.coding.negotiation import negotiate
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Blob, Request, Response, header
from replayproxy.core.library import Library
from replayproxy.core.provider import Providers
from replayproxy.core.replayer import Served, answer
from replayproxy.mitm.session import Answer, Known
from replayproxy.store import Loaded

PURPOSE = "local-debug"


def answers_of(providers: Providers) -> Callable[[Loaded], Known]:
    """Makes, of a cassette that exists, the answers it knows: None for what it does not."""

    def known(existing: Loaded) -> Known:
        library = Library.build(
            [existing.cassette], providers, purpose=PURPOSE, read=lambda _, blob: existing.blobs.read(blob)
        )
        episode = Episode("default", 0, library, Clock.parse(RECORDED, library.recorded_us))

        def answered(request: Request) -> tuple[str, Answer] | None:
            decision = answer(episode, request)
            if not isinstance(decision, Served) or decision.response.fault is not None:
                return None
            return decision.interaction.id, _whole(decision.response, request, existing)

        return answered

    return known


def _whole(response: Response, request: Request, existing: Loaded) -> Answer:
    """RESPONSE in the coding that the client takes, its body in memory."""
    if isinstance(response.body, Blob):
        response = replace(response, body=existing.blobs.read(response.body))
    sent = negotiate(response, header(request.headers, "accept-encoding"))
    assert isinstance(sent.body, bytes)
    return sent.status, sent.reason, sent.headers, sent.body
