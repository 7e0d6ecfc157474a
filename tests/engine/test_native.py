"""replayproxy.engine.native: real clients on real sockets are served what the service says, and nothing more."""

from __future__ import annotations

import contextlib
import http.client
import io
import shutil
import socket
import ssl
import stat
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest

from replayproxy.authority import Authority
from replayproxy.core.errors import OperationError, UsageError
from replayproxy.core.exchange import Blob, Chunk, Fault, Interim, Request, Response
from replayproxy.replay.answer import Answer
from replayproxy.replay.timing import Timing
from replayproxy.wire.limits import Limits

HTTP = "http://api.test"
HTTPS = "https://api.test"


class Link:
    """A client's socket to the proxy; what is not said otherwise goes through http.client's parser."""

    def __init__(self, address: tuple[str, int], ca: Path | None = None) -> None:
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.sock: socket.socket = socket.socket(family)
        self.sock.settimeout(10)
        try:
            self.sock.connect(address)
        except OSError:
            self.sock.close()
            raise
        self.ca = ca

    def tunnel(
        self, authority: str, *, name: str | None = None, alpn: tuple[str, ...] = (), fields: str = ""
    ) -> http.client.HTTPResponse | None:
        """CONNECT, then TLS if the client has a CA; the answer where it is not 200."""
        self.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{fields}\r\n")
        answer = self.answer("CONNECT")
        if answer.status != 200:
            return answer
        if self.ca is not None:
            self.wrap(name or authority.rpartition(":")[0].strip("[]"), alpn)
        return None

    def wrap(self, name: str, alpn: tuple[str, ...] = ()) -> None:
        """TLS from here on."""
        context = ssl.create_default_context(cafile=str(self.ca))
        if alpn:
            context.set_alpn_protocols(list(alpn))
        self.sock = context.wrap_socket(self.sock, server_hostname=name)

    def send(self, data: str | bytes) -> None:
        """Send octets as they are."""
        self.sock.sendall(data.encode() if isinstance(data, str) else data)

    def answer(self, method: str = "GET") -> http.client.HTTPResponse:
        """The head of the next answer; its body is read by `.read()`."""
        found = http.client.HTTPResponse(Unbuffered(self.sock), method=method)  # type: ignore[arg-type]
        found.begin()
        return found

    def get(self, target: str, fields: str = "", method: str = "GET") -> http.client.HTTPResponse:
        """One request without a body and the head of its answer."""
        self.send(f"{method} {target} HTTP/1.1\r\nHost: api.test\r\n{fields}\r\n")
        return self.answer(method)

    def rest(self) -> bytes:
        """All that comes until the end."""
        pieces = []
        while piece := self.sock.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


