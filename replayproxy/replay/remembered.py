"""Requests that were answered before, octet for octet, and what is known of them.

Environments ask the same thousands of times, so that reading, masking and looking up a request is worth remembering.
What is remembered is only ever how a request was read and what always answers it: who answers is asked each time.
Requests are known by their SHA-256, so that one of a megabyte takes no more room here than one of a line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from replayproxy.core.exchange import Request
from replayproxy.replay.answer import Answer, Standing
from replayproxy.wire.events import Event, RequestEnded, RequestStarted, Via
from replayproxy.wire.http1 import Http1Connection

OCTETS = 100_000_000
"""How much memory a generation may hold, about."""
LONGEST = 65_536
"""The longest request or answer, in octets, that is remembered."""
_ENTRY = 360
"""Octets that an entry takes beside the answer: the key, its place in the table, its parts."""
_READ = 4_000
"""Octets that a request takes once it has been read, beside its body."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A request that gets the same OCTETS on every kept connection for as long as STANDING holds; USER as it named."""

    octets: bytes
    standing: Standing
    user: str | None


@dataclass(frozen=True, slots=True)
class Read:
    """A request of so many OCTETS that has been read: HEAD as it was told, REQUEST, and the same without its body."""

    head: RequestStarted
    request: Request
    bodiless: Request
    octets: int


type Known = Ready | Read


class Remembered:
    """What is known of requests, by how their client came in and by their `key_of`; the least used go first.

    There are two generations of at most OCTETS each. What is asked for moves to the young one; when that is full it
    becomes the old one, and what had stayed in the old one is gone. So a look-up moves nothing but a reference.
    """

    def __init__(self, octets: int = OCTETS) -> None:
        self._most = octets
        self._held = 0
        self._young: dict[Via, dict[bytes, Known]] = {}
        self._old: dict[Via, dict[bytes, Known]] = {}
        self.turn = 0
        """How often the young generation has become the old one: what `of` gave is out of date when this changes."""

    def of(self, via: Via) -> dict[bytes, Known]:
        """The young generation of clients that came in by VIA, to look up in; `keep` adds to it."""
        return self._young.setdefault(via, {})

    def older(self, via: Via, key: bytes) -> Known | None:
        """What the old generation knows of KEY, which is young again then."""
        old = self._old.get(via)
        known = old.pop(key, None) if old else None
        if known is not None:
            self.keep(via, key, known)
        return known

    def keep(self, via: Via, key: bytes, known: Known) -> None:
        """The request of KEY is KNOWN from now on, unless it or its answer is too long."""
        size = len(known.octets) if isinstance(known, Ready) else known.octets + _READ
        if size > LONGEST:
            return
        if self._held + size + _ENTRY > self._most:
            self._old, self._young, self._held = self._young, {}, 0
            self.turn += 1
        self.of(via)[key] = known
        self._held += size + _ENTRY


def key_of(data: bytes) -> bytes:
    """What stands for the octets of a request: nobody finds two that share it."""
    return sha256(data).digest()


class Recall:
    """What MEMORY knows of the requests on one connection of HTTP/1, the WIRE."""

    __slots__ = ("_known", "_memory", "_turn", "_via", "wire")

    def __init__(self, memory: Remembered, wire: Http1Connection) -> None:
        self.wire = wire
        self._memory = memory
        self._via = wire.via
        self._known = memory.of(wire.via)
        self._turn = memory.turn

    def find(self, data: bytes) -> Known | None:
        """What is known of DATA; None for what is no known request, or comes while another has its answer coming."""
        if len(data) > LONGEST:
            return None
        memory = self._memory
        if self._turn != memory.turn:
            self._known, self._turn = memory.of(self._via), memory.turn
        key = key_of(data)
        known = self._known.get(key) or memory.older(self._via, key)
        return known if known is not None and self.wire.idle else None

    def learn(self, data: bytes, events: list[Event], request: Request, answer: Answer) -> None:
        """DATA was read as EVENTS, which made REQUEST, and the wire has just been given the whole ANSWER to it.

        Only a request that is all of DATA, and leaves the connection as it found it, is kept.
        """
        wire = self.wire
        head, end = events[0], events[-1]
        if not isinstance(head, RequestStarted) or not isinstance(end, RequestEnded) or end.trailers:
            return
        if head.expects_continue or head.upgrade or wire.closing or not wire.idle:
            return
        if answer.standing is not None:
            known: Known = Ready(wire.peek(), answer.standing, head.user)
        else:
            bodiless = replace(request, body=b"") if request.body else request
            known = Read(head, request, bodiless, len(data))
        if len(data) <= LONGEST:
            self._memory.keep(self._via, key_of(data), known)
