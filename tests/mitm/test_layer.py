"""The recording layer: what an upstream did is passed on, and recorded as what it was."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest

from replayproxy.core.admission import Admission
from replayproxy.core.errors import OperationError
from replayproxy.core.exchange import Blob, Response
from replayproxy.core.rights import Permission, Tag, preset
from replayproxy.mitm.large import LARGE_OCTETS

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\none"
LONG = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS: dict[str, tuple[Sequence[bytes | str], bytes, dict[str, Any]]] = {
    "length": ([OK], b"200 OK|one", {"status": 200, "framing": "length", "body": b"one", "fault": None}),
    "reason and case": (
        [b"HTTP/1.1 203 Fine Day\r\nx-LOWer: 1\r\nB: 2\r\nB: 3\r\nContent-Length: 0\r\n\r\n"],
        b"203 Fine Day|",
        {"reason": "Fine Day", "headers": (("x-LOWer", "1"), ("B", "2"), ("B", "3"), ("Content-Length", "0"))},
    ),
    "chunks": (
        [CHUNKED + b"5\r\nhello\r\n", b"2\r\nyo\r\n0\r\n\r\n"],
        b"200 OK|helloyo",
        {"framing": "chunked", "body": b"helloyo", "sizes": [5, 2]},
    ),
    "trailers": (
        [CHUNKED + b"2\r\nhi\r\n0\r\nX-Sum: abc\r\n\r\n"],
        b"200 OK|hi",
        {"trailers": (("X-Sum", "abc"),)},
    ),
    "interim": (
        [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK],
        b"103 Early Hints|",
        {"interims": [103], "body": b"one"},
    ),
    "no content": ([b"HTTP/1.1 204 No Content\r\n\r\n"], b"204 No Content|", {"framing": "none", "status": 204}),
    "not modified": (
        [b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 99\r\n\r\n'],
        b"304 Not Modified|",
        {"framing": "none", "status": 304},
    ),
    "ended by close": (
        [b"HTTP/1.0 200 OK\r\n\r\nuntil close", "close"],
        b"200 OK|until close",
        {"framing": "close", "body": b"until close", "version": "HTTP/1.0", "fault": None},
    ),
    "truncated": ([LONG, "close"], b"200 OK|abc", {"fault": ("truncated", "body"), "body": b"abc"}),
    "truncated chunks": ([CHUNKED + b"5\r\nhel", "close"], b"200 OK|hel", {"fault": ("truncated", "body")}),
    "closed": (["close"], b"502 Bad Gateway|", {"fault": ("closed", "head"), "status": 502}),
    "reset": (["reset"], b"502 Bad Gateway|", {"fault": ("reset", "head"), "status": 502}),
    "no HTTP": ([b"SSH-2.0-OpenSSH\r\n\r\n", "close"], b"502 Bad Gateway|", {"fault": ("closed", "head")}),
}


def seen(response: Response) -> dict[str, Any]:
    """RESPONSE in the words of the table."""
    found = {name: getattr(response, name) for name in Response.__dataclass_fields__}
    found["sizes"] = [chunk.size for chunk in response.chunks]
    found["interims"] = [interim.status for interim in response.interim]
    found["fault"] = (response.fault.kind, response.fault.phase) if response.fault else None
    return found


def plain(octets: bytes) -> bytes:
    """The status line without its version, and the body with its chunks joined."""
    head, _, body = octets.partition(b"\r\n\r\n")
    status = head.split(b"\r\n")[0].partition(b" ")[2].strip()
    if b"transfer-encoding: chunked" in head.lower():
        joined, rest = b"", body
        while rest and (size := int(rest.partition(b"\r\n")[0] or b"0", 16)):
            joined += rest.partition(b"\r\n")[2][:size]
            rest = rest.partition(b"\r\n")[2][size + 2 :]
        body = joined
    return status + b"|" + (b"" if status[:3] in (b"502", b"103") else body)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_recorded_as_what_it_was(lab: Any, name: str, scheme: str) -> None:
    """Framing, interim answers, trailers and faults: passed on to the client, and kept."""
    script, live, expected = ANSWERS[name]
    if scheme == "https" and name == "reset":
        expected = {"status": 502}  # below TLS a reset may arrive as a plain end
    lab.upstream.on("/x", script)
    octets = lab.exchange("/x", origin=f"{scheme}://api.example.test")
    assert plain(octets) == live
    (one,) = lab.recorded
    found = seen(one.response)
    assert {key: found[key] for key in expected} == expected
    assert (one.request.method, one.request.url) == ("GET", f"{scheme}://api.example.test/x")


def test_a_reset_inside_the_body_reaches_the_client_as_one(lab: Any) -> None:
    """A client must not take a reset body for a whole or a merely short one."""
    lab.upstream.on("/x", [LONG, "reset"])
    assert lab.exchange("/x").endswith(b"!reset")
    assert seen(lab.recorded[0].response)["fault"] == ("reset", "body")


def test_the_request_goes_out_as_it_came(lab: Any) -> None:
    """Target and fields keep their octets and order; what is between client and proxy stays there."""
    lab.upstream.on("/a//b%2F;v=1?x=%20+", [OK])
    lab.exchange(
        "",
        request=b"POST http://api.example.test/a//b%2F;v=1?x=%20+ HTTP/1.1\r\nHost: api.example.test\r\nX-b: 1\r\n"
        b"A: 2\r\nProxy-Authorization: Basic ZGVmYXVsdDp4\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"
        b"Content-Length: 2\r\n\r\nhi",
    )
    (head,) = lab.upstream.heads
    assert head == (
        b"POST /a//b%2F;v=1?x=%20+ HTTP/1.1\r\nHost: api.example.test\r\nX-b: 1\r\nA: 2\r\nContent-Length: 2"
    )
    assert lab.recorded[0].request.body == b"hi"


@pytest.mark.parametrize(
    ("scripts", "before", "interim"),
    [
        ([b"HTTP/1.1 100 Continue\r\n\r\n", "body", OK], False, True),
        ([b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno", "close"], True, False),
    ],
)
def test_expect_continue_is_the_upstreams_to_answer(
    lab: Any, scripts: list[bytes | str], before: bool, interim: bool
) -> None:
    """A 100 comes only if the upstream sends one; an early refusal comes at once and is recorded as such."""
    lab.upstream.on("/x", scripts)
    with lab.connect() as link:
        link.sendall(
            b"PUT http://api.example.test/x HTTP/1.1\r\nHost: api.example.test\r\nExpect: 100-continue\r\n"
            b"Content-Length: 3\r\n\r\n"
        )
        first = link.recv(4096)
        assert first.startswith(b"HTTP/1.1 100") is interim
        if interim:
            link.sendall(b"abc")
            while b"one" not in first:
                first += link.recv(4096)
    assert lab.recorded[0].response.before_body is before
    assert b"Expect: 100-continue" in lab.upstream.heads[0]


WAITING = (
    b"PUT http://api.example.test/x HTTP/1.1\r\nHost: api.example.test\r\nExpect: 100-continue\r\n"
    b"Content-Length: 3\r\n\r\n"
)


def test_a_client_does_not_wait_for_ever_for_a_100(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the upstream sends none, the recorder does, so that a client that waits as long as it takes goes on."""
    monkeypatch.setattr("replayproxy.mitm.layer.CONTINUE_SECONDS", 0.01)
    lab.upstream.on("/x", ["body", OK])
    with lab.connect() as link:
        link.sendall(WAITING)
        assert link.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(b"abc")
        assert plain(read_until(link, b"one")) == b"200 OK|one"
    assert lab.recorded[0].request.body == b"abc"
    assert lab.recorded[0].response.before_body is False