class Unbuffered:
    """A socket whose file reads no octet ahead, so that the next answer stays where it is."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def makefile(self, mode: str) -> Any:
        """The file that http.client reads."""
        del mode
        return self.sock.makefile("rb", buffering=1)


@pytest.fixture
def connect(authority: Authority) -> Iterator[Callable[..., Link]]:
    """Makes links that are closed after the test."""
    with contextlib.ExitStack() as stack:

        def make(running: Any) -> Link:
            link = Link(running.address, authority.ca_pem)
            stack.callback(lambda: link.sock.close())  # noqa: PLW0108 - TLS puts another socket there
            return link

        yield make


# -- plain requests ---------------------------------------------------------------------------------


def test_urllib_is_served_over_http_and_https(serve: Any, table: Any, authority: Authority) -> None:
    """A client of the standard library finds its way by a proxy handler and a CA file."""
    table.on(f"GET {HTTP}/a", b"one")
    table.on(f"GET {HTTPS}/a", b"two")
    with serve() as running:
        proxies = urllib.request.ProxyHandler(dict.fromkeys(("http", "https"), running.host.url))
        trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(authority.ca_pem)))
        opener = urllib.request.build_opener(proxies, trust)
        assert opener.open(f"{HTTP}/a", timeout=10).read() == b"one"
        assert opener.open(f"{HTTPS}/a", timeout=10).read() == b"two"


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_curl_is_served_over_both_protocols(serve: Any, table: Any, authority: Authority, version: str) -> None:
    """Status, fields and body arrive as they are, with one connection for two requests."""
    table.alpn = ("h2", "http/1.1")
    table.on(f"GET {HTTPS}/a", b"one", headers=(("X-A", "1"),))
    with serve() as running:
        command = ["curl", "-sS", version, "-x", running.host.url, "--cacert", str(authority.ca_pem)]
        command += ["-w", "%{http_version} %{num_connects} %header{x-a}\n", f"{HTTPS}/a", f"{HTTPS}/a"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
    number = "2" if version == "--http2" else "1.1"
    assert shown.splitlines() == [f"one{number} 1 1", f"one{number} 0 1"]


def test_answers_of_one_connection_come_in_order(serve: Any, table: Any, connect: Any) -> None:
    """Pipelined requests are answered one after the other, those in pieces too."""
    for number in range(5):
        pieces = (Chunk(1, 0), Chunk(1, 5)) if number % 2 else ()
        table.on(f"GET {HTTP}/{number}", b"%d." % number, chunks=pieces, framing="chunked" if pieces else "length")
    with serve() as running:
        link = connect(running)
        link.send("".join(f"GET {HTTP}/{number} HTTP/1.1\r\nHost: api.test\r\n\r\n" for number in range(5)))
        assert [link.answer().read() for _ in range(5)] == [b"0.", b"1.", b"2.", b"3.", b"4."]


def test_the_service_is_asked_what_the_client_sent(serve: Any, table: Any, connect: Any) -> None:
    """Method, target, fields, body in pieces, trailers and user; none of the connection's own fields."""
    with serve() as running:
        link = connect(running)
        link.send(f"POST {HTTP}/p?q=%20 HTTP/1.1\r\nHost: api.test\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n")
        link.send("Proxy-Authorization: Basic ZXBpc29kZTp4\r\n\r\n3\r\nabc\r\n")
        link.send("2\r\nde\r\n0\r\nX-T: 2\r\n\r\n")
        assert link.answer().status == 404
    ((user, request),) = table.asked
    assert user == "episode"
    assert (request.method, request.url, request.body) == ("POST", f"{HTTP}/p?q=%20", b"abcde")
    assert request.headers == (("Host", "api.test"), ("X-A", "1"))
    assert request.trailers == (("X-T", "2"),)


def test_a_client_that_is_broken_is_answered_and_the_others_go_on(serve: Any, table: Any, connect: Any) -> None:
    """A broken request is 400, and its connection's alone."""
    table.on(f"GET {HTTP}/a", b"one")
    with serve() as running:
        good, bad = connect(running), connect(running)
        bad.send("GET / HTTP/1.1\r\nbroken\r\n\r\n")
        assert bad.answer().status == 400
        assert good.get(f"{HTTP}/a").read() == b"one"


# -- tunnels and TLS --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("authority_form", "name", "host"),
    [
        ("api.test:443", None, "api.test"),
        ("127.0.0.1:443", None, "127.0.0.1"),
        ("[::1]:443", None, "[::1]"),
        ("10.0.0.1:443", "api.test", "api.test"),
        ("xn--bcher-kva.test:443", None, "xn--bcher-kva.test"),
    ],
    ids=["a name", "an IPv4 address", "an IPv6 address", "a name inside a tunnel to an address", "a Unicode name"],
)
def test_a_tunnel_shows_the_certificate_of_the_host_that_is_meant(
    serve: Any, table: Any, connect: Any, authority_form: str, name: str | None, host: str
) -> None:
    """The name of the hello, else that of the CONNECT, be it a name or an address."""
    table.on(f"GET https://{host}/a", b"one")
    with serve() as running:
        link = connect(running)
        assert link.tunnel(authority_form, name=name) is None
        for _ in range(2):
            link.send(f"GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n")
            assert link.answer().read() == b"one"


