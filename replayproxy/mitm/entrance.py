"""How a client came in: what each of mitmproxy's modes tells of the destination before the first request."""

from __future__ import annotations

from dataclasses import dataclass

from mitmproxy.proxy import mode_specs
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import modes

from replayproxy.wire.events import Via

DEFAULT_PORT = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The way into one connection, or one tunnel.

    `host` and `port` are the destination where it is known, `scheme` that of the requests where it does not go by
    what is spoken. `looks`: TLS is told from HTTP by the first octets; else this is the port of a forward proxy.
    `reverse`: requests are for `host` even if they name the proxy. `user` is that of the tunnel.
    """

    host: str = ""
    port: int = 0
    scheme: str = ""
    looks: bool = False
    transparent: bool = False
    reverse: bool = False
    tunnelled: bool = False
    user: str | None = None

    def via(self, spoken: str) -> Via:
        """For the wire, where SPOKEN is "http" or "https"."""
        return Via(self.scheme or spoken, self.host, self.port, transparent=self.transparent, reverse=self.reverse)

    def shown(self, named: str | None, here: str) -> tuple[str, int]:
        """The host whose certificate is shown, and the port that is meant.

        NAMED is the host in the client's hello, HERE the address of ours that it has connected to.
        """
        known = here if self.reverse else self.host or here
        return named or known, self.port or DEFAULT_PORT


def entrance_of(context: Context, *, transparent: bool) -> Entrance:
    """The way that the client of CONTEXT came in; TRANSPARENT opens the proxy port to clients that know of no proxy."""
    mode = context.client.proxy_mode
    if isinstance(mode, mode_specs.ReverseMode):
        return _reverse(mode, keeps_host=bool(context.options.keep_host_header))
    if not context.layers or isinstance(context.layers[0], (modes.HttpProxy, modes.HttpUpstreamProxy)):
        return Entrance(looks=transparent, transparent=transparent)
    address = context.server.address
    if address is None:
        return Entrance(looks=True, transparent=True)
    return Entrance(host=address[0], port=address[1], looks=True)


def _reverse(mode: mode_specs.ReverseMode, *, keeps_host: bool) -> Entrance:
    """The destination that MODE spells; where it KEEPS_HOST, as mitmproxy's option says, requests name their own."""
    host, port = mode.address
    scheme = "http" if mode.scheme in ("http", "tcp") else "https"
    if keeps_host:
        return Entrance(scheme=scheme, looks=True, transparent=True)
    return Entrance(host=host, port=port, scheme=scheme, looks=True, reverse=True)
