"""The server's side of TLS without a socket: octets of the wire in and out, plain octets in and out.

asyncio's own `start_tls` loses octets that arrive while the protocol is being replaced (measured), so the
handshake runs in the protocol, on memory buffers.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable

type Choose = Callable[[str], ssl.SSLContext]

READ_OCTETS = 65_536


class _Named(ssl.SSLObject):
    """A TLS connection that can be asked which context the name in the client's hello stands for."""

    choose: Choose | None = None
    name: str = ""


def _by_name(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> int | None:
    """Show the certificate for NAME (RFC 6066 section 3); an alert's number where there cannot be one."""
    if name and isinstance(connection, _Named) and connection.choose is not None:
        try:
            chosen = connection.choose(name)
        except ValueError:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        if chosen is not connection.context:
            connection.context = chosen
        connection.name = name
    return None


class TlsServer:
    """One TLS connection. CONTEXT is for a client that names no host, CHOOSE gives the one for a name."""

    __slots__ = ("_incoming", "_object", "_outgoing", "ended", "established", "shown")

    def __init__(self, context: ssl.SSLContext, choose: Choose) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        context.sslobject_class = _Named
        context.sni_callback = _by_name
        made = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        assert isinstance(made, _Named)
        made.choose = choose
        self._object = made
        self.established = False
        self.shown = False
        """Whether the client has been shown a certificate that it has not taken yet."""
        self.ended = False
        """Whether the client has said that it sends no more."""

    @property
    def name(self) -> str:
        """The host that the client named, "" if none."""
        return self._object.name

    @property
    def protocol(self) -> str | None:
        """The protocol agreed on by ALPN."""
        return self._object.selected_alpn_protocol()

    def receive(self, data: bytes) -> bytes:
        """The plain octets in DATA. Raises ssl.SSLError where TLS is at its end; `take` may hold an alert then."""
        self._incoming.write(data)
        try:
            if not self.established:
                self._object.do_handshake()
                self.established = True
                self.shown = False
                if not self._incoming.pending:
                    return b""  # to ask would cost an exception
            return self._read()
        except ssl.SSLWantReadError:
            self.shown = self.shown or (not self.established and self._outgoing.pending > 0)
            return b""

    def _read(self) -> bytes:
        pieces = []
        try:
            while True:
                piece = self._object.read(READ_OCTETS)
                if not piece:
                    self.ended = True
                    break
                pieces.append(piece)
                if not self._incoming.pending and not self._object.pending():
                    break
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def write(self, data: bytes) -> None:
        """DATA goes to the client, once `take` is sent."""
        self._object.write(data)

    def take(self) -> bytes:
        """The octets to send now; they are given once."""
        return self._outgoing.read()

    def close(self) -> None:
        """The client is told that no more comes."""
        if self.established:
            try:
                self._object.unwrap()
            except ssl.SSLError:
                return  # it waits for the client's own closure, which the host does by other means