def test_a_tunnel_remembers_its_user(serve: Any, table: Any, connect: Any) -> None:
    """The credentials of the CONNECT hold for the requests inside."""
    with serve() as running:
        link = connect(running)
        assert link.tunnel("api.test:443", fields="Proxy-Authorization: Basic ZXBpc29kZTp4\r\n") is None
        link.get("/a")
    assert table.asked[0][0] == "episode"


@pytest.mark.parametrize(
    ("authority_form", "fields", "status"),
    [
        ("api.test:25", "", 424),
        ("api.test:443", "Proxy-Authorization: Basic c3RyYW5nZXI6eA==\r\n", 407),
    ],
)
def test_a_refused_tunnel_is_answered_at_once(
    serve: Any, connect: Any, authority_form: str, fields: str, status: int
) -> None:
    """The service's refusal is the answer to the CONNECT."""
    with serve() as running:
        answer = connect(running).tunnel(authority_form, fields=fields)
        assert answer is not None
        assert answer.status == status


def test_http_in_the_clear_inside_a_tunnel(serve: Any, table: Any, connect: Any) -> None:
    """A tunnel need not hold TLS; its scheme is http then, and octets may follow the CONNECT at once."""
    table.ports.add(80)
    table.on(f"GET {HTTP}/a", b"one")
    with serve() as running:
        link = connect(running)
        link.ca = None
        link.send("CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\nGET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
        assert link.answer("CONNECT").status == 200
        assert link.answer().read() == b"one"


def test_transparent_clients_are_told_apart_by_their_first_octets(serve: Any, table: Any, connect: Any) -> None:
    """TLS by SNI, HTTP by Host, and the proxy's own clients, all on one port."""
    table.on(f"GET {HTTP}/a", b"one")
    table.on(f"GET {HTTPS}/a", b"two")
    with serve(transparent=True) as running:
        secure, plain, proxied = connect(running), connect(running), connect(running)
        secure.wrap("api.test")
        assert secure.get("/a").read() == b"two"
        assert plain.get("/a").read() == b"one"
        assert proxied.get(f"{HTTP}/a").read() == b"one"


def test_a_client_that_refuses_the_certificate_is_named(serve: Any, table: Any, connect: Any, tmp_path: Path) -> None:
    """By the host and port that it wanted to reach."""
    with serve() as running:
        link = connect(running)
        link.ca = Authority.load_or_create(tmp_path).ca_pem
        with pytest.raises(ssl.SSLCertVerificationError):
            link.tunnel("pinned.test:443")
        link.sock.close()
        assert table.pinned_once.wait(10)
    ((host, port, why),) = table.refused
    assert (host, port) == ("pinned.test", 443)
    assert "unknown ca" in why


def test_a_client_that_hangs_up_on_the_certificate_is_named_too(serve: Any, table: Any, connect: Any) -> None:
    """Some clients send no alert."""
    with serve() as running:
        link = connect(running)
        link.ca = None
        link.tunnel("pinned.test:443")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        hello = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="pinned.test")
        with pytest.raises(ssl.SSLWantReadError):
            hello.do_handshake()
        link.send(outgoing.read())
        assert link.sock.recv(1)
        link.sock.close()
        assert table.pinned_once.wait(10)
    assert table.refused[0][:2] == ("pinned.test", 443)


# -- HTTP/2 -----------------------------------------------------------------------------------------


