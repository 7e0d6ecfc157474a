"""A staff directory: OAuth client credentials, pages by cursor, entity tags.

    POST /oauth/token                form: grant_type=client_credentials, client_id, client_secret
    GET  /v1/people?limit=&cursor=   Link: <next page>; rel="next" (RFC 8288), ETag; 304 to If-None-Match

Tokens, cursors, identifiers and entity tags are new for each run.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

from replayproxy.demo.server import Reply, Request, json_reply, now

NAMES = (
    "Ada Byron",
    "Émilie du Châtelet",
    "Grace Hopper",
    "Hypatia",
    "Mary Somerville",
    "Sophie Germain",
    "王貞儀",
)
CLIENT_SECRET = "directory-secret-8c41f7e2"  # noqa: S105 - made up, for a made-up vendor
LARGEST_PAGE = 50


class Directory:
    """`Directory()(request)` is the answer to a request."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()
        self._cursors = {secrets.token_urlsafe(12): start for start in range(1, len(NAMES))}
        self._people = [
            {"id": f"per_{secrets.token_hex(8)}", "name": name, "updated_at": now().isoformat()} for name in NAMES
        ]

    def __call__(self, request: Request) -> Reply:
        """The answer to REQUEST."""
        match (request.method, request.path):
            case "POST", "/oauth/token":
                return self._issue(request)
            case "GET", "/v1/people":
                scheme, _, token = request.headers.get("Authorization", "").partition(" ")
                if scheme != "Bearer" or token not in self._tokens:
                    return json_reply({"error": "invalid_token"}, 401, ("WWW-Authenticate", "Bearer"))
                return self._page(request)
        return json_reply({"error": "not_found"}, 404)

    def _issue(self, request: Request) -> Reply:
        form = request.form()
        if form.get("grant_type") != "client_credentials":
            return json_reply({"error": "unsupported_grant_type"}, 400)
        if form.get("client_secret") != CLIENT_SECRET:
            return json_reply({"error": "invalid_client"}, 401)
        token = secrets.token_urlsafe(32)
        self._tokens.add(token)
        granted = {"access_token": token, "token_type": "Bearer", "expires_in": 900, "scope": "people:read"}
        return json_reply(granted, 200, ("Cache-Control", "no-store"))

    def _page(self, request: Request) -> Reply:
        cursor = request.query.get("cursor", "")
        if cursor and cursor not in self._cursors:
            return json_reply({"error": "invalid_cursor"}, 400)
        limit = request.query.get("limit", "3")
        if not limit.isdecimal() or not 1 <= int(limit) <= LARGEST_PAGE:
            return json_reply({"error": "invalid_limit"}, 400)
        start = self._cursors.get(cursor, 0)
        end = start + int(limit)
        following = next((text for text, place in self._cursors.items() if place == end), None)
        page = {"data": self._people[start:end], "next_cursor": following}
        headers = [("ETag", _entity_tag(page)), ("Cache-Control", "private, max-age=0")]
        if following:
            target = f"{request.base}/v1/people?limit={limit}&cursor={following}"
            headers.append(("Link", f'<{target}>; rel="next"'))
        if request.headers.get("If-None-Match") == headers[0][1]:
            return Reply(status=304, headers=tuple(headers))
        return json_reply(page, 200, *headers)


def _entity_tag(page: Any) -> str:
    return f'"{hashlib.sha256(json.dumps(page).encode()).hexdigest()[:32]}"'
