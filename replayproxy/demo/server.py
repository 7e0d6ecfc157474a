"""An HTTP/1.1 server for made-up vendors: one function from request to reply, on loopback, in threads.

It counts what it was asked, which is how a demo or a test shows that an upstream was left alone.
"""

from __future__ import annotations

import datetime
import json
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

IDLE_SECONDS = 30.0
"""How long a kept-alive connection may say nothing before it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client sent.

    `base` is scheme and host as the client named them; `headers` is asked without regard to case; `query`
    holds the first of each name.
    """

    base: str
    method: str
    path: str
    query: Mapping[str, str]
    headers: Message
    body: bytes

    def json(self) -> Any:
        """The body's JSON value; raises ValueError where it is none."""
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        """The body's form fields, the last of each name."""
        return dict(urllib.parse.parse_qsl(self.body.decode("utf-8")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the vendor answers. A body that is not octets is sent piece by piece, in chunks."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Iterable[bytes] = b""


Dispatch = Callable[[Request], Reply]


def json_reply(value: Any, status: int = 200, *headers: tuple[str, str]) -> Reply:
    """A reply with VALUE as JSON text and HEADERS beside its type."""
    text = json.dumps(value, ensure_ascii=False).encode()
    return Reply(status=status, headers=(("Content-Type", "application/json"), *headers), body=text)


def now() -> datetime.datetime:
    """The present, as vendors put it into their answers."""
    return datetime.datetime.now(datetime.UTC)  # noqa: TID251 - a live vendor reads its clock; recordings do not


@dataclass(slots=True)
class Server:
    """A running vendor: where it listens, and how many requests it has had."""

    host: str
    port: int
    scheme: str
    _hits: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        """Where it is reached directly, without a path."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def hits(self) -> int:
        """How many requests have arrived since the start."""
        with self._lock:
            return self._hits

    def count(self) -> None:
        """Note one more request."""
        with self._lock:
            self._hits += 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that hang up; http.server would print a traceback for each."""


def _query(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, value in urllib.parse.parse_qsl(text, keep_blank_values=True):
        pairs.setdefault(name, value)
    return pairs


def _handler(dispatch: Dispatch, server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "made-up-vendor"
        sys_version = ""
        timeout = IDLE_SECONDS

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            parts = urllib.parse.urlsplit(self.path)
            request = Request(
                base=f"{server.scheme}://{self.headers.get('Host', server.host)}",
                method=self.command,
                path=parts.path,
                query=_query(parts.query),
                headers=self.headers,
                body=self.rfile.read(length),
            )
            server.count()
            self.send(dispatch(request))

        def send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            if isinstance(reply.body, bytes):
                # RFC 9110 section 8.6: a 304 that gave a length would give that of the 200 it stands for.
                if reply.status not in (204, 304):
                    self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(b"" if self.command == "HEAD" else reply.body)
                return
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in reply.body:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        # http.server finds the method for a request by this name.
        do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Nothing is printed: stdout is the caller's."""

    return Handler


@contextmanager
def serving(dispatch: Dispatch, *, tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[Server]:
    """Serve DISPATCH on 127.0.0.1 while the block runs; PORT 0 picks a free one.

    Afterwards the port is closed: a client that tries it is refused.
    """
    server = Server("127.0.0.1", port, "https" if tls else "http")
    listener = _Listener((server.host, port), _handler(dispatch, server))
    server.port = listener.server_address[1]
    if tls:
        # The handshake belongs to the connection's own thread, or one silent client would hold up all others.
        listener.socket = tls.wrap_socket(listener.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), name="vendor", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
