"""Record with mitmdump: `mitmdump -s addons/record.py --set cassette=out.yaml --set rights=own-synthetic`.

The same layer and the same rules as `replayproxy record`; only the process around them is mitmproxy's own. Everything
that is forwarded is recorded; what may not be recorded is refused with 451. In modes other
than `regular` nothing is forwarded at all.

mitmproxy takes this module itself for an addon too, so no name in it may be that of a hook.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from mitmproxy import ctx, exceptions, tls
from mitmproxy.addonmanager import Loader
from mitmproxy.proxy import layer, server_hooks

from replayproxy import settings
from replayproxy.authority import Authority
from replayproxy.core.errors import ReplayproxyError
from replayproxy.mitm.addon import MitmproxySockets, RecordAddon
from replayproxy.mitm.recording import Wanted, begin, unknown_to_all
from replayproxy.store import Recording


class Record:
    """Starts a recording once mitmproxy runs, and writes the cassette when it ends."""

    def __init__(self) -> None:
        self._recording: Recording | None = None
        self._addon: RecordAddon | None = None
        self._failed = False

    def load(self, loader: Loader) -> None:
        """The options that `--set` takes."""
        loader.add_option("cassette", str, "", "Where to write the cassette (NAME.yaml). Needed.")
        loader.add_option("rights", str, "", "Rights of what is recorded: a preset or a file.")
        loader.add_option("on_existing", str, "fail", "If the cassette exists.", choices=["fail", "append", "replace"])
        loader.add_option("allow_hosts_recorded", Sequence[str], [], "Globs of the hosts that may be recorded.")
        loader.add_option("replayproxy_config", str, "", "replayproxy.yaml to use.")
        loader.add_option("replayproxy_state_dir", str, "", "Where the CA is kept.")

    def configure(self, updated: set[str]) -> None:
        """Start once the options are known; a mistake in them ends mitmproxy before it listens."""
        if self._recording is not None or "cassette" not in updated:
            return
        if not ctx.options.cassette:
            raise exceptions.OptionsError("where to? --set cassette=NAME.yaml")
        try:
            self._start()
        except ReplayproxyError as error:
            raise exceptions.OptionsError(str(error)) from None

    def _start(self) -> None:
        configuration = settings.load(Path(ctx.options.replayproxy_config) if ctx.options.replayproxy_config else None)
        wanted = Wanted(
            output=Path(ctx.options.cassette),
            on_existing=ctx.options.on_existing,
            rights=settings.rights_from(ctx.options.rights) if ctx.options.rights else None,
            providers=configuration.providers,
            registry=configuration.registry,
            allow_hosts=tuple(ctx.options.allow_hosts_recorded),
            limits=configuration.limits,
        )
        authority = Authority.load_or_create(_state_dir())
        self._recording, session = begin(wanted, MitmproxySockets(), self._stop, unknown_to_all)
        self._addon = RecordAddon(session, authority)
        # lazy: the eager strategy dials before anything has been admitted
        ctx.options.update(connection_strategy="lazy", upstream_cert=False)

    def _stop(self, error: ReplayproxyError) -> None:
        self._failed = True
        ctx.master.shutdown()
        del error  # the session has told it

    def next_layer(self, data: layer.NextLayer) -> None:
        """See `RecordAddon`."""
        if self._addon is not None:
            self._addon.next_layer(data)

    def tls_start_client(self, data: tls.TlsData) -> None:
        """See `RecordAddon`."""
        if self._addon is not None:
            self._addon.tls_start_client(data)

    def tls_failed_client(self, data: tls.TlsData) -> None:
        """See `RecordAddon`."""
        if self._addon is not None:
            self._addon.tls_failed_client(data)

    def server_connect(self, data: server_hooks.ServerConnectionHookData) -> None:
        """See `RecordAddon`; without a recording nothing is dialled at all."""
        if self._addon is not None:
            self._addon.server_connect(data)
        else:
            data.server.error = "there is no recording"

    def done(self) -> None:
        """Write the cassette; after a failure beside it, as what it is."""
        if self._recording is None:
            return
        recording, self._recording = self._recording, None
        if self._failed:
            recording.abandon()
        else:
            recording.finish()


def _state_dir() -> Path:
    if ctx.options.replayproxy_state_dir:
        return Path(ctx.options.replayproxy_state_dir)
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "replayproxy"


addons = [Record()]
