"""Payments that take their time, with a write in between.

    POST  /v1/payments                    {"amount", "currency", "reference"}; Idempotency-Key is required
    GET   /v1/payments/ID                 pending, processing, authorized: one step for each time it is asked
    POST  /v1/payments/ID/capture         authorized only; from then on it is captured
    PATCH /v1/payments/ID                 {"note"}
    GET   /v1/balance                     what has been captured

Identifiers and times are new for each run. A second POST with the same key gives the first payment again.
"""

from __future__ import annotations

import secrets
from typing import Any

from replayproxy.demo.server import Reply, Request, json_reply, now

KEY = "payments-key-51d0c8b7aa"
"""The API key of its only customer, made up like the vendor."""

WAITING = ("pending", "processing", "authorized")


class Payments:
    """`Payments()(request)` is the answer to a request; payments are kept in memory."""

    def __init__(self) -> None:
        self._payments: dict[str, dict[str, Any]] = {}
        self._keys: dict[str, str] = {}

    def __call__(self, request: Request) -> Reply:
        """The answer to REQUEST."""
        if request.headers.get("X-API-Key") != KEY:
            return json_reply({"error": "unauthorized"}, 401)
        match (request.method, request.path.strip("/").split("/")):
            case "POST", ["v1", "payments"]:
                return self._create(request)
            case "GET", ["v1", "balance"]:
                captured = sum(each["amount"] for each in self._payments.values() if each["status"] == "captured")
                return json_reply({"captured": captured, "as_of": now().isoformat()})
            case "GET", ["v1", "payments", number] if number in self._payments:
                return self._poll(self._payments[number])
            case "PATCH", ["v1", "payments", number] if number in self._payments:
                return self._change(self._payments[number], {"note": request.json()["note"]})
            case "POST", ["v1", "payments", number, "capture"] if number in self._payments:
                return self._capture(self._payments[number])
        return json_reply({"error": "not_found"}, 404)

    def _create(self, request: Request) -> Reply:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return json_reply({"error": "idempotency_key_required"}, 400)
        if key in self._keys:
            return json_reply(self._payments[self._keys[key]], 200, ("Idempotent-Replayed", "true"))
        asked, number = request.json(), f"pay_{secrets.token_hex(10)}"
        self._keys[key] = number
        self._payments[number] = {
            "id": number,
            "amount": asked["amount"],
            "currency": asked["currency"],
            "reference": asked["reference"],
            "status": WAITING[0],
            "created_at": now().isoformat(),
        }
        return json_reply(self._payments[number], 201, ("Location", f"{request.base}/v1/payments/{number}"))

    @staticmethod
    def _poll(payment: dict[str, Any]) -> Reply:
        seen = dict(payment)
        if payment["status"] in WAITING[:-1]:
            payment["status"] = WAITING[WAITING.index(payment["status"]) + 1]
            return json_reply(seen, 200, ("Retry-After", "1"))
        return json_reply(seen)

    def _capture(self, payment: dict[str, Any]) -> Reply:
        if payment["status"] != "authorized":
            return json_reply({"error": "not_authorized", "status": payment["status"]}, 409)
        return self._change(payment, {"status": "captured", "captured_at": now().isoformat()})

    @staticmethod
    def _change(payment: dict[str, Any], values: dict[str, Any]) -> Reply:
        payment |= values
        return json_reply(payment)