def ask_h2(link: Link, *paths: str, host: str = "api.test", scheme: str = "https") -> dict[str, tuple[Any, bytes]]:
    """Status and body by path, asked for at once on one connection."""
    conn = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    conn.initiate_connection()
    streams = {}
    for path in paths:
        stream = conn.get_next_available_stream_id()
        streams[stream] = path
        head = [(":method", "GET"), (":scheme", scheme), (":authority", host), (":path", path)]
        conn.send_headers(stream, head, end_stream=True)
    link.send(conn.data_to_send())
    found: dict[str, tuple[Any, bytes]] = dict.fromkeys(paths, (None, b""))
    while streams:
        data = link.sock.recv(65536)
        assert data, "the connection ended early"
        for event in conn.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                found[streams[event.stream_id]] = (
                    next(str(value) for name, value in event.headers if str(name) == ":status"),
                    b"",
                )
            elif isinstance(event, h2.events.DataReceived):
                path = streams[event.stream_id]
                found[path] = (found[path][0], found[path][1] + event.data)
                conn.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                del streams[event.stream_id]
            elif isinstance(event, h2.events.StreamReset):
                path = streams.pop(event.stream_id)
                found[path] = ("reset", found[path][1])
        link.send(conn.data_to_send())
    return found


def test_http2_serves_many_at_once(serve: Any, table: Any, connect: Any) -> None:
    """Small and large answers and faults side by side; a large one waits for the client's windows."""
    large = bytes(range(256)) * 8192
    table.on(f"GET {HTTPS}/small", b"one")
    table.on(f"GET {HTTPS}/large", large)
    sha = Blob("0" * 64, len(large))
    table.on(f"GET {HTTPS}/blob", sha, open_blob=lambda _: io.BytesIO(large))
    table.on(f"GET {HTTPS}/cut", b"ab", fault=Fault(kind="truncated", phase="body"))
    with serve() as running:
        link = connect(running)
        link.tunnel("api.test:443", alpn=("h2",))
        found = ask_h2(link, "/small", "/large", "/blob", "/cut", "/small")
    assert found["/small"] == ("200", b"one")
    assert found["/large"] == ("200", large)
    assert found["/blob"] == ("200", large)
    assert found["/cut"][0] == "reset"


def test_http2_with_prior_knowledge_inside_a_tunnel(serve: Any, table: Any, connect: Any) -> None:
    """As gRPC does without TLS; the preface may come in pieces."""
    table.ports.add(50051)
    table.on("GET http://api.test:50051/a", b"one")
    with serve() as running:
        link = connect(running)
        link.ca = None
        link.tunnel("api.test:50051")
        link.send("PRI * HT")
        send = link.send
        link.send = lambda data: send(data[8:] if data.startswith(b"PRI * HT") else data)
        assert ask_h2(link, "/a", host="api.test:50051", scheme="http") == {"/a": ("200", b"one")}


# -- bodies, pieces, times --------------------------------------------------------------------------


