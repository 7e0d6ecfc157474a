"""What it costs to read a request head: httptools, h11, and the connection that replay and recording share.

Run it with `python bench/parser.py`; it takes about ten seconds on one core and opens no socket. Prints the median of
seven rounds in microseconds per request. The last two rows read a request, answer it and take the octets.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from timeit import timeit

import h11
import httptools

from replayproxy.wire.events import Via
from replayproxy.wire.http1 import Http1Connection
from replayproxy.wire.limits import Limits

HEAD = (
    b"GET /v1/things?limit=10 HTTP/1.1\r\nHost: api.example.test\r\nUser-Agent: python-requests/2.34.0\r\n"
    b"Accept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\nAuthorization: Bearer x\r\n\r\n"
)
ANSWER = (
    ("Content-Type", "application/json"),
    ("Content-Length", "100"),
    ("Date", "x"),
    ("Server", "y"),
    ("ETag", "z"),
)
BODY = b"x" * 100
ROUNDS = 7


class Sink:
    """What httptools calls."""

    def on_url(self, url: bytes) -> None:
        """Taken."""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Taken."""


def with_httptools() -> Callable[[], object]:
    """One head by httptools, with a parser of its own."""
    sink = Sink()
    return lambda: httptools.HttpRequestParser(sink).feed_data(HEAD)


def with_h11() -> Callable[[], object]:
    """One head by h11, with a connection of its own."""

    def read() -> None:
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(HEAD)
        connection.next_event()

    return read


def with_ours(answer: Callable[[Http1Connection, int], None]) -> Callable[[], object]:
    """One request on a connection that is kept alive, read and answered."""
    connection = Http1Connection(Via("https", "api.example.test", 443), Limits())

    def exchange() -> None:
        event = connection.receive(HEAD)[0]
        answer(connection, event.stream)  # type: ignore[union-attr]
        connection.take()

    return exchange


def responded(connection: Http1Connection, stream: int) -> None:
    """A whole answer."""
    connection.respond(stream, 200, "OK", ANSWER, BODY)


def streamed(connection: Http1Connection, stream: int) -> None:
    """The same in two chunks."""
    connection.start(stream, 200, "OK", ANSWER, length=None)
    connection.data(stream, BODY[:50])
    connection.data(stream, BODY[50:])
    connection.end(stream)


def median(read: Callable[[], object]) -> float:
    """Microseconds per call."""
    number = max(1, int(0.2 / max(timeit(read, number=20) / 20, 1e-7)))
    return statistics.median(timeit(read, number=number) / number for _ in range(ROUNDS)) * 1e6


def main() -> None:
    """Measures each row and prints the table."""
    rows = {
        "httptools, head": with_httptools(),
        "h11, head": with_h11(),
        "Http1Connection, GET answered whole": with_ours(responded),
        "Http1Connection, GET answered in two chunks": with_ours(streamed),
    }
    for name, read in rows.items():
        cost = median(read)
        print(f"{name:45} {cost:8.2f} us {1e6 / cost:10.0f}/s")


if __name__ == "__main__":
    main()
