"""What the head of an HTTP/2 request means (RFC 9113 section 8.3); hyper-h2 has judged its form."""

from __future__ import annotations

from replayproxy.core.exchange import Origin
from replayproxy.wire import names
from replayproxy.wire.events import RequestStarted, Via
from replayproxy.wire.fault import ClientError
from replayproxy.wire.frames import RawHeaders, text
from replayproxy.wire.limits import Limits
from replayproxy.wire.request import proxy_user
from replayproxy.wire.target import destination

_READ = frozenset({"host", "content-length", "expect", "proxy-authorization"})


def request(stream: int, raw: RawHeaders, via: Via, limits: Limits, *, has_body: bool) -> RequestStarted:
    """The request that the field section RAW begins; raises ClientError."""
    pseudo = {name: value.decode("latin-1") for name, value in raw if name[:1] == b":"}
    fields = text(raw)
    method, path = pseudo.get(b":method", ""), pseudo.get(b":path", "")
    if not names.TOKEN.fullmatch(method):
        raise ClientError(400, "the request does not begin with a method")
    if method == "CONNECT":
        raise ClientError(501, "CONNECT is only for the proxy port")
    if len(path) > limits.target_octets:
        raise ClientError(414, f"the request target is longer than {limits.target_octets} octets")
    if len(fields) > limits.fields:
        raise ClientError(431, f"there are more than {limits.fields} fields")
    named = {name: value for name, value in fields if name in _READ}
    authority = pseudo.get(b":authority") or named.get("host", "")
    origin, target = _destination(method, pseudo.get(b":scheme", ""), authority, path, via)
    _check_length(named.get("content-length", ""), limits.body_octets)
    expect = names.listed(named.get("expect", ""))
    if expect - {"100-continue"}:
        raise ClientError(417, "only the expectation 100-continue can be met")
    credentials = named.get("proxy-authorization")
    return RequestStarted(
        stream=stream,
        method=method,
        origin=origin,
        target=target,
        headers=(("Host", authority), *(field for field in fields if field[0] == "te" or kept(field[0]))),
        version="HTTP/2",
        has_body=has_body,
        expects_continue=bool(expect) and has_body,
        user=proxy_user(credentials) if credentials is not None and not via.host else None,
    )


def kept(name: str) -> bool:
    """Whether the field NAME is told as it came."""
    return names.request_name(name.encode("latin-1"))[1] in (names.END_TO_END, names.LENGTH)


def _destination(method: str, scheme: str, authority: str, path: str, via: Via) -> tuple[Origin, str]:
    if path == "*":
        return destination(method, path, authority, via)
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
        raise ClientError(400, "the request target is not valid")
    return destination(method, f"{scheme}://{authority}{path}", authority, via)


def _check_length(length: str, most: int | None) -> None:
    if most is not None and length.isascii() and length.isdigit() and int(length) > most:
        raise ClientError(413, f"the request body is longer than {most} octets")
