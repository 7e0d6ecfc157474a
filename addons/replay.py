"""Replay inside mitmdump: `mitmdump -s addons/replay.py --set cassettes=out.yaml`.

The same layer and the same decisions as `replayproxy replay --engine mitmproxy`, in all of mitmproxy's modes that HTTP
can be spoken in; every other connection is closed. Nothing is dialled and no name is asked for, also where the replay
cannot begin. The control API is not served here.

mitmproxy takes this module itself for an addon too, so no name in it may be that of a hook.
"""

from __future__ import annotations

import datetime
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from mitmproxy import ctx, dns, exceptions, tls
from mitmproxy.addonmanager import Loader
from mitmproxy.connection import Client
from mitmproxy.proxy import layer, server_hooks
from mitmproxy.proxy.mode_servers import ProxyConnectionHandler

from replayproxy import settings, store
from replayproxy.authority import Authority
from replayproxy.core.clock import Clock
from replayproxy.core.episodes import Episodes
from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Blob
from replayproxy.mitm.certificates import ClientContexts
from replayproxy.mitm.replay_addon import NothingOut, ReplayAddon
from replayproxy.mitm.serving import Serving
from replayproxy.replay.service import ReplayService

logger = logging.getLogger(__name__)


class Replay:
    """Serves cassettes once the options are known; until then, and where that fails, nothing is let out."""

    def __init__(self) -> None:
        self._addon: NothingOut = NothingOut()
        self._begun = False

    def load(self, loader: Loader) -> None:
        """The options that `--set` takes."""
        loader.add_option("cassettes", Sequence[str], [], "Cassettes or folders of them. Needed.")
        loader.add_option("purpose", str, "local-debug", "What the recording is used for.")
        loader.add_option("seed", int, 0, "The seed of the first episode.")
        loader.add_option("clock", str, "recorded", "The episode's clock.")
        loader.add_option("replayproxy_config", str, "", "replayproxy.yaml to use.")
        loader.add_option("replayproxy_state_dir", str, "", "Where the CA is kept.")

    def configure(self, updated: set[str]) -> None:
        """Begin once the options are known; a mistake in them ends mitmproxy before it listens."""
        if self._begun or "cassettes" not in updated:
            return
        if not ctx.options.cassettes:
            raise exceptions.OptionsError("which cassettes? --set cassettes=NAME.yaml")
        try:
            self._begin()
        except ReplayproxyError as error:
            raise exceptions.OptionsError(str(error)) from None

    def _begin(self) -> None:
        configuration = settings.load(Path(ctx.options.replayproxy_config) if ctx.options.replayproxy_config else None)
        service = _service(configuration)
        authority = Authority.load_or_create(_state_dir())
        serving = Serving(service, ClientContexts(authority), limits=configuration.limits)
        self._addon = ReplayAddon(serving, _handler_of)
        self._begun = True
        # lazy: the eager strategy dials before anything has been asked
        ctx.options.update(connection_strategy="lazy", upstream_cert=False)

    def client_connected(self, client: Client) -> None:
        """See `ReplayAddon`."""
        self._addon.client_connected(client)

    def client_disconnected(self, client: Client) -> None:
        """See `ReplayAddon`."""
        if isinstance(self._addon, ReplayAddon):
            self._addon.client_disconnected(client)

    def next_layer(self, data: layer.NextLayer) -> None:
        """See `ReplayAddon`."""
        self._addon.next_layer(data)

    def tls_start_client(self, data: tls.TlsData) -> None:
        """See `ReplayAddon`."""
        if isinstance(self._addon, ReplayAddon):
            self._addon.tls_start_client(data)

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """See `NothingOut`."""
        self._addon.server_connect(data)

    def dns_request(self, flow: dns.DNSFlow) -> None:
        """See `NothingOut`."""
        self._addon.dns_request(flow)


def _service(configuration: settings.Settings) -> ReplayService:
    """The service of the cassettes that the options name. Raises ReplayproxyError for what cannot be served."""
    options = ctx.options
    stocking = store.Stocking(
        providers=configuration.providers,
        purpose=options.purpose,
        today=datetime.datetime.now(datetime.UTC).date().isoformat(),  # noqa: TID251 - rights run out by the host's clock
        state_dir=_state_dir(),
        tell=logger.info,
    )
    stock = stocking.stock(store.find([Path(one) for one in options.cassettes]).paths)
    for source in stock.sources:
        for warning in source.warnings:
            logger.warning(warning)
    Clock.parse(options.clock, stock.library.recorded_us)  # a mistake is told before anything is served

    def open_blob(cassette: int, blob: Blob) -> BinaryIO:
        return stock.sources[cassette].blobs.path(blob).open("rb")

    episodes = Episodes(stock.library, seed=options.seed, clock=options.clock)
    return ReplayService(stock.library, episodes, open_blob)


def _handler_of(client: Client) -> ProxyConnectionHandler:
    handler: ProxyConnectionHandler = ctx.master.addons.get("proxyserver").connections[client.id]
    return handler


def _state_dir() -> Path:
    if ctx.options.replayproxy_state_dir:
        return Path(ctx.options.replayproxy_state_dir)
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "replayproxy"


addons = [Replay()]