def test_pieces_stay_apart(serve: Any, table: Any, connect: Any) -> None:
    """Each recorded chunk is a chunk of its own, and trailers follow."""
    chunks = (Chunk(3, 0), Chunk(2, 7))
    table.on(f"GET {HTTP}/s", b"abcde", chunks=chunks, framing="chunked", trailers=(("X-T", "1"),))
    with serve() as running:
        link = connect(running)
        link.send(f"GET {HTTP}/s HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
        assert link.rest().endswith(b"\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n")


def test_recorded_timing_waits(serve: Any, table: Any, connect: Any) -> None:
    """What came later is not there yet when what came earlier is."""
    chunks = (Chunk(1, 0), Chunk(1, 3_600_000))
    table.on(f"GET {HTTP}/s", b"ab", chunks=chunks, framing="chunked")
    with serve(timing=Timing.parse("recorded")) as running:
        link = connect(running)
        answer = link.get(f"{HTTP}/s")
        assert answer.read(1) == b"a"
        assert link.sock.recv(2) == b"\r\n"
        link.sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            link.sock.recv(1)


def test_a_body_in_a_file_is_read_as_the_client_reads(serve: Any, table: Any, connect: Any) -> None:
    """No more of it is in memory than a few pieces."""

    class Counted(io.RawIOBase):
        taken = 0

        def read(self, size: int = -1) -> bytes:
            Counted.taken += size
            return bytes(size)

    size = 64 << 20
    table.on(f"GET {HTTP}/huge", Blob("0" * 64, size), open_blob=lambda _: Counted())
    with serve() as running:
        link = connect(running)
        answer = link.get(f"{HTTP}/huge")
        assert answer.headers["content-length"] == str(size)
        assert answer.read(1) == b"\0"
        other = connect(running)
        assert other.get(f"{HTTP}/unknown").status == 404  # meanwhile others are served
        assert Counted.taken < size // 2
        seen = 1
        while piece := link.sock.recv(min(1 << 20, size - seen)) if seen < size else b"":
            seen += len(piece)
        assert seen == size


@pytest.mark.parametrize("content", [None, b"short"])
def test_a_file_that_is_not_what_it_should_be_breaks_off(
    serve: Any, table: Any, connect: Any, content: bytes | None
) -> None:
    """A missing or short file never looks like a whole body: it is told before the head, or the answer breaks off."""

    def opened(_: Blob) -> io.BytesIO:
        if content is None:
            raise FileNotFoundError("gone")
        return io.BytesIO(content)

    table.on(f"GET {HTTP}/b", Blob("0" * 64, 10), open_blob=opened)
    with serve() as running:
        answer = connect(running).get(f"{HTTP}/b")
        assert answer.status == 424
        assert answer.read() in (b"FileNotFoundError", b"EOFError")


def test_interim_answers_come_first(serve: Any, table: Any, connect: Any) -> None:
    """A recorded 103 is played again, before the final answer."""
    early = Interim(status=103, reason="Early Hints", headers=(("Link", "</a>"),))
    table.on(f"GET {HTTP}/a", b"one", interim=(early,))
    with serve() as running:
        link = connect(running)
        link.send(f"GET {HTTP}/a HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n")
        seen = link.rest()
    assert seen.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_expect_is_answered_with_100_unless_the_answer_is_known(serve: Any, table: Any, connect: Any) -> None:
    """A 100 where the body decides, the final answer at once where it came before the body."""
    table.on(f"PUT {HTTP}/a", b"stored")
    table.before_body[f"PUT {HTTP}/b"] = Answer(response=Response(status=417, reason="No", body=b"no"))
    head = "PUT {} HTTP/1.1\r\nHost: api.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    with serve() as running:
        link = connect(running)
        link.send(head.format(f"{HTTP}/a"))
        wanted = b"HTTP/1.1 100 Continue\r\n\r\n"
        assert link.sock.recv(len(wanted)) == wanted
        link.send("abc")
        assert link.answer("PUT").read() == b"stored"
        link.send(head.format(f"{HTTP}/b"))
        refused = link.answer("PUT")
        assert (refused.status, refused.read()) == (417, b"no")
        assert link.sock.recv(1) == b""


# -- faults -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "phase", "seen"),
    [
        ("reset", "body", "reset"),
        ("reset", "head", "reset"),
        ("refused", "connect", "reset"),
        ("dns", "connect", "end"),
        ("closed", "head", "end"),
        ("truncated", "body", "end"),
        ("timeout", "head", "silence"),
        ("timeout", "body", "silence"),
    ],
)
@pytest.mark.parametrize("origin", [HTTP, HTTPS])
def test_faults_are_played_as_what_they_were(
    serve: Any, table: Any, connect: Any, kind: Any, phase: Any, seen: str, origin: str
) -> None:
    """What arrived before the fault arrives, then the connection is reset, ends, or is silent."""
    body, length = (b"half", (("Content-Length", "8"),)) if phase == "body" else (b"", ())
    status = 200 if phase == "body" else 502
    table.on(f"GET {origin}/f", body, status=status, headers=length, fault=Fault(kind=kind, phase=phase))
    with serve() as running:
        link = connect(running)
        if origin == HTTPS:
            link.tunnel("api.test:443")
        link.send(f"GET {origin if origin == HTTP else ''}/f HTTP/1.1\r\nHost: api.test\r\n\r\n")
        got, end = b"", ""
        if seen == "silence" and phase == "body":
            while not got.endswith(b"half"):
                got += link.sock.recv(100)
        link.sock.settimeout(0.2 if seen == "silence" else 10)
        try:
            while piece := link.sock.recv(100):
                got += piece
            end = "end"
        except TimeoutError:
            end = "silence"
        except ssl.SSLEOFError:
            end = "end"
        except ConnectionResetError:
            end = "reset"
    assert end == seen
    if phase == "body":
        assert got.endswith(b"Content-Length: 8\r\n\r\nhalf")
    else:
        assert got == b""


