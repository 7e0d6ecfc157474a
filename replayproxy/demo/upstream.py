"""The vendor of the demo: a tea shop with a token, orders that are written and read, and a stream of events.

Every run of it answers with other tokens, identifiers and times, so a replay that shows the same ones twice
cannot have come from it.
"""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from replayproxy.demo.server import Reply, Request, Server, json_reply, now, serving

HOST = "api.teashop.example"
"""The name under which the demo's client knows the vendor (RFC 2606: nobody's)."""

CLIENT_SECRET = "demo-secret-2f6b1c9a7d"  # noqa: S105 - made up; the demo shows that it is not stored
STAGES = ("received", "brewing", "ready")


class TeaShop:
    """`TeaShop()(request)` is the answer to a request; orders are kept in memory."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(24)
        self._orders: dict[str, dict[str, Any]] = {}

    def __call__(self, request: Request) -> Reply:
        """The answer to REQUEST; without the token it is 401, for paths it does not know 404."""
        if (request.method, request.path) == ("POST", "/oauth/token"):
            return self._issue(request)
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            return json_reply({"error": "unauthorized"}, 401, ("WWW-Authenticate", "Bearer"))
        match (request.method, request.path.strip("/").split("/")):
            case "POST", ["v1", "orders"]:
                return self._create(request)
            case "GET", ["v1", "orders", number] if number in self._orders:
                return json_reply(self._orders[number])
            case "POST", ["v1", "orders", number, "advance"] if number in self._orders:
                return self._advance(self._orders[number])
            case "GET", ["v1", "orders", number, "events"] if number in self._orders:
                headers = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"))
                return Reply(headers=headers, body=_events(self._orders[number]))
        return json_reply({"error": "not_found"}, 404)

    def _issue(self, request: Request) -> Reply:
        if request.form().get("client_secret") != CLIENT_SECRET:
            return json_reply({"error": "invalid_client"}, 401)
        token = {"access_token": self._token, "token_type": "Bearer", "expires_in": 3600}
        return json_reply(token, 200, ("Cache-Control", "no-store"))

    def _create(self, request: Request) -> Reply:
        number = f"ord_{secrets.token_hex(6)}"
        asked = request.json()
        self._orders[number] = {
            "id": number,
            "item": asked["item"],
            "quantity": asked["quantity"],
            "status": STAGES[0],
            "created_at": now().isoformat(),
        }
        return json_reply(self._orders[number], 201, ("Location", f"/v1/orders/{number}"))

    @staticmethod
    def _advance(order: dict[str, Any]) -> Reply:
        following = STAGES.index(order["status"]) + 1
        if following == len(STAGES):
            return json_reply({"error": "already_ready"}, 409)
        order["status"] = STAGES[following]
        return json_reply(order)


def _events(order: dict[str, Any]) -> Iterator[bytes]:
    for stage in STAGES[: STAGES.index(order["status"]) + 1]:
        yield f"event: {stage}\ndata: {json.dumps({'id': order['id'], 'at': now().isoformat()})}\n\n".encode()


def upstream(tls: ssl.SSLContext | None = None) -> AbstractContextManager[Server]:
    """The vendor, served on loopback while the block runs."""
    return serving(TeaShop(), tls=tls)
