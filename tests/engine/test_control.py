"""replayproxy.engine.control: the router gets what was sent, and its answer is sent."""

from __future__ import annotations

import http.client
from typing import Any

import pytest

from replayproxy.core.exchange import Headers
from replayproxy.engine.control import ControlService
from replayproxy.wire.limits import Limits


def router(method: str, path: str, query: str, headers: Headers, body: bytes) -> tuple[int, Headers, bytes]:
    """Says what it was asked; fails on request."""
    if path == "/fail":
        raise LookupError("/home/secret")
    asked = f"{method} {path} {query} {dict(headers).get('Authorization')} ".encode() + body
    return (299 if path == "/odd" else 200), (("Content-Type", "text/plain"),), asked


@pytest.fixture
def call(serve: Any) -> Any:
    """Makes calls on one kept-alive connection to a host of the router."""
    with serve(
        service=ControlService(router), contexts=None, transparent=True, limits=Limits(body_octets=9)
    ) as running:
        link = http.client.HTTPConnection(running.address[0], running.address[1], timeout=10)

        def made(method: str, target: str, body: bytes | None = None) -> tuple[int, bytes]:
            link.request(method, target, body, {"Authorization": "Bearer t"})
            answer = link.getresponse()
            return answer.status, answer.read()

        yield made
        link.close()


def test_the_router_is_asked_with_all_that_was_sent(call: Any) -> None:
    """Method, path, query, fields and body; keep-alive."""
    assert call("POST", "/reset?x=1&y", b"{}") == (200, b"POST /reset x=1&y Bearer t {}")
    assert call("GET", "/state") == (200, b"GET /state  Bearer t ")
    assert call("GET", "/odd")[0] == 299


def test_a_failing_router_is_a_500_without_its_text(call: Any) -> None:
    """And the connection goes on."""
    status, body = call("GET", "/fail")
    assert status == 500
    assert b"LookupError" in body
    assert b"secret" not in body
    assert call("GET", "/state")[0] == 200


def test_a_body_above_the_limit_is_refused(call: Any) -> None:
    """413, before the router sees it."""
    assert call("POST", "/reset", b"0123456789")[0] == 413


def test_the_control_api_is_no_proxy(call: Any) -> None:
    """A CONNECT leads nowhere."""
    assert call("CONNECT", "api.test:443")[0] == 405
