"""What a client did on its connection, whatever protocol it speaks.

A server connection (`http1.Http1Connection`, `http2.Http2Connection`) turns octets into these events. `stream` tells
the exchanges of one connection apart; under HTTP/1 it counts the requests from 1, under HTTP/2 it is the stream id.
"""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core.exchange import Headers, Origin


@dataclass(frozen=True, slots=True)
class Via:
    """How the client came in: what is known of the destination before the first request.

    `scheme` is that of the requests on this connection. `host` and `port` are those of the CONNECT that led here, ""
    and 0 on the proxy port itself. `transparent` says that origin-form requests may name their host by `Host` alone.
    `reverse` says that clients take us for `host`, and so may send `Host` with our own name or address instead.
    """

    scheme: str = "http"
    host: str = ""
    port: int = 0
    transparent: bool = False
    reverse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelRequested:
    """A CONNECT whose answer is owed: `accept_tunnel()` or `respond(…)`.

    `user` is the proxy user name, None where none was sent, "" where it cannot be read (so that it names nobody).
    """

    stream: int
    host: str
    port: int
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStarted:
    """The head of a request is whole and its destination is known.

    `headers` are end-to-end: hop-by-hop fields, `Proxy-*` and framing are gone except Content-Length; `Expect` is gone
    too and told by `expects_continue` (a 100 is owed or a final answer). `has_body` is whether data may follow.
    """

    stream: int
    method: str
    origin: Origin
    target: str
    headers: Headers
    version: str
    has_body: bool
    expects_continue: bool = False
    user: str | None = None
    upgrade: str = ""


@dataclass(frozen=True, slots=True)
class RequestData:
    """Octets of the request's body, transfer coding undone."""

    stream: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RequestEnded:
    """The request is whole."""

    stream: int
    trailers: Headers = ()


@dataclass(frozen=True, slots=True)
class StreamGone:
    """The client gave up this exchange: it reset the stream or hung up before the answer's end."""

    stream: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """The client broke the protocol; the connection has answered it (status, 0 if it could not).

    `closing` of the connection says whether it ends with that: always under HTTP/1, under HTTP/2 not where only one
    stream was at fault. A request that was told before is told as gone.
    """

    status: int
    why: str


type Event = TunnelRequested | RequestStarted | RequestData | RequestEnded | StreamGone | Rejected
