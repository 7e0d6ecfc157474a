"""One recording: what all its connections share. Decides through the core, writes through the log, counts.

The layers call it synchronously; it never waits. What it cannot write ends the recording (`on_failure`).
"""

from __future__ import annotations

import logging
import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from mitmproxy.connection import Client, Server

from replayproxy.core.admission import Admission, Refusal
from replayproxy.core.coding import content_codings
from replayproxy.core.errors import ReplayproxyError, RightsError
from replayproxy.core.exchange import FaultKind, FaultPhase, Headers, Interaction, Origin, Request, header
from replayproxy.core.problem import Problem, problem_response
from replayproxy.core.recorder import Observed, Recorder
from replayproxy.core.rights import Tag, difference
from replayproxy.mitm.exchange import Exchange
from replayproxy.mitm.large import LARGE_OCTETS, LargeBody, Writer
from replayproxy.mitm.opening import LOST
from replayproxy.mitm.probe import Greetings
from replayproxy.wire import upstream
from replayproxy.wire.events import RequestStarted, TunnelRequested
from replayproxy.wire.limits import Limits

logger = logging.getLogger(__name__)

type Answer = tuple[int, str, Headers, bytes]
"""Status, reason, fields and body of an answer of the proxy's own, or of a known recording."""

type Known = Callable[[Request], tuple[str, Answer] | None]
"""The id of the interaction that answers a request already, and the answer; None where none does."""

ERRNO = re.compile(r"\[Errno (-?\d+)\]|Errno (-?\d+)")
TITLES = {"refused": "This may not be recorded", "upstream-failed": "The upstream could not be reached"}
REFUSED = frozenset({111, 61, 10061})
TIMED_OUT = frozenset({110, 60, 10060})


class Log(Protocol):
    """Where finished interactions go at once."""

    def append(self, interaction: Interaction) -> None:
        """INTERACTION is on disk, safe from a crash of this process; raises OperationError."""

    def blob_writer(self) -> Writer:
        """Writes a body that is too large to be held; raises OperationError."""


class Sockets(Protocol):
    """The little that layers cannot know of their connections."""

    def was_reset(self, client: Client, server: Server) -> bool:
        """Whether SERVER's connection ended with a TCP reset."""

    def is_lost(self, client: Client, server: Server) -> bool:
        """Whether nobody is making SERVER's connection any more, though nothing was told of it."""

    def reset(self, client: Client) -> None:
        """CLIENT's connection will end with a TCP reset when it is closed."""


