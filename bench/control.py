"""A client of the control API: one kept-alive connection."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlencode

from bench.client import BenchError
from bench.servers import Server


class Control:
    """The control API of a server."""

    def __init__(self, server: Server) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.control, timeout=30)
        self._fields = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    def reset(self, episode: str, seed: int) -> None:
        """A fresh EPISODE."""
        self._call("POST", "/reset", {"episode": episode, "seed": seed})

    def state(self, episode: str) -> dict[str, Any]:
        """Its state."""
        return self._call("GET", f"/state?{urlencode({'episode': episode})}", None)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        text = None if body is None else json.dumps(body)
        self._connection.request(method, path, text, self._fields)
        answer = self._connection.getresponse()
        read = answer.read()
        if answer.status != 200:
            raise BenchError(f"{method} {path}: {answer.status} {read[:200]!r}")
        found: dict[str, Any] = json.loads(read)
        return found
