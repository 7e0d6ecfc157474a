"""The answer to a client that broke the protocol."""

from __future__ import annotations

import json

import pytest

from replayproxy.wire.fault import ClientError, problem


@pytest.mark.parametrize("status", [400, 413, 414, 417, 421, 431, 501, 505])
def test_a_problem_says_what_and_why(status: int) -> None:
    """RFC 9457, with the decision and nothing that clients retry on."""
    reason, headers, body = problem(ClientError(status, "the reason why"))
    told = json.loads(body)
    assert (told["status"], told["detail"], told["title"]) == (status, "the reason why", reason)
    assert dict(headers) == {
        "Content-Type": "application/problem+json",
        "x-replayproxy-decision": "rejected",
        "x-should-retry": "false",
    }
