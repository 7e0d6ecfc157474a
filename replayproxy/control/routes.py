"""What every control API has in common: who may call, what calls there are, and how a mistake is told."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Headers, header

type Reply = tuple[int, Headers, bytes]
JSON: Headers = (("Content-Type", "application/json"),)
PROBLEM: Headers = (("Content-Type", "application/problem+json"),)
_WHOLE = re.compile(r"[0-9]{1,18}")
TEXT: Headers = (("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),)


class BadCallError(Exception):
    """A call that cannot be meant: `status` 400 or another of the client's errors, what is wrong, and a hint."""

    def __init__(self, status: int, detail: str, hint: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call: of the query for GET and HEAD (`textual`: all are text), of the JSON body for POST."""

    arguments: Mapping[str, object]
    textual: bool = False

    def known(self, *names: str) -> None:
        """Raises BadCallError for an argument that is none of NAMES."""
        for name in self.arguments:
            if name not in names:
                allowed = ", ".join(names) or "none"
                raise BadCallError(400, f"{name}: there is no such argument", f"allowed: {allowed}")

    def text(self, name: str, default: str) -> str:
        """The argument NAME, a text that is not empty."""
        value = self.arguments.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or not value:
            raise BadCallError(400, f"{name}: {value!r} is not a text", f'for example "{name}": "a"')
        return value

    def whole(self, name: str) -> int | None:
        """The argument NAME, a whole number from 0 on; None where it is not given."""
        value = self.arguments.get(name)
        if self.textual and isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        raise BadCallError(400, f"{name}: {value!r} is not a whole number from 0 on", f'for example "{name}": 7')

    def number(self, name: str) -> float | None:
        """The argument NAME, a number; None where it is not given."""
        value = self.arguments.get(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise BadCallError(400, f"{name}: {value!r} is not a number", f'for example "{name}": 90')

    def flag(self, name: str) -> bool:
        """The argument NAME, true or false; false where it is not given."""
        value = self.arguments.get(name, False)
        if isinstance(value, bool):
            return value
        raise BadCallError(400, f"{name}: {value!r} is neither true nor false", f'for example "{name}": true')


@dataclass(frozen=True, slots=True)
class Route:
    """A call: what answers it, and whether it needs no token. One that takes GET takes HEAD as well."""

    method: str
    path: str
    answer: Callable[[Call], Reply]
    open: bool = False


class Routes:
    """A table of ROUTES behind one TOKEN. Calling it is pure: all that changes, changes in what the routes call."""

    def __init__(self, token: str, routes: tuple[Route, ...]) -> None:
        self._token = token.encode()
        self._routes = {(route.method, route.path): route for route in routes}
        heads = {("HEAD", path): route for (method, path), route in self._routes.items() if method == "GET"}
        self._routes |= heads  # the host leaves out the body (RFC 9110 section 9.3.2)

    def __call__(self, method: str, path: str, query: str, headers: Headers, body: bytes) -> Reply:
        """The reply to one call; mistakes are replies too, as problem details (RFC 9457)."""
        try:
            route = self._route(method, path)
            if not route.open:
                self._authorise(headers)
            return route.answer(_call(route.method, query, body))
        except BadCallError as error:
            return problem(error)
        except ReplayproxyError as error:
            return problem(BadCallError(400, error.what, error.hint))

    def _route(self, method: str, path: str) -> Route:
        route = self._routes.get((method, path))
        if route is None:
            allowed = sorted(known for known, place in self._routes if place == path)
            if not allowed:
                calls = ", ".join(f"{known} {place}" for known, place in self._routes if known != "HEAD")
                raise BadCallError(404, f"there is no call {path}", f"there are: {calls}")
            raise BadCallError(405, f"{path} does not take {method}", f"it takes {', '.join(allowed)}")
        return route

    def _authorise(self, headers: Headers) -> None:
        scheme, _, given = (header(headers, "authorization") or "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            raise BadCallError(401, "the token is missing or not the right one", "Authorization: Bearer TOKEN")


def _call(method: str, query: str, body: bytes) -> Call:
    if method == "GET":
        return Call(_each_once(parse_qsl(query, keep_blank_values=True)), textual=True)
    if query:
        raise BadCallError(400, f"the query {query!r} is not read by POST", 'put it into the body: {"seed": 7}')
    if not body.strip():
        return Call({})
    try:
        value = json.loads(body, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise BadCallError(400, f"the body is not JSON: {error}", 'for example {"seed": 7}') from error
    if not isinstance(value, dict):
        raise BadCallError(400, "the body is not a JSON object", 'for example {"seed": 7}')
    return Call(value)


def _each_once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadCallError(400, "an argument is given twice", "give each once")
    return found


def problem(error: BadCallError) -> Reply:
    """ERROR as problem details, with the fields that its status asks for (RFC 9110 sections 11.6.1 and 15.5.6)."""
    body = {"type": "about:blank", "status": error.status, "detail": error.detail, "hint": error.hint}
    extra: Headers = ()
    if error.status == 401:
        extra = (("WWW-Authenticate", "Bearer"),)
    elif error.status == 405:
        extra = (("Allow", error.hint.removeprefix("it takes ")),)
    return error.status, (*PROBLEM, *extra), _text(body)


def as_json(value: object) -> Reply:
    """VALUE as the reply of a call that went well; keys sorted."""
    return 200, JSON, _text(value)


def _text(value: object) -> bytes:
    """VALUE as JSON, keys sorted; what UTF-8 has no form for (lone surrogates) is escaped as JSON escapes it."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "backslashreplace")


def as_metrics(metrics: tuple[tuple[str, str, str, tuple[tuple[str, int], ...]], ...]) -> Reply:
    """METRICS (name, help, type, and values by label text) in Prometheus' text format 0.0.4."""
    lines: list[str] = []
    for name, told, kind, values in metrics:
        lines += [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{labels} {value}" for labels, value in values]
    return 200, TEXT, ("\n".join(lines) + "\n").encode()
