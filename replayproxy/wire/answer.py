"""The head of an HTTP/1 answer, its framing redone for the connection at hand (RFC 9112 section 6)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from replayproxy.core.exchange import Headers, header_values
from replayproxy.wire import names
from replayproxy.wire.request import without

type Framing = Literal["none", "length", "chunked", "close"]


def framing_of(method: str, status: int, length: int | None, modern: bool) -> Framing:
    """How the body of an answer to METHOD is delimited for a client of HTTP/1.1 (MODERN) or 1.0."""
    if method == "HEAD" or status < 200 or status in (204, 304):
        return "none"
    if length is not None:
        return "length"
    return "chunked" if modern else "close"


@lru_cache(maxsize=512)
def answer_head(
    status: int, reason: str, headers: Headers, framing: Framing, length: int | None, connection: str
) -> bytes:
    """The octets of an answer's head.

    CONNECTION is the Connection field to send, "" for none. Framing fields are restated where and in the case they
    were recorded, or put last; hop-by-hop fields and `Alt-Svc` are dropped; nothing else is added. Raises ValueError
    for a status, reason or field that cannot be sent as it is.
    """
    if not 100 <= status <= 999:
        raise ValueError(f"not a status: {status}")
    listed = names.listed(",".join(header_values(headers, "connection")))
    if listed - {"close", "keep-alive", "upgrade"}:
        headers = without(headers, listed)
    lines = [f"HTTP/1.1 {status} {reason}", *_field_lines(status, headers, framing, length)]
    if connection:
        lines.append(f"Connection: {connection}")
    return joined(lines)


def joined(lines: list[str]) -> bytes:
    """LINES as a head or trailer section, the empty line included; raises ValueError for what is no one line."""
    text = "\r\n".join(lines)
    breaks = len(lines) - 1
    if text.count("\n") != breaks or text.count("\r") != breaks or "\0" in text:
        raise ValueError("a line end or NUL is in a reason, a target or a field value")
    return text.encode("latin-1") + b"\r\n\r\n"


def _field_lines(status: int, headers: Headers, framing: Framing, length: int | None) -> list[str]:
    lines: list[str] = []
    bodiless = framing == "none" and status >= 200 and status != 204  # HEAD and 304 tell of the body they do not have
    kept = {names.END_TO_END}
    if bodiless:
        kept |= {names.LENGTH, names.CODING}
    if framing == "chunked":
        kept.add(names.TRAILER)
    if status in (101, 426):
        kept.add(names.UPGRADE)
    owed, stated = _FRAMING_FIELDS.get(framing, ("", ""))
    stated = stated or str(length)
    kind_owed = names.answer_name(owed) if owed else -1
    for name, value in headers:
        kind = names.answer_name(name)
        if kind in kept:
            lines.append(f"{name}: {value}")
        elif owed and kind == kind_owed:
            lines.append(f"{name}: {stated}")
            owed = ""
    if owed:
        lines.append(f"{owed}: {stated}")
    return lines


_FRAMING_FIELDS = {"length": ("Content-Length", ""), "chunked": ("Transfer-Encoding", "chunked")}


def chunk(data: bytes) -> bytes:
    """DATA, not empty, as one chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def last_chunk(trailers: Headers) -> bytes:
    """The end of a chunked body; framing and hop-by-hop fields cannot be trailers. Raises ValueError."""
    return joined(["0", *(f"{name}: {value}" for name, value in trailers if not names.answer_name(name))])