@pytest.mark.parametrize("origin", [HTTP, HTTPS])
def test_a_reset_takes_nothing_with_it(serve: Any, table: Any, connect: Any, origin: str) -> None:
    """All that came before it arrives, even where the client reads slowly and buffers are full."""
    body = bytes(3 << 20)
    fields = (("Content-Length", str(len(body) + 1)),)
    table.on(f"GET {origin}/f", body, headers=fields, fault=Fault(kind="reset", phase="body"))
    seen = 0
    with serve() as running:
        link = connect(running)
        if origin == HTTPS:
            link.tunnel("api.test:443")
        answer = link.get(f"{origin if origin == HTTP else ''}/f")
        assert answer.status == 200
        end = ""
        while not end:
            try:
                seen += len(link.sock.recv(65536))
            except ConnectionResetError:
                end = "reset"
    assert seen == len(body)


def test_a_client_that_pipelines_without_reading_is_held_back(serve: Any, table: Any, connect: Any) -> None:
    """Every request is answered, in order, and no more is read than is answered."""
    count = 20_000
    table.on(f"GET {HTTP}/a", b"x" * 500)
    request = f"GET {HTTP}/a HTTP/1.1\r\nHost: api.test\r\n\r\n".encode()
    with serve() as running:
        link = connect(running)
        sender = threading.Thread(target=link.send, args=(request * count,))
        sender.start()
        sender.join(0.3)
        assert len(table.asked) < count
        one = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b"x" * 500
        file = link.sock.makefile("rb")
        for _ in range(count):
            assert file.read(len(one)) == one
        sender.join(10)
        file.close()


def test_a_silent_exchange_ends_with_the_idle_time(serve: Any, table: Any, connect: Any) -> None:
    """The limit holds for a client that would wait for ever, and for one that says nothing."""
    table.on(f"GET {HTTP}/f", fault=Fault(kind="timeout", phase="head"))
    with serve(limits=Limits(idle_seconds=0.2)) as running:
        waiting, mute = connect(running), connect(running)
        waiting.send(f"GET {HTTP}/f HTTP/1.1\r\nHost: api.test\r\n\r\n")
        for link in (waiting, mute):
            with contextlib.suppress(ConnectionResetError):
                assert link.sock.recv(1) == b""


# -- errors, limits, end ----------------------------------------------------------------------------


