"""The control API of a recording: it tells how far it is; there is nothing to reset."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from replayproxy.control.routes import Call, Reply, Route, Routes, as_json, as_metrics


class RecordRouter(Routes):
    """Tells the counts that COUNTS gives, by name, behind TOKEN."""

    def __init__(self, counts: Callable[[], Mapping[str, int]], token: str) -> None:
        self._counts = counts
        super().__init__(
            token,
            (
                Route("GET", "/state", self._state),
                Route("GET", "/healthz", self._healthy, open=True),
                Route("GET", "/readyz", self._healthy, open=True),
                Route("GET", "/metrics", self._metrics, open=True),
            ),
        )

    def _state(self, call: Call) -> Reply:
        call.known()
        return as_json({"mode": "record", **self._counts()})

    def _healthy(self, call: Call) -> Reply:
        call.known()
        return as_json({"status": "ok"})

    def _metrics(self, call: Call) -> Reply:
        call.known()
        values = tuple((f'{{kind="{name}"}}', count) for name, count in sorted(self._counts().items()))
        return as_metrics((("replayproxy_recording_total", "What the recording did, by kind.", "counter", values),))
