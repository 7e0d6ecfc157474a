"""A host on a loop of its own in a thread, and a service that answers from a table."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from replayproxy.authority import Authority
from replayproxy.core.exchange import Request, Response
from replayproxy.engine.native import NativeHost, new_event_loop
from replayproxy.mitm.replaying import MitmproxyHost
from replayproxy.replay.answer import Answer


@dataclass
class Table:
    """A service whose answers a test has put in: by `METHOD URL`, or a function of the request."""

    answers: dict[str, Answer | Callable[[Request], Answer]] = field(default_factory=dict)
    before_body: dict[str, Answer] = field(default_factory=dict)
    ports: set[int] = field(default_factory=lambda: {443})
    alpn: tuple[str, ...] = ("http/1.1", "h2")
    asked: list[tuple[str | None, Request]] = field(default_factory=list)
    refused: list[tuple[str, int, str]] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    pinned_once: threading.Event = field(default_factory=threading.Event)

    def on(self, what: str, body: bytes = b"", **more: Any) -> None:
        """Answer WHAT with 200 and BODY, or as MORE says."""
        response: dict[str, Any] = {"status": 200, "reason": "OK", "body": body, **more}
        open_blob, first_ms = response.pop("open_blob", None), response.pop("first_ms", 0)
        self.answers[what] = Answer(response=Response(**response), first_ms=first_ms, open_blob=open_blob)

    def protocols(self, host: str, port: int) -> tuple[str, ...]:
        """As the test has set it."""
        del host, port
        return self.alpn

    def tunnel(self, user: str | None, host: str, port: int) -> Answer | None:
        """Ports that were not allowed are refused."""
        del host
        if user == "stranger":
            return Answer(response=Response(status=407, reason="Proxy Authentication Required"))
        return None if port in self.ports else Answer(response=Response(status=424, reason="Failed Dependency"))

    def early(self, user: str | None, head: Request) -> Answer | None:
        """What the test has put in `before_body`."""
        del user
        return self.before_body.get(f"{head.method} {head.url}")

    def answer(self, user: str | None, request: Request) -> Answer:
        """What the test has put in, else 404."""
        self.asked.append((user, request))
        found = self.answers.get(f"{request.method} {request.url}")
        if found is None:
            return Answer(response=Response(status=404, reason="Not Found", body=b"unknown"))
        return found(request) if callable(found) else found

    def failed(self, error: Exception) -> Answer:
        """A 424 that names the kind of error."""
        self.errors.append(error)
        return Answer(response=Response(status=424, reason="Failed Dependency", body=type(error).__name__.encode()))

    def pinned(self, host: str, port: int, why: str) -> None:
        """Noted."""
        self.refused.append((host, port, why))
        self.pinned_once.set()


class Running:
    """A host that serves in a thread."""

    def __init__(self, host: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.host = host
        self.loop = loop

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        host, port = self.host.address
        return host, port

    def call[T](self, work: Callable[[], Any]) -> Any:
        """What the coroutine that WORK makes returns, run on the host's loop."""
        return asyncio.run_coroutine_threadsafe(work(), self.loop).result(20)


ENGINES: dict[str, tuple[type[NativeHost | MitmproxyHost], Callable[[], asyncio.AbstractEventLoop]]] = {
    "native on uvloop": (NativeHost, new_event_loop),
    "native on asyncio": (NativeHost, asyncio.new_event_loop),
    "mitmproxy": (MitmproxyHost, asyncio.new_event_loop),
}


@pytest.fixture(params=ENGINES, scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """Which host serves, on whose loop."""
    return str(request.param)


@pytest.fixture(scope="session")
def loop(engine: str) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that runs in a thread."""
    made = ENGINES[engine][1]()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join(10)
    made.close()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The CA of these tests."""
    return Authority.load_or_create(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def table() -> Table:
    """A service without answers."""
    return Table()


type Serve = Callable[..., contextlib.AbstractContextManager[Running]]


@pytest.fixture
def serve(engine: str, loop: asyncio.AbstractEventLoop, table: Table, authority: Authority) -> Serve:
    """A context manager in which a host serves the table. What only the native host can be asked is skipped."""

    @contextlib.contextmanager
    def serving(address: str | Path = "127.0.0.1", port: int = 0, **more: Any) -> Iterator[Running]:
        contexts = more.pop("contexts", authority)
        if engine == "mitmproxy" and (isinstance(address, Path) or contexts is None):
            pytest.skip("mitmproxy has no sockets in the file system, and TLS always")
        host: Any = ENGINES[engine][0](more.pop("service", table), contexts, **more)
        running = Running(host, loop)
        running.call(lambda: host.listen(address, port))
        try:
            yield running
        finally:
            running.call(lambda: host.stop(grace_seconds=0.5))

    return serving
