"""Many episodes in one process: 1,000 interleaved give the states that each gives alone; what an idle one costs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.client import Exchange, Order, write_plan
from bench.control import Control
from bench.recordings import Recordings
from bench.rounds import Bench, say
from bench.servers import Kind, Server, request_of

EPISODES, EACH = 1_000, 20
TAKES, KEYS = 4, 250
SAMPLE = 5
"""So many of them are also run in a process of their own."""
IDLE = 10_000
RECORDINGS = Recordings(count=TAKES * KEYS, takes=TAKES)


def name_of(episode: int) -> str:
    """Its ID."""
    return f"episode-{episode:05d}"


def keys(episode: int) -> list[int]:
    """Which questions EPISODE asks, in its order: some of them more often than they were recorded."""
    return [(episode * 7 + (step % 6) * (1 + episode % 5)) % KEYS for step in range(EACH)]


def exchange(episode: int, step: int) -> Exchange:
    """The request that EPISODE makes at STEP, and its answer: the next take of that question, the last one for ever."""
    asked = keys(episode)
    take = min(asked[:step].count(asked[step]), TAKES - 1)
    number = asked[step] * TAKES + take
    user = base64.b64encode(f"{name_of(episode)}:x".encode("ascii")).decode("ascii")
    head, separator, rest = request_of(RECORDINGS, number, "absolute").partition(b"\r\n")
    request = head + separator + f"Proxy-Authorization: Basic {user}\r\n".encode("ascii") + rest
    return Exchange(request, RECORDINGS.bodies[RECORDINGS.questions[number].body])


def interleaved() -> Iterator[Exchange]:
    """Every episode's first request, then every one's second, so that no episode has two under way at once."""
    for step in range(EACH):
        for episode in range(EPISODES):
            yield exchange(episode, step)


def one_by_one(chosen: Iterable[int]) -> Iterator[Exchange]:
    """One episode after the other, whole."""
    for episode in chosen:
        for step in range(EACH):
            yield exchange(episode, step)


def run(
    bench: Bench, server: Server, plan: Path, chosen: Sequence[int], connections: int
) -> dict[int, str]:  # fmt: skip
    """The digests of the CHOSEN episodes, once the server has answered the plan for them."""
    control = Control(server)
    for episode in chosen:
        control.reset(name_of(episode), episode)
    order = Order(connections=connections, requests=len(chosen) * EACH)
    bench.client.run(plan, server.doors["http"], order, server.group.pids())
    digests = {episode: str(control.state(name_of(episode))["digest"]) for episode in chosen}
    control.close()
    return digests


def alone(bench: Bench, kind: Kind, folder: Path) -> dict[int, str]:
    """The digests of the episodes run one after the other on one connection; a sample checked in its own process."""
    everyone = range(EPISODES)
    with kind.start(RECORDINGS, folder, bench.core) as server:
        plan = write_plan(bench.place / "alone.plan", one_by_one(everyone))
        found = run(bench, server, plan, everyone, 1)
    for episode in everyone[:: EPISODES // SAMPLE]:
        with kind.start(RECORDINGS, folder, bench.core) as server:
            plan = write_plan(bench.place / f"alone-{episode}.plan", one_by_one([episode]))
            own = run(bench, server, plan, [episode], 1)
        found[episode] = own[episode]
    return found


def idle_octets(server: Server) -> float:
    """How much memory grows for each of IDLE episodes that are reset and left alone."""
    control = Control(server)
    before = server.group.resident()
    for episode in range(IDLE):
        control.reset(f"idle-{episode:05d}", episode)
    control.close()
    return (server.group.resident() - before) / IDLE


def episodes(bench: Bench) -> dict[str, Any]:
    """Both questions, native engine."""
    kind, folder = bench.kind("native"), bench.place / "episodes"
    folder.mkdir()
    kind.prepare(RECORDINGS, folder)
    expected = alone(bench, kind, folder)
    say("episodes: run alone")
    with kind.start(RECORDINGS, folder, bench.core) as server:
        plan = write_plan(bench.place / "episodes.plan", interleaved())
        ready = server.group.resident()
        found = run(bench, server, plan, range(EPISODES), 32)
        resident = server.group.resident()
    say("episodes: run interleaved")
    with kind.start(RECORDINGS, folder, bench.core) as server:
        octets = idle_octets(server)
    different = sum(found[episode] != expected[episode] for episode in range(EPISODES))
    return {
        "name": "episodes",
        "what": f"{EPISODES:,} episodes in one process, {EPISODES * EACH:,} requests on 32 connections, interleaved",
        "lines": [
            f"{different} of {EPISODES:,} digests differ from the episode's own when alone",
            f"{len(set(found.values())):,} different digests",
            f"{resident / 1e6:.0f} MB resident, {ready / 1e6:.0f} before",
            f"an episode that is reset and left alone: {octets:,.0f} octets ({IDLE:,} of them)",
        ],
        "metrics": {
            "episodes different": different,
            "episodes resident": resident / 1e6,
            "episodes idle-octets": octets,
        },
    }
