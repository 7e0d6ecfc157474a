"""The upstream connections of one client connection, and the exchanges that wait for one.

mitmproxy lets five connections to one address be open for a client and makes the sixth wait for ever while the others
idle, so this pool never asks for more.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import cast

from mitmproxy.connection import Server
from mitmproxy.proxy import events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ServerTLSLayer

from replayproxy.core.exchange import Origin
from replayproxy.mitm.exchange import Exchange
from replayproxy.mitm.session import Session
from replayproxy.mitm.upstream_layer import UpstreamLayer

CONNECTIONS = 5


@dataclass(slots=True, eq=False)
class _Connection:
    root: layer.Layer
    upstream: UpstreamLayer


@dataclass(slots=True, eq=False)
class _Destination:
    connections: list[_Connection] = field(default_factory=list)
    waiting: deque[Exchange] = field(default_factory=deque)


class Pool:
    """Assigns exchanges to upstream connections. It only says what is due; the layer carries it out."""

    def __init__(self, context: Context, session: Session) -> None:
        self._context = context
        self._session = session
        self._destinations: dict[Origin, _Destination] = {}
        self._assigned: dict[Exchange, _Connection] = {}
        self._backlog: dict[Exchange, list[events.Event]] = {}
        self._due: list[tuple[layer.Layer, events.Event]] = []
        self._fresh: set[Exchange] = set()

    def send(self, exchange: Exchange, event: events.Event, *, fresh: bool = False) -> None:
        """EVENT is for EXCHANGE's upstream: due at once, or when a connection is to be had.

        With `fresh` the exchange gets a connection of its own that nothing was sent on before.
        """
        connection = self._assigned.get(exchange)
        if connection is not None:
            self._due.append((connection.root, event))
            return
        if exchange not in self._backlog:
            self._backlog[exchange] = []
            self._destination(exchange).waiting.append(exchange)
        if fresh:
            self._fresh.add(exchange)
        self._backlog[exchange].append(event)

    def release(self, exchange: Exchange) -> None:
        """EXCHANGE has no connection any more and may be sent anew."""
        self._assigned.pop(exchange, None)

    def due(self, multiplexed: bool) -> list[tuple[layer.Layer, events.Event]]:
        """The events that can be carried out now, and to which layer; none of them is told again.

        `multiplexed`: the client has many exchanges at once, so it is worth waiting whether a connection that is being
        opened will carry more than one.
        """
        for destination in self._destinations.values():
            while destination.waiting:
                connection = self._pick(destination, destination.waiting[0], multiplexed)
                if connection is None:
                    break
                exchange = destination.waiting.popleft()
                self._assigned[exchange] = connection
                self._due += [(connection.root, event) for event in self._backlog.pop(exchange)]
                connection.upstream.claim(exchange)
        due, self._due = self._due, []
        return due

    def _destination(self, exchange: Exchange) -> _Destination:
        return self._destinations.setdefault(exchange.head.origin, _Destination())

    def _pick(self, destination: _Destination, exchange: Exchange, multiplexed: bool) -> _Connection | None:
        destination.connections = [c for c in destination.connections if not c.upstream.closed]
        if exchange in self._fresh:
            self._fresh.discard(exchange)
            return self._open(destination, exchange)
        for connection in destination.connections:
            if connection.upstream.usable:
                return connection
        opening = any(connection.upstream.opening for connection in destination.connections)
        if len(destination.connections) >= CONNECTIONS or (multiplexed and opening):
            return None
        return self._open(destination, exchange)

    def _open(self, destination: _Destination, exchange: Exchange) -> _Connection:
        origin = exchange.head.origin
        context = self._context.fork()
        context.server = Server(address=self._session.address(origin))
        was_reset = self._session.was_reset
        client = self._context.client
        if origin.scheme == "https":
            context.server.sni = origin.host
            offers = (b"h2", b"http/1.1") if client.alpn == b"h2" else (b"http/1.1",)
            context.server.alpn_offers = offers
            root: layer.Layer = ServerTLSLayer(context)
            upstream = UpstreamLayer(context, lambda server: was_reset(client, server))
            cast("ServerTLSLayer", root).child_layer = upstream
        else:
            root = upstream = UpstreamLayer(context, lambda server: was_reset(client, server))
        connection = _Connection(root, upstream)
        destination.connections.append(connection)
        self._due.append((root, events.Start()))
        return connection
