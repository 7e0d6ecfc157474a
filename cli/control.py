"""The control API of a run, as `serving.Control`: its own port or socket, away from the proxy's."""

from __future__ import annotations

from pathlib import Path

from replayproxy.engine.control import Router, control_host

from .options import Address


class ControlServer:
    """Serves ROUTER on ADDRESS: host and port, or the text `unix:PATH`."""

    def __init__(self, router: Router, address: Address | str) -> None:
        self._host = control_host(router)
        self._address = address

    async def start(self) -> str:
        """Serve; gives `http://HOST:PORT` or `unix:PATH`."""
        if isinstance(self._address, str):
            await self._host.listen(Path(self._address.removeprefix("unix:")))
        else:
            await self._host.listen(*self._address)
        return self._host.url

    async def stop(self) -> None:
        """Serve no more; a call on its way is answered first."""
        await self._host.stop(1.0)
