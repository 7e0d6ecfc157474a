"""Which origin and target a request names, by how the client came in (RFC 9112 section 3.2, RFC 9110 section 7.4)."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from urllib.parse import unquote_to_bytes

from replayproxy.core.exchange import DEFAULT_PORTS, Origin, normal_host
from replayproxy.wire.events import Via
from replayproxy.wire.fault import ClientError

_AUTHORITY = re.compile(r"(\[[^\[\]%]*\]|[^:\[\]]*)(?::([0-9]{0,6}))?")
_REGISTERED_NAME = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=-]+")
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^#]*)")


@lru_cache(maxsize=1024)
def authority(text: str) -> tuple[str, int | None]:
    """Host, normalised, and port (None if not named) of an authority; raises ClientError."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise ClientError(400, "the request names no valid host")
    port = int(match[2]) if match[2] else None
    if port is not None and not 0 < port < 65536:
        raise ClientError(400, "the request names no valid port")
    try:
        return _host(match[1]), port
    except ValueError:
        raise ClientError(400, "the request names no valid host") from None


def _host(text: str) -> str:
    if text.startswith("["):
        return str(IPv6Address(text[1:-1]))
    # RFC 3986 section 3.2.2: a name outside ASCII is UTF-8, as it is or percent-encoded.
    octets = unquote_to_bytes(text.encode("latin-1"))
    host = normal_host(octets.decode("utf-8"))
    if not _REGISTERED_NAME.fullmatch(host):
        raise ValueError(host)
    return host


@lru_cache(maxsize=1024)
def is_address(host: str) -> bool:
    """Whether HOST is an IP literal."""
    try:
        return bool(IPv6Address(host) if ":" in host else IPv4Address(host))
    except AddressValueError:
        return False


@lru_cache(maxsize=1024)
def _origin(scheme: str, text: str) -> Origin:
    host, port = authority(text)
    return Origin(scheme, host, port or DEFAULT_PORTS[scheme])


def tunnel_target(target: str) -> tuple[str, int]:
    """Host and port of a CONNECT (authority-form, the port is not optional); raises ClientError."""
    host, port = authority(target)
    if port is None:
        raise ClientError(400, "CONNECT needs a host and a port")
    return host, port


def destination(method: str, target: str, host: str | None, via: Via) -> tuple[Origin, str]:
    """The origin and the origin-form target (or `*`) of a request; HOST is its Host field, None if it has none.

    Raises ClientError: 400 where it names none, 421 where it names another than the tunnel it came through.
    """
    if target.startswith("/") or target == "*":
        if "#" in target or (target == "*" and method != "OPTIONS"):
            raise ClientError(400, "the request target is not valid")
        return _by_host(host, via), target
    match = _ABSOLUTE.fullmatch(target)
    if match is None:
        raise ClientError(400, "the request target is not valid")
    scheme, named, rest = match[1].lower(), match[2], match[3]
    if not rest.startswith("/"):
        rest = "*" if method == "OPTIONS" and not rest else "/" + rest
    return _by_target(scheme, named, via), rest


def _by_target(scheme: str, named: str, via: Via) -> Origin:
    if scheme not in DEFAULT_PORTS:
        raise ClientError(400, "only http and https URLs can be asked for")
    if via.host or (via.transparent and scheme == via.scheme):
        if scheme != via.scheme:
            raise ClientError(421, "the URL has another scheme than the connection")
        return _by_host(named, via)
    if scheme == "https":
        raise ClientError(400, "this is a proxy: ask for a tunnel with CONNECT to reach an https URL")
    return _origin(scheme, named)


def _by_host(host: str | None, via: Via) -> Origin:
    if not via.host:
        if not via.transparent:
            raise ClientError(400, "this is a proxy: ask it with an absolute URL or with CONNECT")
        if not host:
            raise ClientError(400, "the request names no host")
        return _origin(via.scheme, host)
    tunnel, tunnel_port = tunnel_of(via)
    if not host:
        return Origin(via.scheme, tunnel, tunnel_port)
    name, port = authority(host)
    if via.reverse and (not is_address(tunnel) or is_address(name) or name == "localhost"):
        return Origin(via.scheme, tunnel, tunnel_port)
    if is_address(tunnel):
        return _origin(via.scheme, host)
    if name != tunnel or (port or tunnel_port) != tunnel_port:
        raise ClientError(421, "the request names another host than the tunnel it came through")
    return Origin(via.scheme, tunnel, tunnel_port)


@lru_cache(maxsize=1024)
def host_for(origin: Origin, host: str) -> str:
    """The Host field for a request to ORIGIN: HOST as the client sent it if it names ORIGIN, else ORIGIN's own.

    RFC 9112 section 3.2.2: a proxy replaces a Host that the target of the request does not bear out.
    """
    try:
        name, port = authority(host)
    except ClientError:
        return origin.netloc
    return host if name == origin.host and port in (None, origin.port) else origin.netloc


@lru_cache(maxsize=1024)
def tunnel_of(via: Via) -> tuple[str, int]:
    """Host, normalised, and port of the CONNECT that led here."""
    host = f"[{via.host}]" if ":" in via.host and not via.host.startswith("[") else via.host
    return authority(host)[0], via.port or DEFAULT_PORTS[via.scheme]
