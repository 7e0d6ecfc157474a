"""What an upstream answered, whatever protocol it speaks; made by `upstream1` and `upstream2`.

`stream` is the handle that the client connection gave for the exchange.
"""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core.exchange import FaultKind, Framing, Headers
from replayproxy.core.exchange import Interim as InterimAnswer


@dataclass(frozen=True, slots=True)
class Interim:
    """A 1xx answer (RFC 9110 section 15.2)."""

    stream: int
    answer: InterimAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The head of the final answer, fields in the order and case of the wire; `framing` as in `Response`."""

    stream: int
    status: int
    reason: str
    headers: Headers
    version: str
    framing: Framing


@dataclass(frozen=True, slots=True)
class Data:
    """Octets of the body, transfer coding undone; `ends_chunk` where a chunk or DATA frame ends with them."""

    stream: int
    data: bytes
    ends_chunk: bool = True


@dataclass(frozen=True, slots=True)
class End:
    """The answer is whole."""

    stream: int
    trailers: Headers = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """The exchange will not be finished: the connection or stream ended, was reset, or broke the protocol."""

    stream: int
    kind: FaultKind
    why: str


type UpstreamEvent = Interim | Head | Data | End | Broken
