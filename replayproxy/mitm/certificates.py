"""The TLS contexts that clients are shown, for mitmproxy's layers: pyOpenSSL's, with leaves of our CA."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from OpenSSL import SSL

from replayproxy.authority import Authority

CONTEXTS = 1024


class ClientContexts:
    """A context for each host and preference of protocols; the most recent CONTEXTS are kept.

    Clients of one context resume their sessions by tickets, so a context is worth keeping for more than its cost.
    """

    def __init__(self, authority: Authority) -> None:
        self._authority = authority
        self._made: OrderedDict[tuple[str, tuple[str, ...]], SSL.Context] = OrderedDict()

    def connection(self, host: str, protocols: tuple[str, ...]) -> SSL.Connection:
        """A server's connection that shows HOST's certificate and takes the first of PROTOCOLS that is offered.

        Raises ValueError for a host that can have no certificate.
        """
        made = SSL.Connection(self._context(host, protocols))
        made.set_accept_state()
        return made

    def _context(self, host: str, protocols: tuple[str, ...]) -> SSL.Context:
        key = (host, protocols)
        context = self._made.get(key)
        if context is None:
            leaf = self._authority.leaf(host)
            context = SSL.Context(SSL.TLS_SERVER_METHOD)
            context.set_min_proto_version(SSL.TLS1_2_VERSION)
            context.set_options(SSL.OP_NO_RENEGOTIATION)
            context.use_certificate(leaf.certificate)
            context.use_privatekey(leaf.key)
            context.set_alpn_select_callback(first_of(protocols))
            self._made[key] = context
            while len(self._made) > CONTEXTS:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(key)
        return context


def first_of(protocols: tuple[str, ...]) -> Callable[[SSL.Connection, list[bytes]], Any]:
    """What takes the first of PROTOCOLS that a client offers, none where it offers none of them (RFC 7301)."""
    preferred = [protocol.encode() for protocol in protocols]

    def choose(_: SSL.Connection, offers: list[bytes]) -> Any:
        return next((protocol for protocol in preferred if protocol in offers), SSL.NO_OVERLAPPING_PROTOCOLS)

    return choose
