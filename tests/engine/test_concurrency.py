"""Many clients at once: the same answers whatever order their requests arrive in."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from replayproxy.core.episode import Episode
from replayproxy.core.episodes import Episodes
from replayproxy.core.exchange import Blob, Cassette, Interaction, Origin, Request, Response
from replayproxy.core.library import Library
from replayproxy.replay.service import ReplayService

CLIENTS = 64
RUNS = 5
HOST = "api.example.test"
ORIGIN = Origin("http", HOST, 80)
TURNS = 7
"""How many answers are recorded to the request that all clients ask."""


def no_files(_: int, blob: Blob) -> BinaryIO:
    """There are none in this recording."""
    raise AssertionError(blob)


def library() -> Library:
    """What all ask, several times; and for each client a resource that it reads, writes and reads."""
    asked = [("GET", "/turn")] * TURNS
    asked += [
        (method, f"/own/{client}{query}")
        for client in range(CLIENTS)
        for method, query in (("GET", "?v=1"), ("PUT", ""), ("GET", "?v=1"))
    ]
    found = tuple(
        Interaction(
            id=f"i{order}",
            order=order,
            request=Request(method=method, origin=ORIGIN, target=target),
            response=Response(status=200, reason="OK", body=f"{method} {target} {order}".encode()),
        )
        for order, (method, target) in enumerate(asked)
    )
    return Library.build([Cassette(name="tape", interactions=found)], purpose="local-debug")


LIBRARY = library()


class Crowd:
    """Clients of a proxy that begin together, each on a connection of its own."""

    def __init__(self, address: tuple[str, int], count: int = CLIENTS) -> None:
        self._address = address
        self._count = count
        self._together = threading.Barrier(count)

    def run(self, program: Callable[[int], list[tuple[str, str]]]) -> Counter[tuple[str, str, int, bytes]]:
        """How often each request got each answer, when client number N asks what PROGRAM says, one after the other."""
        with ThreadPoolExecutor(self._count) as pool:
            answers = list(pool.map(lambda number: self._client(program(number)), range(self._count)))
        return Counter(answer for those in answers for answer in those)

    def _client(self, requests: list[tuple[str, str]]) -> list[tuple[str, str, int, bytes]]:
        connection = http.client.HTTPConnection(*self._address, timeout=30)
        try:
            connection.connect()
            self._together.wait(30)
            return [(*request, *self._ask(connection, *request)) for request in requests]
        finally:
            connection.close()

    def _ask(self, connection: http.client.HTTPConnection, method: str, target: str) -> tuple[int, bytes]:
        connection.request(method, f"http://{HOST}{target}", headers={"Host": HOST})
        response = connection.getresponse()
        return response.status, response.read()


def test_64_clients_get_the_same_in_every_run(serve: Callable[..., object]) -> None:
    """Identical requests share the recorded answers, each once and the last for the rest; distinct ones get their own.

    Reads see the writes of their own client. Digest and world of five runs are the same, and nothing overlaps.
    """
    episodes = Episodes(LIBRARY, seed=0, clock="recorded")

    def program(number: int) -> list[tuple[str, str]]:
        own = f"/own/{number}"
        read = ("GET", f"{own}?v=1")
        asked = [("GET", "/turn"), read, ("PUT", own), read, ("GET", "/turn"), read, ("GET", f"/lost/{number}")]
        return asked if number % 2 else asked[1:4] + asked[:1] + asked[4:]

    outcomes = []
    with serve(service=ReplayService(LIBRARY, episodes, no_files)) as running:  # type: ignore[attr-defined]
        for _ in range(RUNS):
            episode = episodes.reset(7)
            answers = Crowd(running.address).run(program)
            outcomes.append((answers, episode.digest, episode.world))
            assert len(episode.journal) == CLIENTS * 7
            assert not any(line.overlaps for line in episode.journal)
    first = outcomes[0][0]
    turns = {key[3]: count for key, count in first.items() if key[1] == "/turn"}
    last = b"GET /turn %d" % (TURNS - 1)
    expected = {b"GET /turn %d" % turn: 1 for turn in range(TURNS - 1)}
    assert turns == expected | {last: 2 * CLIENTS - (TURNS - 1)}
    for number in range(CLIENTS):
        at, own = TURNS + 3 * number, f"/own/{number}"
        reads = {key[3]: count for key, count in first.items() if key[1] == f"{own}?v=1"}
        assert reads == {f"GET {own}?v=1 {at}".encode(): 1, f"GET {own}?v=1 {at + 2}".encode(): 2}
    assert sum(count for key, count in first.items() if key[2] == 424) == CLIENTS
    assert [outcome == outcomes[0] for outcome in outcomes] == [True] * RUNS


def test_a_reset_while_clients_ask_mixes_no_episodes(serve: Callable[..., object]) -> None:
    """What each episode journals is what it answered: no request is lost, none is counted in two, turns begin anew."""
    episodes = Episodes(LIBRARY, seed=0, clock="recorded")
    held = [episodes.reset(0)]
    done = threading.Event()
    with serve(service=ReplayService(LIBRARY, episodes, no_files)) as running:  # type: ignore[attr-defined]

        async def reset() -> Episode:
            return episodes.reset(None)

        def resetting() -> None:
            while not done.is_set() and len(held) < 500:
                held.append(running.call(reset))

        other = threading.Thread(target=resetting)
        other.start()
        answers = Crowd(running.address, 16).run(lambda _: [("GET", "/turn")] * 20)
        done.set()
        other.join(30)
    expected: Counter[bytes] = Counter()
    for episode in held:
        served = [line.recording.interaction.response.body for line in episode.journal if line.recording]
        order = [min(turn, TURNS - 1) for turn in range(len(served))]
        assert served == [b"GET /turn %d" % turn for turn in order]
        expected.update(body for body in served if isinstance(body, bytes))
    assert len(held) > 1
    assert Counter({key[3]: count for key, count in answers.items()}) == expected
    assert expected.total() == 16 * 20


def test_a_read_that_overlaps_a_write_is_journalled(serve: Callable[..., object]) -> None:
    """Only those of the resource written, and nobody gets anything but one of the recorded answers."""
    episodes = Episodes(LIBRARY, seed=0, clock="recorded")

    def program(number: int) -> list[tuple[str, str]]:
        return [("PUT", "/own/0")] * 5 if number % 2 else [("GET", "/own/0?v=1"), ("GET", "/turn")] * 5

    with serve(service=ReplayService(LIBRARY, episodes, no_files)) as running:  # type: ignore[attr-defined]
        answers = Crowd(running.address, 8).run(program)
    before, after = (f"GET /own/0?v=1 {at}".encode() for at in (TURNS, TURNS + 2))
    assert {key[3] for key in answers if key[1] == "/own/0?v=1"} <= {before, after}
    lines = [line.to_dict() for line in episodes.get("default").journal]
    assert {line["url"] for line in lines if line.get("overlaps")} <= {f"http://{HOST}/own/0?v=1"}
    assert json.dumps(lines)