@dataclass(slots=True)
class Tally:
    """What a recording has done so far; lists as the report wants them."""

    recorded: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    proposals: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Session:
    """See the module. `clock_us` is the wall clock in microseconds; `known` answers for `--on-existing new`."""

    admission: Admission
    recorder: Recorder
    log: Log
    sockets: Sockets
    clock_us: Callable[[], int]
    on_failure: Callable[[ReplayproxyError], None]
    connect_to: Mapping[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    next_order: int = 0
    known: Known | None = None
    shared_rights: Tag | None = None
    tally: Tally = field(default_factory=Tally)
    failure: ReplayproxyError | None = None
    dialled: set[tuple[str, int]] = field(default_factory=set)
    greetings: Greetings = field(default_factory=Greetings)
    closing: bool = False
    """Whether the recording is being ended, so that connections end without their clients' doing."""

    # -- before a byte leaves -------------------------------------------------------------------------

    def begin(self, head: RequestStarted) -> Exchange:
        """A new exchange, which has no place in the order yet."""
        return Exchange(order=-1, started_us=self.clock_us(), head=head, rights=None)

    def admit(self, exchange: Exchange) -> Refusal | None:
        """None if EXCHANGE may be made, with rights and order noted; else why not.

        The order is that in which requests come: answers come in any.
        """
        if self.failure is not None:
            return Refusal(code="recording-stopped", message=self.failure.what, hint=self.failure.hint)
        path = exchange.head.target.partition("?")[0]
        decision = self.admission.decide(exchange.head.origin, path)
        if isinstance(decision, Refusal):
            return decision
        exchange.rights = _beside(decision, self.shared_rights or Tag())
        exchange.order = self.next_order
        self.next_order += 1
        return None

    def may_probe(self, tunnel: TunnelRequested) -> bool:
        """Whether the server behind TUNNEL may be called at all; what is not admitted is told inside the tunnel."""
        try:
            origin = Origin.of("https", tunnel.host, tunnel.port)
        except ValueError:
            return False
        return self.failure is None and isinstance(self.admission.decide(origin, "/"), Tag)

    def not_http(self, tunnel: TunnelRequested) -> Answer:
        """The 501 for a tunnel to a server that speaks first, which is not HTTP and not recorded."""
        where = f"{tunnel.host}:{tunnel.port}"
        message = f"the server at {where} speaks first, so it does not speak HTTP, and is not recorded"
        hint = "only HTTP, in the clear or over TLS, is recorded"
        self.warn(f"{message}\nhint: {hint}")
        told = Problem(
            code="not-http", status=501, title=TITLES["refused"], detail=message, method="CONNECT", url=where, hint=hint
        )
        return problem_response(told, "refused")

    def refused(self, exchange: Exchange, refusal: Refusal) -> Answer:
        """The 451 for REFUSAL, noted."""
        self.tally.refusals.append(f"{exchange.head.method} {_bare(exchange)}")
        self._say(f"refused {exchange.head.method} {_bare(exchange)}: {refusal.message}", refusal.hint)
        return _problem(exchange, 451, "refused", refusal.code, refusal.message, refusal.hint)

    def address(self, origin: Origin) -> tuple[str, int]:
        """Where to connect for ORIGIN: what --connect-to says, else its own host and port."""
        address = self.connect_to.get((origin.host, origin.port), (origin.host, origin.port))
        self.dialled.add(address)
        return address

    # -- what came back -------------------------------------------------------------------------------

    def note(self, exchange: Exchange, answer: upstream.UpstreamEvent) -> None:
        """ANSWER is part of EXCHANGE; what ends it records it."""
        now = self._elapsed(exchange)
        match answer:
            case upstream.Interim():
                self._interim(exchange, answer)
            case upstream.Head():
                exchange.saw_head(answer, now)
            case upstream.Data():
                self._data(exchange, answer, now)
            case upstream.End():
                self._record(exchange, lambda: exchange.whole(answer, now))
            case upstream.Broken() if self.closing:
                exchange.finished = True  # we have hung up, not the upstream
            case upstream.Broken():
                self._fault(exchange, answer.kind, "head" if exchange.answer is None else "body", now)

    def connect_failed(self, exchange: Exchange, why: str) -> Answer:
        """The 502 for a connection that could not be made; recorded as a fault unless trust was the reason."""
        kind = connect_fault(why)
        if kind is not None:
            self._fault(exchange, kind, "connect", self._elapsed(exchange))
            return self.failed(exchange, kind, why)
        self.tally.warnings.append(f"{exchange.head.origin}: {why}")
        self._say(f"{exchange.head.origin} was not recorded: {why}", "--upstream-ca FILE, if its CA is a private one")
        return _problem(exchange, 502, "upstream-failed", "upstream-certificate", why, "--upstream-ca FILE")

    def failed(self, exchange: Exchange, kind: FaultKind, why: str) -> Answer:
        """The 502 that stands for a fault while recording."""
        message = f"the upstream's connection broke ({kind}): {why}"
        hint = "replay gives the client the fault itself"
        return _problem(exchange, 502, "upstream-failed", f"upstream-{kind}", message, hint)

    def lost(self, exchange: Exchange) -> Answer:
        """The 502 for an answer that came and could not be kept."""
        why = self.failure.what if self.failure else "the recording is over"
        return _problem(exchange, 502, "upstream-failed", "recording-stopped", why, "see what `record` printed")

    def client_left(self, exchange: Exchange) -> None:
        """The client hung up: a stream is recorded as far as it came, anything else as a timeout.

        Nothing is recorded of what the recording's own end cut off, nor of a request that was not sent whole.
        """
        if self.closing:
            return
        if exchange.request is None:
            self.warn(f"not recorded, the client left inside its request: {exchange.head.method} {_bare(exchange)}")
            return
        if not exchange.streamed:
            self.tally.faults.append(f"{exchange.head.method} {_bare(exchange)} timeout")
        now = self._elapsed(exchange)
        self._record(exchange, lambda: exchange.left(now))

    def pinned(self, host: str, port: int, why: str) -> None:
        """A client refused the certificate it was shown for HOST:PORT."""
        name = f"{host}:{port}"
        if name not in self.tally.pinned:
            self.tally.pinned.append(name)
            self._say(f"a client refused the certificate for {name}: {why}", "trust the CA: `replayproxy env`")

    def warn(self, text: str) -> None:
        """TEXT goes to stderr and into the report."""
        self.tally.warnings.append(text)
        logger.warning(text)

    def crashed(self, error: Exception) -> None:
        """A fault of our own: told once, with the trace for -v; the connection it met is closed."""
        self.tally.warnings.append(f"internal error: {type(error).__name__}: {error}")
        logger.error("internal error: %s: %s", type(error).__name__, error)
        logger.debug("%s", "".join(traceback.format_exception(error)))

    def was_reset(self, client: Client, server: Server) -> bool:
        """Whether SERVER's connection ended with a TCP reset."""
        return self.sockets.was_reset(client, server)

    def reset(self, client: Client) -> None:
        """CLIENT's connection will end with a TCP reset."""
        self.sockets.reset(client)

    # -- inside ---------------------------------------------------------------------------------------

    def _data(self, exchange: Exchange, answer: upstream.Data, now: int) -> None:
        """Note octets; a body that grows large goes to a file while it comes in, unless its coding needs it whole."""
        try:
            exchange.saw_data(answer, now)
            head = exchange.answer
            if exchange.held > LARGE_OCTETS and head is not None and not content_codings(head.headers):
                kind = header(head.headers, "content-type") or ""
                stream = self.recorder.stream(exchange.head.origin.host, kind)
                exchange.let_go(LargeBody(self.log.blob_writer(), stream))
        except ReplayproxyError as error:
            exchange.finished = exchange.unrecorded = True
            self._fail(error)

    def _fail(self, error: ReplayproxyError) -> None:
        if self.failure is None:
            self.failure = error
            self.on_failure(error)

    def _interim(self, exchange: Exchange, answer: upstream.Interim) -> None:
        if answer.answer.status == 100:
            exchange.continued = True
        else:
            exchange.interim.append(answer.answer)

    def _fault(self, exchange: Exchange, kind: FaultKind, phase: FaultPhase, now: int) -> None:
        self.tally.faults.append(f"{exchange.head.method} {_bare(exchange)} {kind}")
        self._record(exchange, lambda: exchange.broken(kind, phase, now))

    def _record(self, exchange: Exchange, observe: Callable[[], Observed]) -> None:
        """Keep what OBSERVE gives, unless the recording has failed; what it was doing is over in any case."""
        exchange.finished = True
        exchange.unrecorded = True
        if self.failure is not None:
            if exchange.large is not None:
                exchange.large.discard()
            return
        try:
            seen = observe()
            interaction = self.recorder.finish(seen)
            self.log.append(interaction)
        except ReplayproxyError as error:
            self._fail(error)
            return
        exchange.unrecorded = False
        self.tally.hosts.add(seen.request.origin.host)
        self.tally.recorded.append(interaction.id)
        self.tally.proposals.update(proposal.field for proposal in interaction.proposals)

    def _elapsed(self, exchange: Exchange) -> int:
        return max(0, (self.clock_us() - exchange.started_us) // 1000)

    def _say(self, what: str, hint: str) -> None:
        logger.warning("%s\nhint: %s", what, hint)


def _beside(tag: Tag, base: Tag) -> Tag | None:
    """What to write beside BASE for TAG: how it differs, or all of it where no difference can tell that."""
    try:
        return difference(tag, base)
    except RightsError:
        return tag


def connect_fault(why: str) -> FaultKind | None:
    """What kind of fault mitmproxy's text for a failed connection tells; None where TLS did not come about."""
    if why == LOST:
        return "reset"
    found = ERRNO.search(why)
    number = int(found.group(1) or found.group(2)) if found else None
    if number in REFUSED or "Connect call failed" in why:
        return "refused"
    if number in TIMED_OUT or "timed out" in why.lower():
        return "timeout"
    if number is not None and (number < 0 or "name" in why.lower()):
        return "dns"
    if number is not None:
        return "refused"
    return "closed" if why == "connection closed" else None


def _bare(exchange: Exchange) -> str:
    """The URL without its query, which may hold secrets that nothing has masked yet."""
    return f"{exchange.head.origin}{exchange.head.target.partition('?')[0]}"


def _problem(exchange: Exchange, status: int, decision: str, code: str, message: str, hint: str) -> Answer:
    """A problem document (RFC 9457) of the form that replay's have."""
    told = Problem(
        code=code,
        status=status,
        title=TITLES[decision],
        detail=message,
        method=exchange.head.method,
        url=_bare(exchange),
        hint=hint,
    )
    return problem_response(told, decision)