def test_an_exception_is_answered_told_once_and_goes_nowhere(
    serve: Any, table: Any, connect: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong inside, the client gets the service's refusal and the log one line."""

    def bad(_: Request) -> Answer:
        raise LookupError("inside")

    table.answers[f"GET {HTTP}/a"] = bad
    table.on(f"GET {HTTP}/b", headers=(("X-A", "1\r\nX-B: 2"),))
    with serve() as running:
        link = connect(running)
        for _ in range(2):
            answer = link.get(f"{HTTP}/a")
            assert (answer.status, answer.read()) == (424, b"LookupError")
        answer = link.get(f"{HTTP}/b")
        assert (answer.status, answer.read()) == (424, b"ValueError")
    told = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert len([line for line in told if "inside" in line]) == 1


def test_too_many_clients_are_turned_away(serve: Any, table: Any, connect: Any) -> None:
    """One above the limit gets a 503; a place that is free again is given away."""
    table.on(f"GET {HTTP}/a", b"one")
    with serve(limits=Limits(connections=1)) as running:
        first = connect(running)
        assert first.get(f"{HTTP}/a").read() == b"one"
        assert connect(running).answer().status == 503
        first.sock.close()
        while (again := connect(running).get(f"{HTTP}/a")).status == 503:
            pass
        assert again.read() == b"one"


def test_stopping_lets_answers_arrive_and_closes_what_is_idle(serve: Any, table: Any, connect: Any) -> None:
    """An answer on its way arrives whole; an idle client is hung up on; nobody new is accepted."""
    table.on(f"GET {HTTP}/s", b"ab", chunks=(Chunk(1, 0), Chunk(1, 300)), framing="chunked")
    with serve(timing=Timing.parse("recorded")) as running:
        busy, idle = connect(running), connect(running)
        assert idle.get(f"{HTTP}/unknown").read() == b"unknown"
        answer = busy.get(f"{HTTP}/s")
        assert answer.read(1) == b"a"
        stopper = threading.Thread(target=running.call, args=(lambda: running.host.stop(grace_seconds=10),))
        stopper.start()
        assert idle.sock.recv(1) == b""
        assert answer.read() == b"b"
        stopper.join(10)
        with pytest.raises(ConnectionRefusedError):
            connect(running)


def test_stopping_cuts_off_what_does_not_end(serve: Any, table: Any, connect: Any) -> None:
    """After the grace period nothing is open."""
    table.on(f"GET {HTTP}/s", b"ab", chunks=(Chunk(1, 0), Chunk(1, 3_600_000)), framing="chunked")
    with serve(timing=Timing.parse("recorded")) as running:
        link = connect(running)
        assert link.get(f"{HTTP}/s").read(1) == b"a"
        running.call(lambda: running.host.stop(grace_seconds=0.05))
        with contextlib.suppress(ConnectionResetError):
            link.rest()


# -- listening --------------------------------------------------------------------------------------


def test_ipv6_is_listened_on(serve: Any, table: Any, connect: Any) -> None:
    """And its URL has brackets."""
    table.on(f"GET {HTTP}/a", b"one")
    with serve("::1") as running:
        assert running.host.url == f"http://[::1]:{running.address[1]}"
        assert connect(running).get(f"{HTTP}/a").read() == b"one"


def test_a_port_in_use_is_told(serve: Any) -> None:
    """The address is named, the code is 3."""
    with serve() as running:
        port = running.address[1]
        with pytest.raises(OperationError, match=f"cannot listen on 127.0.0.1:{port}: ") as caught, serve(port=port):
            pass
    assert caught.value.exit_code == 3
    assert caught.value.hint


def test_a_name_is_not_listened_on(serve: Any) -> None:
    """Names are not resolved, save localhost, which is known."""
    with pytest.raises(UsageError, match=r"cannot listen on proxy\.test"), serve("proxy.test"):
        pass
    with serve("localhost") as running:
        assert running.address[0] == "127.0.0.1"


def test_a_unix_socket_is_its_owners_alone_and_goes_away(serve: Any, tmp_path: Path) -> None:
    """Mode 0600; a stale one makes way, one in use and a file that is none do not."""
    path = tmp_path / "control"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    with serve(path, contexts=None, transparent=True) as running:
        assert running.host.url == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(10)
            sock.connect(str(path))
            sock.sendall(b"GET /a HTTP/1.0\r\nHost: x\r\n\r\n")
            assert sock.recv(100).startswith(b"HTTP/1.1 404")
        with pytest.raises(OperationError, match="cannot listen on unix:"), serve(path):
            pass
    assert not path.exists()
    path.write_text("a file")
    with pytest.raises(OperationError, match="no socket"), serve(path):
        pass
    assert path.read_text() == "a file"
