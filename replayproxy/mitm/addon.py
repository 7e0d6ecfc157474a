"""The recording addon: puts our layer above TLS, shows clients our certificates, and guards every connection.

The same class serves under our own master (`mitm.master`) and inside mitmdump (`addons/record.py`).
"""

from __future__ import annotations

import logging
import socket
import struct

from mitmproxy import ctx, tls
from mitmproxy.connection import Client, Server
from mitmproxy.proxy import layer, server_hooks
from mitmproxy.proxy.layers import modes

from replayproxy.authority import Authority
from replayproxy.mitm.certificates import ClientContexts
from replayproxy.mitm.layer import RecordLayer
from replayproxy.mitm.session import Session
from replayproxy.wire.events import Via

logger = logging.getLogger(__name__)

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class MitmproxySockets:
    """What the layers need to know of sockets, read from mitmproxy's proxy server addon."""

    def was_reset(self, client: Client, server: Server) -> bool:
        """Whether SERVER's connection ended with a TCP reset; mitmproxy tells its layers only that it ended."""
        reader = getattr(self._transport(client, server), "reader", None)
        return reader is not None and isinstance(reader.exception(), ConnectionResetError)

    def is_lost(self, client: Client, server: Server) -> bool:
        """Whether the task that makes SERVER's connection has ended without one."""
        task = getattr(self._transport(client, server), "handler", None)
        return task is not None and bool(task.done())

    def reset(self, client: Client) -> None:
        """CLIENT's connection will end with a TCP reset when it is closed."""
        writer = getattr(self._transport(client, client), "writer", None)
        sock = writer.get_extra_info("socket") if writer is not None else None
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)

    @staticmethod
    def _transport(client: Client, connection: Client | Server) -> object:
        handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
        return handler.transports.get(connection) if handler is not None else None


class RecordAddon:
    """Hooks only; what they decide is `Session`'s."""

    def __init__(self, session: Session, authority: Authority) -> None:
        self._session = session
        self._contexts = ClientContexts(authority)

    def ending(self) -> None:
        """From now on connections end because the recording does."""
        self._session.closing = True

    def next_layer(self, data: layer.NextLayer) -> None:
        """Every connection of a forward proxy is recorded by our layer."""
        if data.layer is None and data.context.layers and isinstance(data.context.layers[-1], modes.HttpProxy):
            data.layer = RecordLayer(data.context, self._session, Via())

    def tls_start_client(self, data: tls.TlsData) -> None:
        """The client is shown a certificate of our CA for the name it asked for."""
        address = data.context.server.address
        host = data.context.client.sni or (address[0] if address else "localhost")
        # h2 where the client offers it, as servers do; the upstream is then asked for h2 as well
        data.ssl_conn = self._contexts.connection(host, ("h2", "http/1.1"))

    def tls_failed_client(self, data: tls.TlsData) -> None:
        """A client that refuses our certificate is named."""
        address = data.context.server.address
        if address is not None:
            self._session.pinned(address[0], address[1], data.conn.error or "the handshake failed")

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """The second belt: a connection that the session did not ask for is not made."""
        if data.server.address not in self._session.dialled:
            data.server.error = "not asked for by this recording"
