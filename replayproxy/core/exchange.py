"""The nouns: what went over the wire and what a cassette holds of it.

All values are frozen and valid once built. Text of the wire (methods, targets, header fields, reasons) is
`str` decoded as Latin-1, which is one to one with the octets; bodies are `bytes`, or a `Blob` where the octets
lie in a file. Times are integers: milliseconds, or microseconds since 1970-01-01T00:00:00Z where the name ends
in `_us`. Nothing in here reads a file or a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from replayproxy.core.digest import digest
from replayproxy.core.rights import Tag

type Headers = tuple[tuple[str, str], ...]
"""Header fields in the order of the wire, names in the case of the wire, repeats apart."""

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Blob:
    """A body that lies in a file named by the SHA-256 (lower-case hex) of its octets; `size` in octets."""

    sha256: str
    size: int


type Body = bytes | Blob


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port, normalised: scheme and host lower case, host an A-label without trailing dot.

    An IPv6 host has no brackets here. Build it with `Origin.of`, which normalises.
    """

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, scheme: str, host: str, port: int | None = None) -> Origin:
        """The origin that any spelling of HOST names; raises ValueError for a host that no spelling allows."""
        scheme = scheme.lower()
        return cls(scheme, normal_host(host), port or DEFAULT_PORTS[scheme])

    @property
    def netloc(self) -> str:
        """`host`, or `host:port` where the port is not the scheme's own; IPv6 in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS.get(self.scheme) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}"


def normal_host(host: str) -> str:
    """HOST in the one form that all its spellings share (RFC 3986 section 3.2.2, RFC 5890 A-label).

    Lower case, without brackets and without one trailing dot, Unicode labels as A-labels. Raises ValueError.
    """
    host = host.strip("[]").removesuffix(".").lower()
    if not host:
        raise ValueError("the host is empty")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise ValueError(f"not a host name: {host!r}") from error


def header_values(headers: Headers, name: str) -> Iterator[str]:
    """Every value of the field NAME (lower case), in order."""
    return (value for field_name, value in headers if field_name.lower() == name)


def header(headers: Headers, name: str) -> str | None:
    """The first value of the field NAME (lower case), or None."""
    return next(header_values(headers, name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as the client sent it.

    `target` is the origin-form (path and query) octet for octet as sent, or `*`. `headers` hold neither
    hop-by-hop fields nor proxy credentials; `Host` stays as sent. `body` is what was sent after transfer coding
    was undone; content coding is left as it is.
    """

    method: str
    origin: Origin
    target: str
    headers: Headers = ()
    body: Body = b""
    trailers: Headers = ()
    version: str = "HTTP/1.1"

    @property
    def url(self) -> str:
        """The absolute URL; the path and query as sent."""
        return str(self.origin) + ("" if self.target == "*" else self.target)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


def split_url(url: str) -> tuple[Origin, str]:
    """Origin and target of an absolute http or https URL; the target stays as it is, `/` if empty.

    A fragment is dropped. Raises ValueError for any other URL.
    """
    parts = urlsplit(url)
    if parts.scheme.lower() not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"not an absolute http or https URL: {url!r}")
    origin = Origin.of(parts.scheme, parts.hostname, parts.port)
    rest = url.split("://", 1)[1]
    cut = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    target = rest[cut:].partition("#")[0]
    return origin, target if target.startswith("/") else f"/{target}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a body as it arrived.

    `size` in octets of the body as this model holds it (content decoded), `at_ms` since the request was sent.
    `coded` is the size on the wire where the body was content coded, else None.
    """

    size: int
    at_ms: int
    coded: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interim:
    """A 1xx answer that came before the final one (RFC 9110 section 15.2)."""

    status: int
    reason: str = ""
    headers: Headers = ()


FaultKind = Literal["refused", "reset", "timeout", "truncated", "closed", "dns"]
FaultPhase = Literal["connect", "head", "body"]
Framing = Literal["length", "chunked", "close", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How an exchange broke below HTTP.

    `kind`: the connection was refused, was reset, was silent until the limit, ended inside the body (`truncated`)
    or before the head (`closed`), or the name did not resolve. `phase`: before a connection, before the head of the
    answer was whole, or inside its body. In the first two phases the response is a stand-in with status 502.
    """

    kind: FaultKind
    phase: FaultPhase
    after_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    """The content coding that a body had on the wire.

    `names` as in Content-Encoding, outermost last. `coded` holds the octets of the wire where coding the decoded
    body again with our own encoder would not give them, else None.
    """

    names: tuple[str, ...]
    coded: Body | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A final response as the upstream sent it.

    `headers` are all fields of the wire, framing and Content-Encoding included. `body` is without transfer coding,
    and without content coding where `coding` is set (where the coding that the fields claim does not hold, `coding`
    is None and the body as sent). `chunks` are the pieces of a body that came in more than one piece and without
    Content-Length. `length` is the framing: "length", "chunked", "close" or "none".
    """

    status: int
    reason: str = ""
    headers: Headers = ()
    body: Body = b""
    trailers: Headers = ()
    version: str = "HTTP/1.1"
    framing: Framing = "length"
    interim: tuple[Interim, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    coding: Coding | None = None
    fault: Fault | None = None
    before_body: bool = False
    """Whether the answer came before the whole body of the request, which is left out then (RFC 9110 10.1.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A secret that was masked: where, by which rule, and what stands for it now."""

    at: str
    rule: str
    placeholder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A request field that `record` saw echoed in the response: a proposal, or a rule of the user's."""

    field: str
    echoed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """One request and its answer.

    `order` is the position among the requests of the recording, from 0. `started_us` is when the request's head was
    whole; `first_ms` and `ended_ms` are counted from there to the answer's first and last octet. `rights` is None
    where the cassette's tag holds. `proposals` are bindings that were seen, never applied. `take` and `scenario` name
    the trajectory that the interaction belongs to, "" for the only one.
    """

    id: str
    order: int
    request: Request
    response: Response
    started_us: int = 0
    first_ms: int = 0
    ended_ms: int = 0
    rights: Tag | None = None
    redactions: tuple[Redaction, ...] = ()
    proposals: tuple[Binding, ...] = ()
    take: str = ""
    scenario: str = ""
    extensions: tuple[tuple[str, object], ...] = ()


def interaction_id(order: int, request: Request) -> str:
    """Twelve hex digits that name the interaction of REQUEST within its cassette, the same for the same recording."""
    return digest([order, request.method, request.url])[:12]


@dataclass(frozen=True, slots=True)
class Signature:
    """Who vouches for a cassette's digest: the id of the key, and the signature in base64."""

    keyid: str
    sig: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """A recording.

    `salt` (hex, "" in a foreign cassette) is what placeholders are made from. `digest` is the SHA-256 that the file
    claims for its contents, "" where it claims none. `foreign` names the tool that wrote it, "" for ours.
    """

    name: str
    interactions: tuple[Interaction, ...] = ()
    rights: Tag = field(default_factory=Tag)
    recorded_us: int = 0
    tool: str = ""
    salt: str = ""
    digest: str = ""
    signature: Signature | None = None
    note: str = ""
    foreign: str = ""
    extensions: tuple[tuple[str, object], ...] = ()
