"""The replay addon: puts our layer on every connection, shows clients our certificates, and lets nothing out.

The same class serves under our own master (`mitm.replaying`) and inside mitmdump (`addons/replay.py`). There are two
belts: our layer asks for no server, whatever the mode; and every connection to a server is stopped before it is made,
whoever asked for it. mitmproxy goes on after an exception in a hook as if there were no hook, so none leaves one here.
"""

from __future__ import annotations

from collections.abc import Callable

from mitmproxy import dns, tls
from mitmproxy.connection import Client
from mitmproxy.net.dns import response_codes
from mitmproxy.proxy import layer, mode_specs, server_hooks
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.mode_servers import ProxyConnectionHandler

from replayproxy.mitm.entrance import entrance_of
from replayproxy.mitm.replay_layer import FULL, NOTHING_DIALLED, ClosedLayer, ReplayLayer
from replayproxy.mitm.replay_tls import ReplayTls
from replayproxy.mitm.serving import Serving

type FindHandler = Callable[[Client], ProxyConnectionHandler]
"""mitmproxy's handler of a client that is connected."""


class NothingOut:
    """The second belt, and what a replay that could not begin does: no server is called and no name is asked for."""

    def client_connected(self, client: Client) -> None:
        """A client that HTTP cannot be spoken with is closed."""
        if client.transport_protocol != "tcp" or isinstance(client.proxy_mode, mode_specs.DnsMode):
            client.error = "a replay serves HTTP over TCP"

    def next_layer(self, data: layer.NextLayer) -> None:
        """Whatever was to come next, it is the end."""
        data.layer = ClosedLayer(data.context)

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """No connection to a server is made."""
        data.server.error = NOTHING_DIALLED

    def dns_request(self, flow: dns.DNSFlow) -> None:
        """No name is asked for."""
        flow.response = flow.request.fail(response_codes.REFUSED)


class ReplayAddon(NothingOut):
    """Hooks only; what they decide is the layers'."""

    def __init__(self, serving: Serving, handler_of: FindHandler) -> None:
        self._serving = serving
        self._handler_of = handler_of

    def client_connected(self, client: Client) -> None:
        """The client is known, and turned away if there are too many."""
        super().client_connected(client)
        if client.error:
            return
        try:
            handler = self._handler_of(client)
            if not self._serving.arrived(handler):
                handler.layer = ClosedLayer(handler.layer.context, FULL)
        except Exception as error:  # noqa: BLE001 - mitmproxy would go on without us
            self._serving.told(error)
            client.error = NOTHING_DIALLED

    def client_disconnected(self, client: Client) -> None:
        """The client is gone, and what it was still to be sent is given up."""
        self._serving.left(client)

    def next_layer(self, data: layer.NextLayer) -> None:
        """Every connection is answered by our layer, also one that another addon has decided on."""
        try:
            data.layer = self._layer(data.context)
        except Exception as error:  # noqa: BLE001 - mitmproxy would take a layer of its own
            self._serving.told(error)
            super().next_layer(data)

    def _layer(self, context: Context) -> layer.Layer:
        socket = self._serving.sockets[context.client.id]
        socket.answering = True
        secure = context.client.tls_established  # another addon has put TLS beneath us
        entrance = entrance_of(context, transparent=self._serving.transparent)
        return ReplayLayer(context, self._serving, socket, entrance, secure=secure)

    def tls_start_client(self, data: tls.TlsData) -> None:
        """The client is shown a certificate of our CA for the name it asked for."""
        for one in reversed(data.context.layers):
            if isinstance(one, ReplayTls):
                data.ssl_conn = one.made
                return
