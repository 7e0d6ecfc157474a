"""What a client got wrong, and the answer that says so."""

from __future__ import annotations

import json
from http import HTTPStatus

from replayproxy.core.exchange import Headers


class ClientError(Exception):
    """The client broke the protocol: the status to answer with, and why in one sentence without a full stop."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def problem(fault: ClientError) -> tuple[str, Headers, bytes]:
    """Reason, fields and body (RFC 9457) of the answer to FAULT; nothing that the client sent is in it."""
    reason = HTTPStatus(fault.status).phrase
    body = {"type": "about:blank", "title": reason, "status": fault.status, "code": "rejected", "detail": fault.why}
    headers = (
        ("Content-Type", "application/problem+json"),
        ("x-replayproxy-decision", "rejected"),
        ("x-should-retry", "false"),
    )
    return reason, headers, json.dumps(body).encode()
