"""The control API of a recording."""

from __future__ import annotations

import json

import pytest

from replayproxy.control import RecordRouter
from replayproxy.core.exchange import Headers

GOOD: Headers = (("Authorization", "Bearer secret"),)


@pytest.fixture
def router() -> RecordRouter:
    """A recording that has recorded three interactions and refused one request."""
    return RecordRouter(lambda: {"recorded": 3, "refused": 1}, "secret")


def test_state_tells_how_far_it_is(router: RecordRouter) -> None:
    """The counts of this moment, behind the token."""
    status, _, body = router("GET", "/state", "", GOOD, b"")
    assert (status, json.loads(body)) == (200, {"mode": "record", "recorded": 3, "refused": 1})
    assert router("GET", "/state", "", (), b"")[0] == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_token(router: RecordRouter, path: str) -> None:
    """It says nothing else."""
    status, _, body = router("GET", path, "", (), b"")
    assert (status, json.loads(body)) == (200, {"status": "ok"})


def test_metrics_need_no_token(router: RecordRouter) -> None:
    """One counter by kind."""
    status, _, body = router("GET", "/metrics", "", (), b"")
    assert status == 200
    assert b'replayproxy_recording_total{kind="recorded"} 3\n' in body


def test_there_is_nothing_to_reset(router: RecordRouter) -> None:
    """The hint says what there is."""
    status, _, body = router("POST", "/reset", "", GOOD, b"{}")
    assert status == 404
    assert "/state" in json.loads(body)["hint"]
