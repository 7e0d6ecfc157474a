"""The server of made-up vendors."""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path

import pytest

from replayproxy.demo.certificate import make
from replayproxy.demo.server import Reply, Request, Server, json_reply, serving


def echo(request: Request) -> Reply:
    """What was asked, as JSON; /pieces in pieces, /empty without a body."""
    if request.path == "/pieces":
        return Reply(body=[b"one", b"two"])
    if request.path == "/empty":
        return Reply(status=204)
    return json_reply({"method": request.method, "query": dict(request.query), "body": request.body.decode()}, 201)


def ask(server: Server, method: str, target: str, body: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    """Status, fields and body of one request to SERVER."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    try:
        connection.request(method, target, body)
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def test_a_request_reaches_the_function() -> None:
    """Method, query and body arrive; status, type and length go back; each request is counted."""
    with serving(echo) as server:
        status, fields, body = ask(server, "POST", "/a?x=1&x=2&y=", b"tea")
        assert (status, body) == (201, b'{"method": "POST", "query": {"x": "1", "y": ""}, "body": "tea"}')
        assert (fields["content-type"], fields["content-length"]) == ("application/json", str(len(body)))
        assert server.hits == 1


def test_pieces_go_out_in_chunks() -> None:
    """A body that is not octets has no length but chunks."""
    with serving(echo) as server:
        _, fields, body = ask(server, "GET", "/pieces")
    assert body == b"onetwo"
    assert fields["transfer-encoding"] == "chunked"
    assert "content-length" not in fields


@pytest.mark.parametrize(("method", "target", "status"), [("GET", "/empty", 204), ("HEAD", "/a", 201)])
def test_answers_without_a_body_have_none(method: str, target: str, status: int) -> None:
    """204 and HEAD: the connection can be used on, because nothing follows the head."""
    with serving(echo) as server:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
        for _ in range(2):
            connection.request(method, target)
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (status, b"")
        connection.close()
        assert server.hits == 2


def test_over_tls(tmp_path: Path) -> None:
    """With an identity the server speaks TLS and says so in its URL."""
    identity = make(tmp_path, ("localhost",))
    with serving(echo, tls=identity.context()) as server:
        assert server.url == f"https://127.0.0.1:{server.port}"
        context = ssl.create_default_context(cafile=str(identity.authority))
        connection = http.client.HTTPSConnection("localhost", server.port, timeout=10, context=context)
        connection.request("GET", "/a")
        assert connection.getresponse().status == 201
        connection.close()


def test_afterwards_nobody_listens() -> None:
    """When the block has ended, a client is refused: what still answers is a recording."""
    with serving(echo) as server:
        assert ask(server, "GET", "/a")[0] == 201
    with pytest.raises(ConnectionRefusedError):
        ask(server, "GET", "/a")


def test_a_body_that_is_no_json_is_an_error() -> None:
    """A vendor that asks for JSON learns that it got none."""
    request = Request(
        base="http://a.example",
        method="POST",
        path="/",
        query={},
        headers=http.client.HTTPMessage(),
        body=b"<tea/>",
    )
    with pytest.raises(ValueError, match="Expecting value"):
        request.json()
