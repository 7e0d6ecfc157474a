"""The control API of a replay: reset, step, snapshot and restore episodes, and tell their state."""

from __future__ import annotations

from replayproxy.control.routes import Call, Reply, Route, Routes, as_json, as_metrics
from replayproxy.core.episode import Episode
from replayproxy.core.episodes import DEFAULT, Episodes


class Router(Routes):
    """The calls of the contract's control API, for EPISODES, behind TOKEN."""

    def __init__(self, episodes: Episodes, token: str) -> None:
        self._episodes = episodes
        super().__init__(
            token,
            (
                Route("POST", "/reset", self._reset),
                Route("POST", "/step", self._step),
                Route("GET", "/state", self._state),
                Route("GET", "/journal", self._journal),
                Route("GET", "/time", self._time),
                Route("POST", "/snapshot", self._snapshot),
                Route("POST", "/restore", self._restore),
                Route("GET", "/healthz", self._healthy, open=True),
                Route("GET", "/readyz", self._healthy, open=True),
                Route("GET", "/metrics", self._metrics, open=True),
            ),
        )

    def _reset(self, call: Call) -> Reply:
        call.known("seed", "clock", "episode")
        clock = call.text("clock", "") or None
        return as_json(_about(self._episodes.reset(call.whole("seed"), call.text("episode", DEFAULT), clock)))

    def _step(self, call: Call) -> Reply:
        call.known("advance_seconds", "deliver", "episode")
        episode = self._episodes.get(call.text("episode", DEFAULT))
        call.flag("deliver")  # there are no webhooks to deliver yet, so that nothing is due is the whole answer
        seconds = call.number("advance_seconds")
        if seconds is not None:
            episode.advance(seconds)
        return as_json({"delivered": [], "episode": episode.id, "now": episode.clock.now})

    def _state(self, call: Call) -> Reply:
        call.known("episode")
        return as_json(self._episodes.get(call.text("episode", DEFAULT)).state())

    def _journal(self, call: Call) -> Reply:
        call.known("after", "episode")
        episode = self._episodes.get(call.text("episode", DEFAULT))
        after = call.whole("after") or 0
        return as_json({"episode": episode.id, "entries": [line.to_dict() for line in episode.journal.after(after)]})

    def _time(self, call: Call) -> Reply:
        call.known("episode")
        episode = self._episodes.get(call.text("episode", DEFAULT))
        return as_json({"episode": episode.id, "running": False, "virtual_time": episode.clock.now})

    def _snapshot(self, call: Call) -> Reply:
        call.known("episode")
        return as_json({"snapshot": self._episodes.snapshot(call.text("episode", DEFAULT))})

    def _restore(self, call: Call) -> Reply:
        call.known("snapshot")
        return as_json(_about(self._episodes.restore(call.text("snapshot", ""))))

    def _healthy(self, call: Call) -> Reply:
        call.known()
        return as_json({"status": "ok"})

    def _metrics(self, call: Call) -> Reply:
        call.known()
        episodes, total = self._episodes.all(), self._episodes.total()
        requests = (
            ('{decision="served"}', total.served.total()),
            ('{decision="misses"}', total.misses.total()),
            ('{decision="refusals"}', total.refusals.total()),
        )
        return as_metrics(
            (
                ("replayproxy_requests_total", "Requests since the start, by decision.", "counter", requests),
                ("replayproxy_episodes", "Episodes that there are.", "gauge", (("", len(episodes)),)),
                ("replayproxy_resets_total", "Resets since the start.", "counter", (("", self._episodes.resets),)),
            )
        )


def _about(episode: Episode) -> dict[str, object]:
    state = episode.state()
    return {name: state[name] for name in ("episode", "seed", "worlds", "now", "digest")}