def test_a_client_that_does_not_wait_for_a_100_gets_none(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its body is there, so the answer is one to the body, whoever sent a 100 or not."""
    monkeypatch.setattr("replayproxy.mitm.layer.CONTINUE_SECONDS", 0.01)
    lab.upstream.on("/x", ["body", OK])
    with lab.connect() as link:
        link.sendall(WAITING + b"ab")
        lab.upstream.on("/y", [OK])
        assert lab.exchange("/y").endswith(b"one")  # the moment for a 100 has passed by now, or comes to nothing
        link.sendall(b"c")
        assert plain(read_until(link, b"one")) == b"200 OK|one"
    assert lab.recorded[0].request.body == b"abc"
    assert lab.recorded[0].response.before_body is False


def test_a_body_that_is_needed_to_look_up_is_asked_for_at_once(lab: Any) -> None:
    """With `--on-existing new` the client gets its 100 from us, since the upstream is not asked before the body is."""
    lab.session.known = lambda request: ("ab12", (200, "OK", (), b"known " + request.body))
    with lab.connect() as link:
        link.sendall(WAITING)
        assert link.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(b"abc")
        assert read_until(link, b"known abc").startswith(b"HTTP/1.1 200")
    assert lab.upstream.heads == []
    assert lab.session.tally.served == ["ab12"]


def test_what_is_not_known_is_asked_with_its_body(lab: Any) -> None:
    """Where the recordings have no answer the upstream gets the request whole, and its answer is recorded."""
    asked: list[bytes] = []
    lab.session.known = lambda request: asked.append(request.body)
    lab.upstream.on("/x", [b"HTTP/1.1 100 Continue\r\n\r\n", "body", OK])
    with lab.connect() as link:
        link.sendall(WAITING)
        assert link.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        link.sendall(b"abc")
        assert plain(read_until(link, b"one")) == b"200 OK|one"
    assert asked == [b"abc"]
    assert (lab.recorded[0].request.body, lab.recorded[0].response.before_body) == (b"abc", False)


@pytest.mark.parametrize(
    ("script", "status", "fault"),
    [
        ([b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno", "close"], 413, None),
        (["reset"], 502, ("reset", "head")),
    ],
)
def test_an_answer_before_the_body_was_whole_is_recorded_without_it(
    lab: Any, script: list[bytes | str], status: int, fault: tuple[str, str] | None
) -> None:
    """How much of the body had been sent is chance; no run would be answered from a recording of that much."""
    lab.upstream.on("/x", script)
    with lab.connect() as link:
        link.sendall(WAITING.replace(b"Expect: 100-continue", b"Expect: 100-Continue") + b"a")
        assert read_until(link, b"\r\n\r\n").startswith(b"HTTP/1.1 %d" % status)
    assert lab.recorded[0].request.body == b""
    assert lab.recorded[0].response.before_body is True
    assert seen(lab.recorded[0].response)["fault"] == fault


def read_until(link: socket.socket, end: bytes) -> bytes:
    """All octets that come, to the first read that brings END."""
    received = b""
    while end not in received:
        data = link.recv(65536)
        assert data, received
        received += data
    return received


def test_connections_are_kept_and_renewed(lab: Any) -> None:
    """Two requests share an upstream connection; one that went idle is replaced, unseen by the client."""
    lab.upstream.on("/a", [OK])
    lab.upstream.on("/last", [OK, "close"])
    link = http.client.HTTPConnection(lab.address[0], lab.address[1], timeout=10)
    for path in ("/a", "/last", "/a"):
        link.request("GET", f"http://api.example.test{path}")
        assert link.getresponse().read() == b"one"
    link.close()
    assert lab.upstream.connections == 2
    assert [one.response.fault for one in lab.recorded] == [None, None, None]


def test_an_http2_client_is_served_by_an_http1_upstream(lab: Any) -> None:
    """Streams at once are spread over no more connections than mitmproxy allows, and all are answered."""
    lab.upstream.on("/x", [OK])
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
    link = lab.connect("https://api.example.test", alpn=["h2"])
    assert isinstance(link, ssl.SSLSocket)
    assert link.selected_alpn_protocol() == "h2"
    connection.initiate_connection()
    pseudo = [(":method", "GET"), (":scheme", "https"), (":authority", "api.example.test"), (":path", "/x")]
    streams = [1 + 2 * number for number in range(12)]
    for stream in streams:
        connection.send_headers(stream, pseudo, end_stream=True)
    link.sendall(connection.data_to_send())
    bodies: dict[int, bytes] = {}
    ended = 0
    while ended < len(streams):
        for event in connection.receive_data(link.recv(65536)):
            if isinstance(event, h2.events.DataReceived):
                bodies[event.stream_id] = bodies.get(event.stream_id, b"") + event.data
            ended += isinstance(event, h2.events.StreamEnded)
    link.close()
    assert bodies == dict.fromkeys(streams, b"one")
    assert len(lab.recorded) == 12
    assert lab.upstream.connections <= 5


def test_rights_decide_before_a_byte_leaves(running: Callable[..., Any]) -> None:
    """A host that nobody has spoken of is refused with 451, in the clear and inside TLS; nothing is dialled."""
    with running(None) as lab:
        for scheme in ("http", "https"):
            octets = lab.exchange("/x", origin=f"{scheme}://api.example.test")
            assert octets.startswith(b"HTTP/1.1 451 ")
            assert b"x-replayproxy-decision: refused" in octets
            assert json.loads(octets.partition(b"\r\n\r\n")[2])["code"] == "RP010"
        assert lab.upstream.connections == 0
        assert lab.recorded == []
        assert len(lab.session.tally.refusals) == 2


def test_an_upstream_certificate_that_does_not_verify_is_never_an_answer(lab: Any) -> None:
    """502 inside the tunnel, nothing recorded: the certificate is for other names."""
    lab.session.connect_to[("other.example.org", 443)] = ("127.0.0.1", lab.upstream.tls_port)
    request = b"GET /x HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n"
    octets = lab.exchange("/x", origin="https://other.example.org", request=request)
    assert octets.startswith(b"HTTP/1.1 502 ")
    assert b"x-replayproxy-code: upstream-certificate" in octets
    assert lab.recorded == []
    assert lab.session.tally.warnings


def test_a_refused_connection_and_an_unknown_name_are_faults(lab: Any) -> None:
    """What keeps a connection from being made is recorded as what it was."""
    lab.session.connect_to[("closed.example.test", 80)] = ("127.0.0.1", 1)
    for host in ("closed.example.test", "nowhere.invalid"):
        assert lab.exchange("/x", origin=f"http://{host}").startswith(b"HTTP/1.1 502 ")
    assert [seen(one.response)["fault"] for one in lab.recorded] == [("refused", "connect"), ("dns", "connect")]


def test_a_client_that_refuses_our_certificate_is_named(lab: Any) -> None:
    """It is told by host and port, and no tunnel is opened for it."""
    with pytest.raises(ssl.SSLCertVerificationError):
        pinned(lab)
    lab.exchange("/x", origin="http://127.0.0.1")  # the recorder has handled the alert by the time it answers this
    assert lab.session.tally.pinned == ["api.example.test:443"]
    assert lab.upstream.connections == 0


def pinned(lab: Any) -> None:
    """Connect as a client that trusts only the public roots."""
    link = socket.create_connection(lab.address, timeout=10)
    link.sendall(b"CONNECT api.example.test:443 HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
    assert link.recv(4096).startswith(b"HTTP/1.1 200")
    ssl.create_default_context().wrap_socket(link, server_hostname="api.example.test")


def test_a_log_that_cannot_be_written_stops_the_recording(lab: Any) -> None:
    """The failure is told once; later requests are refused, and nothing of them leaves."""
    lab.upstream.on("/x", [OK])
    lab.log.fail = OperationError("the disk is full", hint="make room")
    assert lab.exchange("/x").startswith(b"HTTP/1.1 502 ")
    assert [error.what for error in lab.failures] == ["the disk is full"]
    connections = lab.upstream.connections
    assert b"recording-stopped" in lab.exchange("/x")
    assert lab.upstream.connections == connections
    assert lab.recorded == []


@pytest.mark.parametrize(
    ("script", "fault"),
    [([b""], ("timeout", "head")), ([LONG], ("timeout", "body")), ([CHUNKED + b"2\r\nhi\r\n"], None)],
)
def test_a_client_that_gives_up_waiting_is_recorded_as_what_it_saw(
    lab: Any, script: list[bytes], fault: tuple[str, str] | None
) -> None:
    """Silence is a timeout; a stream that the client had enough of is whole as far as it came."""
    lab.upstream.on("/x", script)
    lab.upstream.on("/y", [OK])
    with lab.connect() as link:
        link.sendall(b"GET http://api.example.test/x HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
        while script != [b""] and not link.recv(4096).endswith((b"abc", b"hi\r\n")):
            pass
        while not lab.upstream.heads:
            pass
    lab.exchange("/y")  # mitmproxy tells the layers of one client's end before it reads another's octets
    one = next(one for one in lab.recorded if one.request.target == "/x")
    assert seen(one.response)["fault"] == fault


def test_what_the_end_of_a_recording_cuts_off_is_no_timeout(running: Callable[..., Any]) -> None:
    """Only what clients and upstreams did is recorded."""
    with running(preset("own-synthetic")) as lab:
        lab.upstream.on("/x", [LONG])
        link = lab.connect()
        link.sendall(b"GET http://api.example.test/x HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
        assert link.recv(4096).endswith(b"abc")
    link.close()
    assert lab.recorded == []


@pytest.mark.parametrize("greeting", [b"220 ready\r\n", b""])
def test_a_tunnel_to_a_server_that_speaks_first_is_refused(lab: Any, greeting: bytes) -> None:
    """SMTP and its like are told at once; a server that waits gets its tunnel."""
    lab.session.connect_to["mail.example.test", 2525] = ("127.0.0.1", lab.upstream.port)
    lab.upstream.greeting = greeting
    for _ in range(2):
        with socket.create_connection(lab.address, timeout=10) as link:
            link.sendall(b"CONNECT mail.example.test:2525 HTTP/1.1\r\nHost: mail.example.test:2525\r\n\r\n")
            status = link.recv(4096).split(b" ")[1]
            assert status == (b"501" if greeting else b"200")
            if not greeting:  # the tunnel is one: what is asked in it is answered
                lab.upstream.on("/x", [OK])
                link.sendall(b"GET /x HTTP/1.1\r\nHost: mail.example.test:2525\r\n\r\n")
                assert link.recv(4096).endswith(b"one")
    assert lab.upstream.connections == (1 if greeting else 3)
    assert len(lab.recorded) == (0 if greeting else 2)


def test_a_large_body_goes_to_a_file_masked(lab: Any, tmp_path: Path) -> None:
    """What is too large to be held is the same on disk, but for the secrets in it."""
    secret = b"sk_live_51Hxy9f8e7d6c5b4a392817"
    body = b"\0" * (LARGE_OCTETS - 9) + b' {"access_token": "tok-9f8e7d6c5b4a"} ' + secret + b" " + b"\1" * 700_000
    head = b"HTTP/1.1 200 OK\r\nContent-Digest: sha-256=:AAAA:\r\nContent-Length: %d\r\n\r\n" % len(body)
    lab.upstream.on("/big", [head + body])
    assert lab.exchange("/big").endswith(body)
    (one,) = lab.recorded
    blob = one.response.body
    assert isinstance(blob, Blob)
    stored = (tmp_path / blob.sha256).read_bytes()
    assert (len(stored), blob.size) == (len(body), len(body))
    assert secret not in stored
    assert b"tok-9f8e7d6c5b4a" not in stored
    assert stored.count(b"\1") == 700_000
    assert one.redactions
    assert "Content-Digest" not in dict(one.response.headers)


def test_pieces_of_a_large_stream_keep_their_sizes(lab: Any) -> None:
    """Only the octets are let go."""
    piece = b"x" * 1_000_000
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece)] * 6
    lab.upstream.on("/big", [CHUNKED, *chunks, b"0\r\n\r\n"])
    lab.exchange("/big")
    (one,) = lab.recorded
    assert [chunk.size for chunk in one.response.chunks] == [1_000_000] * 6
    assert one.response.body == Blob(hashlib.sha256(piece * 6).hexdigest(), 6_000_000)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_connection_that_is_lost_while_it_is_made(lab: Any, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """mitmproxy's task ends by an assertion and tells nobody; the client is told, and a reset is recorded."""
    real = asyncio.open_connection

    async def reset_at_once(*address: Any, **options: Any) -> Any:
        reader, writer = await real(*address, **options)
        writer.close()
        monkeypatch.setattr(writer, "get_extra_info", lambda _name, default=None: default)
        return reader, writer

    monkeypatch.setattr(asyncio, "open_connection", reset_at_once)
    assert lab.exchange("/x", origin=f"{scheme}://api.example.test").startswith(b"HTTP/1.1 502 ")
    assert [seen(one.response)["fault"] for one in lab.recorded] == [("reset", "connect")]


def test_an_answer_that_cannot_be_kept_does_not_reach_the_client_whole(lab: Any) -> None:
    """What it has begun to read ends in a reset: an answer that a client has is on disk."""
    lab.upstream.on("/x", [CHUNKED + b"2\r\nhi\r\n", "wait", b"0\r\n\r\n"])
    with lab.connect() as link:
        link.sendall(b"GET http://api.example.test/x HTTP/1.1\r\nHost: api.example.test\r\n\r\n")
        while not link.recv(4096).endswith(b"hi\r\n"):
            pass
        lab.log.fail = OperationError("the disk is full")
        lab.upstream.go_on.set()
        with contextlib.suppress(ConnectionResetError):
            assert link.recv(4096) == b""
    assert lab.recorded == []


def test_only_how_rights_differ_from_the_cassettes_is_kept(lab: Any) -> None:
    """A stricter tag of one host is told by its difference, and laid over the head's it is whole again."""
    own = preset("own-synthetic")
    stricter = Tag(permissions=(("ship", Permission("forbidden")),)).over(own)
    lab.session.admission = Admission(rights_of=lambda _host, path: stricter if path == "/strict" else own)
    lab.upstream.on("/strict", [OK])
    lab.upstream.on("/plain", [OK])
    lab.exchange("/strict")
    lab.exchange("/plain")
    strict, plain_one = lab.recorded
    assert plain_one.rights is None
    assert strict.rights == Tag(permissions=(("ship", Permission("forbidden")),))
    assert strict.rights.over(own) == stricter
