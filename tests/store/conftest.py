"""Values that the tests of the store share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.rights import preset


@pytest.fixture
def head() -> Cassette:
    """A cassette without interactions, as a recorder starts with."""
    return Cassette(name="cassette", rights=preset("own-synthetic"), salt="ab12", tool="replayproxy 0", recorded_us=1)


@pytest.fixture
def answer() -> Callable[..., Interaction]:
    """An interaction of a given order whose response has a given body."""

    def make(order: int, body: bytes = b"one", started_us: int | None = None) -> Interaction:
        request = Request(method="GET", origin=Origin.of("http", "api.example.test"), target="/a")
        response = Response(status=200, reason="OK", headers=(("Content-Type", "text/plain"),), body=body)
        started = 1_000_000 + order if started_us is None else started_us
        return Interaction(
            id=interaction_id(order, request), order=order, request=request, response=response, started_us=started
        )

    return make
