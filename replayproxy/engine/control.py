"""The control API's host: its router behind the same listeners and HTTP connections as replay, but its own address."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus

from replayproxy.core.exchange import Headers, Request, Response
from replayproxy.engine.native import NativeHost
from replayproxy.replay.answer import Answer, Standing
from replayproxy.wire.limits import Limits

type Router = Callable[[str, str, str, Headers, bytes], tuple[int, Headers, bytes]]
"""Method, path, query, header fields and body in; status, header fields and body out."""

LIMITS = Limits(body_octets=1 << 20, connections=256)


class ControlService:
    """Asks ROUTER. There are no tunnels, no TLS, and no answers before the whole request."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def protocols(self, host: str, port: int) -> tuple[str, ...]:
        """None: there is no TLS here."""
        del host, port
        return ()

    def tunnel(self, user: str | None, host: str, port: int) -> Answer | None:
        """A refusal: this is no proxy."""
        del user, host, port
        return _answer(405, (), b"")

    def early(self, user: str | None, head: Request) -> Answer | None:
        """None: every request is read to its end."""
        del user, head
        return None

    def answer(self, user: str | None, request: Request) -> Answer:
        """What the router answers."""
        del user
        assert isinstance(request.body, bytes)
        path, _, query = request.target.partition("?")
        return _answer(*self._router(request.method, path, query, request.headers, request.body))

    def again(self, user: str | None, standing: Standing) -> bool:
        """Never: what the router answers does not stand."""
        del user, standing
        return False

    def failed(self, error: Exception) -> Answer:
        """500, with the kind of ERROR."""
        body = json.dumps({"error": f"the call failed: {type(error).__name__}"}).encode()
        return _answer(500, (("Content-Type", "application/json"),), body)

    def pinned(self, host: str, port: int, why: str) -> None:
        """Never called, since there is no TLS."""


def control_host(router: Router, limits: Limits = LIMITS) -> NativeHost:
    """A host for the control API; `listen` takes an address and port, or the path of a unix socket."""
    return NativeHost(ControlService(router), limits=limits, transparent=True)


def _answer(status: int, headers: Headers, body: bytes) -> Answer:
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return Answer(response=Response(status=status, reason=reason, headers=headers, body=body))
