"""replayproxy.replay.exchanges: what is remembered is answered, counted and journalled as what is read."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.episodes import Episodes
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response
from replayproxy.core.library import Library
from replayproxy.core.provider import MatchRules, Provider, Providers, Selector
from replayproxy.core.rights import Permission, Tag
from replayproxy.replay.exchanges import Exchanges
from replayproxy.replay.remembered import Remembered
from replayproxy.replay.service import ReplayService
from replayproxy.replay.timing import INSTANT, Timing
from replayproxy.wire.events import TunnelRequested, Via
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.limits import Limits

HOST = "api.example.test"
ORIGIN = Origin("http", HOST, 80)
JSON = (("Content-Type", "application/json"),)
FORBIDDEN = Tag(permissions=(("replay", Permission("forbidden")),))


def told(order: int, method: str, target: str, *, body: bytes = b"", rights: Tag | None = None) -> Interaction:
    """An interaction whose answer tells its place."""
    request = Request(method=method, origin=ORIGIN, target=target, headers=JSON if body else (), body=body)
    echo = b'{"n": %d, "reference": "ref-11111111"}' % order
    response = Response(status=200, reason="OK", headers=JSON, body=echo)
    return Interaction(id=f"i{order}", order=order, request=request, response=response, rights=rights)


LIBRARY = Library.build(
    [
        Cassette(
            name="tape",
            interactions=(
                told(0, "GET", "/steady"),
                told(1, "GET", "/turn"),
                told(2, "GET", "/turn"),
                told(3, "GET", "/own"),
                told(4, "PUT", "/own"),
                told(5, "GET", "/own"),
                told(6, "POST", "/pay", body=b'{"reference": "ref-11111111", "amount": 5}'),
                told(7, "GET", "/forbidden", rights=FORBIDDEN),
            ),
        )
    ],
    Providers((Provider(name="api", hosts=(HOST,), match=MatchRules(bind=(Selector.parse("json:$.reference"),))),)),
    purpose="local-debug",
)


def octets(method: str, target: str, *fields: str, body: str = "") -> bytes:
    """A request as a client sends it to a proxy."""
    lines = [f"{method} http://{HOST}{target} HTTP/1.1", f"Host: {HOST}", *fields]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + f"\r\n\r\n{body}").encode()


AS_OTHER = "Proxy-Authorization: Basic b3RoZXI6eA=="
AS_STRANGER = "Proxy-Authorization: Basic c3RyYW5nZXI6eA=="
ASKED = [
    octets("GET", "/steady"),
    octets("GET", "/steady", AS_OTHER),
    octets("GET", "/steady", AS_STRANGER),
    octets("HEAD", "/steady"),
    octets("GET", "/turn"),
    octets("GET", "/own"),
    octets("PUT", "/own"),
    octets("POST", "/pay", body='{"reference": "ref-22222222", "amount": 5}'),
    octets("POST", "/pay", body='{"reference": "ref-33333333", "amount": 5}'),
    octets("GET", "/forbidden"),
    octets("GET", "/lost"),
    octets("GET", "/lost", AS_OTHER),
]
RESET, FORK = b"reset", b"fork"


@dataclass
class Bench:
    """One client of the service of LIBRARY, with a memory or without; what an `Exchanges` asks of a host and a line."""

    remembered: Remembered | None
    timing: Timing = INSTANT
    errors: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.episodes = Episodes(LIBRARY, seed=0, clock="recorded")
        self.episodes.reset(1, "other")
        self.service = ReplayService(LIBRARY, self.episodes, lambda *_: (_ for _ in ()).throw(AssertionError))
        self.wire = Http1Connection(Via(), Limits())
        self.exchanges = Exchanges(self, self, self.wire)
        self.quick = 0

    @property
    def loop(self) -> AbstractEventLoop:
        """Nothing waits for its time here."""
        raise AssertionError

    def told(self, error: Exception) -> None:
        """Kept."""
        self.errors.append(error)

    def writable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """The test takes what there is."""

    def enter_tunnel(self, event: TunnelRequested) -> None:
        """There are none."""
        raise AssertionError(event)

    def go_on(self) -> None:
        """Nothing is held back."""

    def ask(self, data: bytes) -> bytes:
        """What the client gets for DATA."""
        found = self.exchanges.quick(data)
        if found is None:
            self.exchanges.receive(data)
        else:
            self.quick += 1
        return (found or b"") + self.wire.take()

    def state(self) -> list[object]:
        """All that is known of what happened."""
        every = self.episodes.all()
        return [[one.state(), [entry.to_dict() for entry in one.journal]] for one in every]


@settings(max_examples=80)
@given(st.lists(st.sampled_from([*ASKED, RESET, FORK]), max_size=30))
def test_a_remembered_request_is_answered_as_one_that_is_read(steps: list[bytes]) -> None:
    """Octet for octet, with the same journal, digest and cursors; over resets and restores, for every user."""
    with_memory, without = Bench(Remembered()), Bench(None)
    for step in steps:
        if step in (RESET, FORK):
            for one in (with_memory, without):
                if step == RESET:
                    one.episodes.reset(3)
                else:
                    one.episodes.restore(one.episodes.snapshot())
            continue
        assert with_memory.ask(step) == without.ask(step)
    assert with_memory.state() == without.state()
    assert without.quick == 0
    assert not with_memory.errors


def test_what_is_asked_again_is_not_read_again() -> None:
    """Every kind of request, the second time; only who is unknown is looked up anew."""
    bench = Bench(Remembered())
    for data in ASKED:
        bench.ask(data)
    assert bench.quick == 0
    for data in ASKED:
        bench.ask(data)
    assert bench.quick == len(ASKED)


def test_an_episode_that_is_gone_is_asked_for() -> None:
    """What is remembered answers nobody by itself."""
    bench = Bench(Remembered())
    known = octets("GET", "/steady", AS_OTHER)
    assert bench.ask(known).startswith(b"HTTP/1.1 200 ")
    del bench.episodes._episodes["other"]
    assert bench.ask(known).startswith(b"HTTP/1.1 407 ")
