"""What a request head means: framing, persistence, expectations, who asks (RFC 9110, RFC 9112)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass

from replayproxy.core.exchange import Headers
from replayproxy.wire import names
from replayproxy.wire.fault import ClientError
from replayproxy.wire.head import RawFields


@dataclass(slots=True)
class Meaning:
    """The fields of one head, told apart.

    `headers` are end-to-end. `length` is that of the body, None for a chunked one. `hosts` are the values of Host.
    `expects` is whether a 100 is waited for. `upgrade` is the field's value where `Connection` lists it.
    """

    headers: Headers = ()
    hosts: tuple[str, ...] = ()
    length: int | None = 0
    keep_alive: bool = True
    expects: bool = False
    upgrade: str = ""
    user: str | None = None


def meaning(fields: RawFields, version: str) -> Meaning:
    """What FIELDS say in a request of VERSION ("1.0" or "1.1"); raises ClientError."""
    headers: list[tuple[str, str]] = []
    special: dict[int, list[str]] = {}
    for octets, raw in fields:
        name, kind = names.request_name(octets)
        value = raw.decode("latin-1").rstrip(" \t")
        if kind <= names.LENGTH:
            headers.append((name, value))
        if kind:
            special.setdefault(kind, []).append(value)
    found = Meaning(tuple(headers), tuple(special.get(names.HOST, ())))
    modern = version == "1.1"
    _read_hosts(found, modern)
    _read_framing(found, special.get(names.LENGTH), special.get(names.CODING), modern)
    connection = names.listed(",".join(special[names.CONNECTION])) if names.CONNECTION in special else set()
    found.keep_alive = "close" not in connection if modern else "keep-alive" in connection
    if "close" in connection:
        found.keep_alive = False
    if connection - {"close", "keep-alive"}:
        found.headers = without(found.headers, connection)
    if modern:
        _read_wishes(found, special, connection)
    if names.CREDENTIALS in special:
        found.user = proxy_user(special[names.CREDENTIALS][0])
    return found


def trailer_fields(fields: RawFields) -> Headers:
    """The trailer section without what cannot be in one: framing, routing and hop-by-hop fields (RFC 9110 6.5.1)."""
    named = ((*names.request_name(octets), raw.decode("latin-1").rstrip(" \t")) for octets, raw in fields)
    return tuple((name, value) for name, kind, value in named if not kind)


def without(headers: Headers, listed: Iterable[str]) -> Headers:
    """HEADERS without the fields that `Connection` lists."""
    dropped = set(listed) - names.KEPT_THOUGH_LISTED
    return tuple(field for field in headers if field[0].lower() not in dropped)


def _read_hosts(found: Meaning, modern: bool) -> None:
    if len(found.hosts) > 1 or (modern and not found.hosts):
        raise ClientError(400, "the request must have one Host field")


def _read_framing(found: Meaning, lengths: list[str] | None, codings: list[str] | None, modern: bool) -> None:
    """RFC 9112 section 6.3, with every doubt refused."""
    if codings:
        if lengths:
            raise ClientError(400, "the request has both Content-Length and Transfer-Encoding")
        if not modern:
            raise ClientError(400, "a request of HTTP/1.0 cannot have Transfer-Encoding")
        coding = ",".join(codings).lower()
        if coding.strip(" \t") != "chunked":
            raise ClientError(501, "the request has a transfer coding other than chunked")
        found.length = None
    elif lengths:
        if len(lengths) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
            raise ClientError(400, "the request has no valid Content-Length")
        found.length = int(lengths[0])


def _read_wishes(found: Meaning, special: dict[int, list[str]], connection: set[str]) -> None:
    if names.EXPECT in special:
        if names.listed(",".join(special[names.EXPECT])) != {"100-continue"}:
            raise ClientError(417, "only the expectation 100-continue can be met")
        found.expects = found.length != 0
    if "upgrade" in connection and names.UPGRADE in special:
        found.upgrade = ", ".join(special[names.UPGRADE])


def proxy_user(value: str) -> str | None:
    """The user of `Proxy-Authorization`; "" where it cannot be read, so that it names nobody, not anybody."""
    scheme, _, credentials = value.partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return b64decode(credentials.strip(), validate=True).partition(b":")[0].decode("utf-8")
    except ValueError:
        return ""
