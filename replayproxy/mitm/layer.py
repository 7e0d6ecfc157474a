"""The recording layer: HTTP between mitmproxy's client TLS and its server TLS.

Towards the client it uses the connections of `replayproxy.wire`, as replay does; towards upstreams it opens
`UpstreamLayer`s. It passes everything on as it comes and notes it in an `Exchange`. An exchange is recorded before the
client gets its last octet, so an answer that was delivered is on disk.
"""

from __future__ import annotations

import logging

from mitmproxy.connection import ConnectionState, Server
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer

from replayproxy.core.exchange import Headers, Interim, Origin, header
from replayproxy.mitm.exchange import Exchange
from replayproxy.mitm.opening import Opening, Openings
from replayproxy.mitm.pool import Pool
from replayproxy.mitm.probe import Probe
from replayproxy.mitm.session import Session
from replayproxy.mitm.upstream_layer import Answered, Cancel, ConnectFailed, SendBody, SendEnd, SendHead
from replayproxy.wire import events as wire
from replayproxy.wire import upstream
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.http2 import Http2Connection

logger = logging.getLogger(__name__)

TLS_HANDSHAKE = 0x16
CONTINUE = Interim(status=100, reason="Continue")
CONTINUE_SECONDS = 1.0
"""How long an upstream may take to send a 100; curl waits as long."""


