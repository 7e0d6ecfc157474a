"""The control API of a replay, as the contract has it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from replayproxy.control import Router
from replayproxy.core.episodes import Episodes
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.core.library import Library
from replayproxy.core.replayer import Served, answer

ORIGIN = Origin("https", "api.example.test", 443)
TOKEN = "secret"
KEYS = (
    *("episode", "seed", "worlds", "now", "running", "served", "misses", "refusals", "unused", "cursors"),
    *("digest", "world"),
)


def ask(target: str) -> Request:
    """A request."""
    return Request(method="GET", origin=ORIGIN, target=target)


TAPE = Cassette(
    name="tape",
    recorded_us=1_893_553_445_000_000,
    interactions=tuple(
        Interaction(id=text, order=order, request=ask("/a"), response=Response(status=200, body=text.encode()))
        for order, text in enumerate(["one", "two"])
    ),
)


class Lab:
    """A router and the episodes that it speaks for."""

    def __init__(self) -> None:
        library = Library.build([TAPE], purpose="local-debug")
        self.episodes = Episodes(library, seed=0, clock="recorded")
        self.router = Router(self.episodes, TOKEN)

    def raw(
        self, line: str, body: Mapping[str, object] = MappingProxyType({}), token: str | None = TOKEN
    ) -> tuple[int, bytes]:
        """Status and body of a call, given as `METHOD PATH?QUERY`."""
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        headers = (("Authorization", f"Bearer {token}"),) if token else ()
        status, _, octets = self.router(method, path, query, headers, json.dumps(dict(body)).encode() if body else b"")
        return status, octets

    def call(self, line: str, **body: object) -> Any:
        """What a call that goes well replies."""
        status, octets = self.raw(line, body)
        assert status == 200, octets
        return json.loads(octets)

    def get(self, target: str, user: str | None = None) -> bytes | None:
        """What a client is answered, None for a miss."""
        episode = self.episodes.of_user(user)
        assert episode
        decision = answer(episode, ask(target))
        assert not isinstance(decision, Served) or isinstance(decision.response.body, bytes)
        return decision.response.body if isinstance(decision, Served) else None  # type: ignore[return-value]


@pytest.fixture
def lab() -> Lab:
    """A fresh one."""
    return Lab()


def test_reset(lab: Lab) -> None:
    """A fresh episode, whose digest is that of its state."""
    first = lab.call("POST /reset", seed=7)
    assert list(first) == ["digest", "episode", "now", "seed", "worlds"]
    assert (first["episode"], first["seed"], first["worlds"]) == ("default", 7, 1)
    assert first["now"] == "2030-01-02T03:04:05Z"
    assert lab.call("GET /state")["digest"] == first["digest"]
    assert lab.get("/a") == b"one"
    assert lab.call("GET /state")["digest"] != first["digest"]
    assert lab.call("POST /reset", seed=7) == first
    assert lab.get("/a") == b"one"
    assert lab.call("POST /reset")["seed"] == 8


def test_episodes_by_id(lab: Lab) -> None:
    """Made by reset, told by every call that asks for one."""
    lab.call("POST /reset", seed=1, episode="left")
    lab.get("/a", "left")
    assert lab.call("GET /state?episode=left")["served"] == 1
    assert lab.call("GET /state")["served"] == 0
    assert lab.call("GET /time?episode=left")["episode"] == "left"
    assert lab.call("POST /step", episode="left", advance_seconds=1)["episode"] == "left"
    assert len(lab.call("GET /journal?episode=left")["entries"]) == 1


def test_state_is_sorted_and_has_no_float(lab: Lab) -> None:
    """Every key of the contract, once."""
    lab.get("/a")
    lab.get("/never")
    _, raw = lab.raw("GET /state")
    keys = [name for name, _ in json.loads(raw, object_pairs_hook=list)]
    assert keys == sorted(KEYS)
    assert re.search(rb"\d\.\d", raw) is None
    state = json.loads(raw)
    assert (state["served"], state["misses"], state["refusals"], state["running"]) == (1, 1, 0, False)
    assert state["unused"] == ["two GET https://api.example.test/a"]


def test_journal(lab: Lab) -> None:
    """All of it, or what came after a line."""
    lab.get("/a")
    lab.get("/never")
    assert [line["decision"] for line in lab.call("GET /journal")["entries"]] == ["served", "miss"]
    (line,) = lab.call("GET /journal?after=1")["entries"]
    assert (line["n"], line["url"]) == (2, "https://api.example.test/never")
    assert lab.call("GET /journal?after=9")["entries"] == []


def test_step_moves_the_clock(lab: Lab) -> None:
    """By what is asked; nothing is due in this version."""
    assert lab.call("POST /step", advance_seconds=90, deliver=True) == {
        "delivered": [],
        "episode": "default",
        "now": "2030-01-02T03:05:35Z",
    }
    assert lab.call("POST /step")["now"] == "2030-01-02T03:05:35Z"
    assert lab.call("GET /time") == {
        "episode": "default",
        "running": False,
        "virtual_time": "2030-01-02T03:05:35Z",
    }
    assert lab.call("GET /state")["now"] == "2030-01-02T03:05:35Z"
    assert lab.call("POST /reset", seed=1, clock="2040-01-01T00:00:00Z")["now"] == "2040-01-01T00:00:00Z"
    assert lab.call("POST /reset", seed=1)["now"] == "2030-01-02T03:04:05Z"


def test_snapshot_and_restore(lab: Lab) -> None:
    """Cursors, digest, clock and journal come back."""
    lab.call("POST /reset", seed=1)
    assert lab.get("/a") == b"one"
    before = lab.call("GET /state")
    name = lab.call("POST /snapshot")["snapshot"]
    assert lab.get("/a") == b"two"
    lab.call("POST /step", advance_seconds=5)
    assert lab.call("POST /restore", snapshot=name)["digest"] == before["digest"]
    assert lab.call("GET /state") == before
    assert len(lab.call("GET /journal")["entries"]) == 1
    assert lab.get("/a") == b"two"


BAD: dict[str, tuple[str, dict[str, object], str]] = {
    "seed as text": ("POST /reset", {"seed": "7"}, "seed"),
    "seed as a boolean": ("POST /reset", {"seed": True}, "seed"),
    "seed below 0": ("POST /reset", {"seed": -1}, "seed"),
    "seed with a fraction": ("POST /reset", {"seed": 1.5}, "seed"),
    "clock": ("POST /reset", {"clock": "noon"}, "noon"),
    "clock of a later version": ("POST /reset", {"clock": "seed"}, "not supported"),
    "episode": ("POST /reset", {"episode": "a:b"}, "a:b"),
    "misspelt": ("POST /reset", {"sede": 7}, "sede"),
    "back in time": ("POST /step", {"advance_seconds": -1}, "-1"),
    "not a number": ("POST /step", {"advance_seconds": float("nan")}, "nan"),
    "deliver": ("POST /step", {"deliver": "yes"}, "deliver"),
    "unknown episode": ("POST /step", {"episode": "nobody"}, "nobody"),
    "unknown episode's state": ("GET /state?episode=nobody", {}, "nobody"),
    "unknown snapshot": ("POST /restore", {"snapshot": "s"}, "'s'"),
    "no snapshot": ("POST /restore", {}, "snapshot"),
    "after": ("GET /journal?after=-1", {}, "after"),
    "argument for none": ("GET /healthz?a=1", {}, "a: "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_are_told_and_change_nothing(lab: Lab, name: str) -> None:
    """400 with the value or field to blame and a hint."""
    line, body, blamed = BAD[name]
    before = lab.call("GET /state")
    status, octets = lab.raw(line, body)
    told = json.loads(octets)
    assert status == 400
    assert blamed in told["detail"]
    assert told["hint"]
    assert lab.call("GET /state") == before


def test_only_health_and_metrics_need_no_token(lab: Lab) -> None:
    """Everything else tells or changes an episode."""
    for path in ("/healthz", "/readyz", "/metrics"):
        assert lab.raw(f"GET {path}", token=None)[0] == 200
    for line in (
        *("POST /reset", "POST /step", "GET /state", "GET /journal", "GET /time"),
        *("POST /snapshot", "POST /restore"),
    ):
        assert lab.raw(line, token=None)[0] == 401
        assert lab.raw(line, token="wrong")[0] == 401


def test_metrics(lab: Lab) -> None:
    """Requests by decision over all episodes, and resets."""
    lab.call("POST /reset", seed=1, episode="left")
    lab.get("/a", "left")
    lab.get("/a")
    lab.get("/never")
    text = lab.raw("GET /metrics", token=None)[1].decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values == {
        'replayproxy_requests_total{decision="served"}': "2",
        'replayproxy_requests_total{decision="misses"}': "1",
        'replayproxy_requests_total{decision="refusals"}': "0",
        "replayproxy_episodes": "2",
        "replayproxy_resets_total": "1",
    }
    names = {line.partition("{")[0].split()[0] for line in text.splitlines() if not line.startswith("#")}
    assert names == {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
