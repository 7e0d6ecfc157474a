"""TLS with a client, by mitmproxy's layer, as the native host has it: certificates, alerts, and an end that is told."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from mitmproxy.proxy import commands, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer
from OpenSSL import SSL

UNRECOGNIZED_NAME = b"\x15\x03\x03\x00\x02\x02\x70"
"""A fatal alert (RFC 8446 section 6): there can be no certificate for the name in the hello (RFC 6066 section 3)."""
CLOSED = "connection closed"
"""mitmproxy's word for a client that hung up during the handshake."""


class ReplayTls(ClientTLSLayer):
    """TLS on a client connection.

    SHOWN makes the connection for the name in the hello, and raises ValueError where there can be none; REFUSED is
    told the name, and why its client did not take the certificate.
    """

    def __init__(
        self,
        context: Context,
        shown: Callable[[str | None], SSL.Connection],
        refused: Callable[[str | None, str], None],
    ) -> None:
        super().__init__(context)
        self._shown = shown
        self._refused = refused
        self.made: SSL.Connection | None = None
        """What the hook `tls_start_client` is to answer with."""

    def start_tls(self) -> layer.CommandGenerator[None]:
        """The certificate for the name in the hello is at hand; the client has an alert where there is none."""
        try:
            self.made = self._shown(self.conn.sni)
        except ValueError:
            yield commands.SendData(self.conn, UNRECOGNIZED_NAME)
            yield commands.CloseConnection(self.conn)
            return
        yield from super().start_tls()

    def on_handshake_error(self, err: str) -> layer.CommandGenerator[None]:
        """The client has our alert if it is we who are not content, and is named if it has seen a certificate."""
        shaking = self.tls is not None
        if shaking:
            yield from self.tls_interact()
        if err != CLOSED:
            self._refused(self.conn.sni, err)
        elif shaking:
            self._refused(self.conn.sni, "it hung up when it was shown the certificate")
        yield from super().on_handshake_error(err)

    def send_close(self, command: commands.CloseConnection) -> layer.CommandGenerator[None]:
        """The client is told that no more comes (close_notify), so that it knows a whole answer from a torn one."""
        made: SSL.Connection | None = self.tls  # None until the handshake begins, whatever mitmproxy's types say
        if made is not None and isinstance(command, commands.CloseTcpConnection):
            with contextlib.suppress(SSL.Error):  # where the handshake has not been done there is nothing to end
                made.shutdown()
            yield from self.tls_interact()
        yield from super().send_close(command)