class RecordLayer(layer.Layer):
    """One client connection, or the inside of one tunnel. `via` tells how the client came in."""

    def __init__(self, context: Context, session: Session, via: wire.Via) -> None:
        super().__init__(context)
        self._session = session
        self._via = via
        self._client: Http1Connection | Http2Connection | None = None
        self._exchanges: dict[int, Exchange] = {}
        self._pool = Pool(context, session)
        self._sources: dict[commands.Command, layer.Layer] = {}
        self._roots: dict[Server, layer.Layer] = {}
        self._tunnel: layer.Layer | None = None
        self._tunnel_to: tuple[str, int] | None = None
        self._probe: Probe | None = None
        self._asked: Probe | None = None
        self._patience: dict[commands.Command, Exchange] = {}
        self._openings = Openings(lambda server: session.sockets.is_lost(context.client, server))

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        try:
            yield from self._dispatch(event)
            yield from self._settle()
        except Exception as error:  # noqa: BLE001 - whatever it is, the client must not be left hanging
            # mitmproxy would log this and leave the client hanging; a closed connection is an honest answer
            self._session.crashed(error)
            yield commands.CloseConnection(self.context.client)

    def _dispatch(self, event: events.Event) -> layer.CommandGenerator[None]:
        if (yield from self._attended(event)):
            return
        if self._tunnel is not None and not self._is_ours(event):
            yield from self._tunnel.handle_event(event)
        elif isinstance(event, events.Start):
            h2 = self.context.client.alpn == b"h2"
            limits = self._session.limits
            self._client = Http2Connection(self._via, limits) if h2 else Http1Connection(self._via, limits)
        elif isinstance(event, events.CommandCompleted):
            if source := self._sources.pop(event.command, None):
                yield from self._to_child(source, event)
        elif isinstance(event, events.ConnectionEvent) and event.connection is not self.context.client:
            yield from self._to_child(self._roots[event.connection], event)  # type: ignore[index]
        elif isinstance(event, events.DataReceived):
            yield from self._received(event.data)
        elif isinstance(event, events.ConnectionClosed):
            yield from self._client_closed()

    def _attended(self, event: events.Event) -> layer.CommandGenerator[bool]:
        """Whether EVENT was one of those that this layer has asked for beside its exchanges: probes and wakeups."""
        if (opening := self._openings.woken(event)) is not None:
            yield from self._look_after(opening)
        elif self._probe is not None and (greets := self._probe.outcome(event)) is not None:
            yield from self._probed(self._probe, greets)
        elif self._asked is not None and self._asked.owns(event):
            pass  # it has had its outcome
        elif isinstance(event, events.Wakeup) and event.command in self._patience:
            self._go_on(self._patience.pop(event.command))
        else:
            return False
        return True

    def _is_ours(self, event: events.Event) -> bool:
        """Whether EVENT belongs to an exchange from before the tunnel; all others are the tunnel's."""
        if isinstance(event, events.CommandCompleted):
            return event.command in self._sources
        return isinstance(event, events.ConnectionEvent) and event.connection in self._roots

    # -- the client -----------------------------------------------------------------------------------

    def _received(self, data: bytes) -> layer.CommandGenerator[None]:
        if self._tunnel_to is not None:
            yield from self._enter_tunnel(data)
            return
        assert self._client is not None
        yield from self._on_client(self._client.receive(data))

    def _client_closed(self) -> layer.CommandGenerator[None]:
        """The client has gone. One that only ends its side behind its request cannot be told from it, and is rare."""
        assert self._client is not None
        yield from self._on_client(self._client.receive_eof(lost=True))
        yield commands.CloseConnection(self.context.client)

    def _on_client(self, happened: list[wire.Event]) -> layer.CommandGenerator[None]:
        for event in happened:
            match event:
                case wire.TunnelRequested():
                    yield from self._tunnel_requested(event)
                case wire.RequestStarted():
                    self._started(event)
                    yield from self._await_continue(event)
                case wire.Rejected():
                    self._session.warn(f"a client broke the protocol: {event.why}")
                case wire.RequestData() | wire.RequestEnded() | wire.StreamGone():
                    if exchange := self._exchanges.get(event.stream):
                        self._continued(exchange, event)
        yield from self._flush()

    def _tunnel_requested(self, event: wire.TunnelRequested) -> layer.CommandGenerator[None]:
        """Open the tunnel, unless its server speaks first, which only a server that may be called is asked."""
        if self._session.greetings.must_ask(event) and self._session.may_probe(event):
            self._probe = Probe(event, self._session.address(Origin.of("https", event.host, event.port)))
            self._asked = self._probe
            waiting = yield from self._probe.start()
            if not waiting:
                yield from self._probed(self._probe, greets=False)
        elif self._session.greetings.greets(event):
            yield from self._refuse_tunnel(event)
        else:
            yield from self._accept_tunnel(event)

    def _probed(self, probe: Probe, greets: bool) -> layer.CommandGenerator[None]:
        self._probe = None
        self._session.greetings.known[probe.tunnel.host, probe.tunnel.port] = greets
        yield from probe.end()
        yield from self._refuse_tunnel(probe.tunnel) if greets else self._accept_tunnel(probe.tunnel)

    def _refuse_tunnel(self, event: wire.TunnelRequested) -> layer.CommandGenerator[None]:
        assert self._client is not None
        self._client.respond(event.stream, *self._session.not_http(event))
        yield from self._flush()

    def _accept_tunnel(self, event: wire.TunnelRequested) -> layer.CommandGenerator[None]:
        assert isinstance(self._client, Http1Connection)
        early = self._client.accept_tunnel()
        self._tunnel_to = (event.host, event.port)
        yield from self._flush()
        if early:
            yield from self._enter_tunnel(early)

    def _enter_tunnel(self, first: bytes) -> layer.CommandGenerator[None]:
        """Put TLS, or HTTP in the clear, into the tunnel, whichever FIRST starts with."""
        assert self._tunnel_to is not None
        host, port = self._tunnel_to
        self._tunnel_to = None
        context = self.context.fork()
        context.server = Server(address=(host, port))  # names the leaf certificate; it is never opened
        if first[0] == TLS_HANDSHAKE:
            tls = ClientTLSLayer(context)
            tls.child_layer = RecordLayer(context, self._session, wire.Via("https", host, port))
            self._tunnel = tls
        else:
            self._tunnel = RecordLayer(context, self._session, wire.Via("http", host, port))
        yield from self._tunnel.handle_event(events.Start())
        yield from self._tunnel.handle_event(events.DataReceived(self.context.client, first))

    def _started(self, head: wire.RequestStarted) -> None:
        exchange = self._session.begin(head)
        refusal = self._session.admit(exchange)
        if refusal is not None:
            exchange.finished = True
            self._respond(exchange, *self._session.refused(exchange, refusal))
            return
        self._exchanges[head.stream] = exchange
        if self._session.known is None:
            self._pool.send(exchange, SendHead(exchange, _body_length(head)))

    def _await_continue(self, head: wire.RequestStarted) -> layer.CommandGenerator[None]:
        """See to it that a client that waits for a 100 before it sends its body does not wait for ever.

        The upstream has a moment to send one or to answer. Many never do over HTTP/2, and clients need not wait for
        them (RFC 9110 section 10.1.1); but some clients wait for as long as it takes. Where the body is needed to tell
        whether the answer is known already, the client is told to go on at once.
        """
        exchange = self._exchanges.get(head.stream)
        if exchange is None or not head.expects_continue:
            return
        if self._session.known is not None:
            self._go_on(exchange)
            return
        wakeup = commands.RequestWakeup(CONTINUE_SECONDS)
        self._patience[wakeup] = exchange
        yield wakeup

    def _go_on(self, exchange: Exchange) -> None:
        """Send the client a 100, unless it has had an answer, has gone, or does not wait any more."""
        assert self._client is not None
        silent = exchange.answer is None and not exchange.continued and not exchange.finished
        if silent and exchange.request is None and not exchange.request_body:
            exchange.continued = True
            self._client.interim(exchange.head.stream, CONTINUE)

    def _continued(self, exchange: Exchange, event: wire.RequestData | wire.RequestEnded | wire.StreamGone) -> None:
        holding = self._session.known is not None
        if isinstance(event, wire.StreamGone):
            self._gone(exchange)
        elif isinstance(event, wire.RequestData):
            exchange.request_body.append(event.data)
            if not holding:
                self._pool.send(exchange, SendBody(exchange, event.data))
        else:
            exchange.end_request(event.trailers)
            if holding:
                self._answer_or_forward(exchange)
            elif exchange.head.has_body:
                self._pool.send(exchange, SendEnd(exchange, event.trailers))

    def _answer_or_forward(self, exchange: Exchange) -> None:
        """Serve EXCHANGE from what is known already (`--on-existing new`), else ask the upstream."""
        assert self._session.known is not None
        assert exchange.request is not None
        found = self._session.known(exchange.request)
        if found is not None:
            interaction, answer = found
            self._session.tally.served.append(interaction)
            exchange.finished = True
            del self._exchanges[exchange.head.stream]
            self._respond(exchange, *answer)
            return
        self._pool.send(exchange, SendHead(exchange, _body_length(exchange.head)))
        if exchange.head.has_body:
            body = exchange.request.body
            assert isinstance(body, bytes)
            self._pool.send(exchange, SendBody(exchange, body))
            self._pool.send(exchange, SendEnd(exchange, exchange.request.trailers))

    def _gone(self, exchange: Exchange) -> None:
        del self._exchanges[exchange.head.stream]
        if not exchange.finished:
            exchange.finished = True
            self._session.client_left(exchange)
        self._pool.send(exchange, Cancel(exchange))

    def _respond(
        self, exchange: Exchange, status: int, reason: str, headers: tuple[tuple[str, str], ...], body: bytes
    ) -> None:
        assert self._client is not None
        self._client.respond(exchange.head.stream, status, reason, headers, body)

    def _flush(self) -> layer.CommandGenerator[None]:
        client = self._client
        if client is None:
            return
        if octets := client.take():
            yield commands.SendData(self.context.client, octets)
        if client.closing and self.context.client.state is not ConnectionState.CLOSED:
            if client.closing == "reset":
                self._session.reset(self.context.client)
            yield commands.CloseConnection(self.context.client)

    # -- the upstreams --------------------------------------------------------------------------------

    def _settle(self) -> layer.CommandGenerator[None]:
        """Carry out what the events so far have made due, until nothing is."""
        multiplexed = isinstance(self._client, Http2Connection)
        while due := self._pool.due(multiplexed):
            for root, event in due:
                yield from self._to_child(root, event)
        yield from self._flush()

    def _to_child(self, root: layer.Layer, event: events.Event) -> layer.CommandGenerator[None]:
        for command in root.handle_event(event):
            if isinstance(command, Answered):
                yield from self._answered(command)
            elif isinstance(command, ConnectFailed):
                self._connect_failed(command)
            else:
                if command.blocking or isinstance(command, commands.RequestWakeup):
                    self._sources[command] = root
                if isinstance(command, commands.OpenConnection):
                    self._roots[command.connection] = root
                    yield self._openings.watch(Opening(root, command))
                yield command

    def _look_after(self, opening: Opening) -> layer.CommandGenerator[None]:
        """End the wait for a connection that will not come; one that has come is waited for no more."""
        if opening.command not in self._sources:
            return
        if why := self._openings.failure(opening):
            del self._sources[opening.command]
            yield from self._to_child(opening.root, events.OpenConnectionCompleted(opening.command, why))
        else:
            yield self._openings.watch(opening)

    def _answered(self, command: Answered) -> layer.CommandGenerator[None]:
        """Note all of COMMAND, record what it ends, and only then let the client have it."""
        passed = [pair for pair in command.answers if not self._retried(command, *pair)]
        # mitmproxy closes the upstream of a client that is gone; that is not the upstream's doing
        client_gone = self.context.client.timestamp_end is not None
        for exchange, answer in passed:
            if exchange.finished:
                continue
            if client_gone and isinstance(answer, upstream.Broken):
                exchange.finished = True
                self._session.client_left(exchange)
            else:
                self._session.note(exchange, answer)
        for exchange, answer in passed:
            if exchange.head.stream not in self._exchanges:
                continue
            if exchange.unrecorded:
                self._withhold(exchange)
            else:
                self._pass_on(exchange, answer)
        yield from self._on_client(self._next_events())

    def _withhold(self, exchange: Exchange) -> None:
        """What could not be recorded does not reach the client whole: an answer that it has is on disk."""
        assert self._client is not None
        del self._exchanges[exchange.head.stream]
        if exchange.begun:
            self._client.abort(exchange.head.stream, "reset")
        else:
            self._respond(exchange, *self._session.lost(exchange))

    def _retried(self, command: Answered, exchange: Exchange, answer: upstream.UpstreamEvent) -> bool:
        """Whether EXCHANGE is sent again: an idle connection was closed under it (RFC 9110 section 9.2.2)."""
        lost = isinstance(answer, upstream.Broken) and answer.kind in ("closed", "reset")
        if not lost or exchange.answer is not None or exchange.head.has_body or not command.upstream.reused:
            return False
        if exchange.finished:
            return False
        self._pool.release(exchange)
        self._pool.send(exchange, SendHead(exchange, 0), fresh=True)
        return True

    def _pass_on(self, exchange: Exchange, answer: upstream.UpstreamEvent) -> None:
        assert self._client is not None
        stream = exchange.head.stream
        match answer:
            case upstream.Interim():
                self._client.interim(stream, answer.answer)
            case upstream.Head():
                exchange.begun = True
                length = _length(answer.headers) if answer.framing == "length" else None
                self._client.start(stream, answer.status, answer.reason, answer.headers, length=length)
            case upstream.Data():
                self._client.data(stream, answer.data)
            case upstream.End():
                del self._exchanges[stream]
                self._client.end(stream, answer.trailers)
            case upstream.Broken():
                del self._exchanges[stream]
                if exchange.answer is None:
                    self._respond(exchange, *self._session.failed(exchange, answer.kind, answer.why))
                else:
                    self._client.abort(stream, "reset" if answer.kind == "reset" else "close")

    def _connect_failed(self, command: ConnectFailed) -> None:
        exchange = command.exchange
        if exchange.finished:
            return
        exchange.finished = True
        answer = self._session.connect_failed(exchange, command.why)
        if self._exchanges.pop(exchange.head.stream, None):
            self._respond(exchange, *answer)

    def _next_events(self) -> list[wire.Event]:
        """What the client had pipelined behind an answer that has ended."""
        assert self._client is not None
        return self._client.receive(b"") if self._client.waiting else []


def _length(headers: Headers) -> int | None:
    """The value of Content-Length, which the connection has checked, or None."""
    text = header(headers, "content-length")
    return int(text.partition(",")[0]) if text is not None else None


def _body_length(head: wire.RequestStarted) -> int | None:
    """The length of a request's body: 0 without one, None where it comes in chunks."""
    return _length(head.headers) if head.has_body else 0
