"""A mitmproxy master with only what recording needs: listener, next layer, upstream TLS, and our addon."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from mitmproxy.addons import core, next_layer, proxyserver, tlsconfig
from mitmproxy.master import Master
from mitmproxy.options import Options

from replayproxy.core.errors import OperationError
from replayproxy.mitm.addon import RecordAddon


class UpstreamTls(tlsconfig.TlsConfig):
    """mitmproxy's TLS towards upstreams, without its own CA, whose key it would write to the user's home."""

    def configure(self, updated: set[str]) -> None:
        """Nothing to prepare: clients are shown certificates by `RecordAddon`."""


class LoggedErrors(logging.Handler):
    """Keeps what mitmproxy logs as an error, which is how it tells that it cannot listen."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what RECORD says."""
        self.texts.append(record.getMessage())


class Started:
    """Tells when mitmproxy has opened its ports."""

    def __init__(self, started: asyncio.Event) -> None:
        self._event = started

    def running(self) -> None:
        """mitmproxy's hook: listeners are up, or have failed."""
        self._event.set()


class RecordMaster:
    """Runs the recorder until `stop` is called. `address` holds host and port once it listens."""

    def __init__(self, addon: RecordAddon, listen: tuple[str, int], upstream_bundle: Path) -> None:
        host, port = listen
        options = Options(listen_host=host, listen_port=port, mode=["regular"])
        self._master = Master(options)
        self._started = asyncio.Event()
        self._server = proxyserver.Proxyserver()
        self._master.addons.add(
            addon, core.Core(), self._server, next_layer.NextLayer(), UpstreamTls(), Started(self._started)
        )
        options.update(
            connection_strategy="lazy",
            upstream_cert=False,
            ssl_verify_upstream_trusted_ca=str(upstream_bundle),
        )
        self._listen = listen
        self._addon = addon
        self.address = listen

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until `stop`; `ready` is called once the port is open. Raises OperationError if it cannot be."""
        errors = LoggedErrors()
        logging.getLogger("mitmproxy").addHandler(errors)
        running = asyncio.ensure_future(self._master.run())
        try:
            await asyncio.wait(
                {running, asyncio.ensure_future(self._started.wait())}, return_when=asyncio.FIRST_COMPLETED
            )
            addresses = self._server.listen_addrs()
            if not addresses:
                raise self._cannot_listen(errors.texts)
            self.address = addresses[0][:2]
            ready()
            await running
        finally:
            logging.getLogger("mitmproxy").removeHandler(errors)
            self._addon.ending()
            await self._server.servers.update([])
            self._master.shutdown()
            await running

    def stop(self) -> None:
        """Let `run` return; what is in flight is not waited for, and not recorded."""
        self._addon.ending()
        self._master.shutdown()

    def _cannot_listen(self, texts: list[str]) -> OperationError:
        host, port = self._listen
        why = texts[0] if texts else "no reason was given"
        return OperationError(
            f"cannot listen on {host}:{port}: {why}", hint="choose another address with --listen HOST:PORT"
        )
