"""The real VCR.py as oracle: it plays our files unchanged, and we read the files it writes."""

from __future__ import annotations

import asyncio
import gzip
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import aiohttp
import httpx
import pytest
import requests
import vcr

from replayproxy.core.exchange import (
    Blob,
    Cassette,
    Chunk,
    Coding,
    Interaction,
    Origin,
    Request,
    Response,
    interaction_id,
)
from replayproxy.core.rights import preset
from replayproxy.format import dump, load

type Answer = tuple[int, bytes, list[str], str | None]
"""Status, body, values of Set-Cookie, Content-Type."""

HTTPS = Origin.of("https", "api.example.test")
COOKIES = (("Set-Cookie", "a=1; Path=/"), ("Content-Type", "application/json"), ("Set-Cookie", "b=2"))
BODIES = {"text": '{"a":"é😀"}'.encode(), "lines": b"data: 1\n\ndata: 2\n\n", "octets": b"\x00\xff", "empty": b""}


def with_urllib(url: str) -> Answer:
    """GET by the standard library."""
    with urllib.request.urlopen(url, timeout=5) as answer:
        headers = answer.headers
        return answer.status, answer.read(), headers.get_all("Set-Cookie") or [], headers["Content-Type"]


def with_requests(url: str) -> Answer:
    """GET by requests."""
    answer = requests.get(url, timeout=5)
    cookies = [f"{cookie.name}={cookie.value}" for cookie in answer.cookies]
    return answer.status_code, answer.content, cookies, answer.headers.get("Content-Type")


def with_httpx(url: str) -> Answer:
    """GET by httpx."""
    answer = httpx.get(url, follow_redirects=True)
    return answer.status_code, answer.content, answer.headers.get_list("set-cookie"), answer.headers.get("Content-Type")


def with_aiohttp(url: str) -> Answer:
    """GET by aiohttp."""

    async def get() -> Answer:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            headers = answer.headers
            return answer.status, await answer.read(), headers.getall("Set-Cookie", []), headers.get("Content-Type")

    return asyncio.run(get())


CLIENTS = [with_urllib, with_requests, with_httpx, with_aiohttp]


def cassette_file(folder: Path, response: Response, **request: object) -> Path:
    """A file with one interaction, GET https://api.example.test/a?x=1."""
    asked = Request(**{"method": "GET", "origin": HTTPS, "target": "/a?x=1", **request})  # type: ignore[arg-type]
    one = Interaction(id=interaction_id(0, asked), order=0, request=asked, response=response)
    path = folder / "cassette.yaml"
    path.write_bytes(dump(Cassette(name="c", interactions=(one,), rights=preset("own-synthetic"))).text)
    return path


@pytest.mark.parametrize("get", CLIENTS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_vcrpy_plays_our_files(tmp_path: Path, get: Callable[[str], Answer], body: bytes) -> None:
    """Status, body and repeated fields as recorded, with four clients; the file is left alone."""
    path = cassette_file(tmp_path, Response(status=200, reason="OK", headers=COOKIES, body=body))
    before = path.read_bytes()
    with vcr.use_cassette(str(path), record_mode="none") as played:
        status, found, cookies, kind = get("https://api.example.test/a?x=1")
        assert played.play_count == 1
    assert (status, found, kind, len(cookies)) == (200, body, "application/json", 2)
    assert path.read_bytes() == before


@pytest.mark.parametrize("get", CLIENTS)
def test_vcrpy_plays_what_was_coded_and_chunked(tmp_path: Path, get: Callable[[str], Answer]) -> None:
    """It sees the decoded body with its own length and no coding, so its clients do not decode twice."""
    response = Response(
        status=200,
        reason="OK",
        headers=(("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip"), ("Content-Type", "text/plain")),
        body=b"hello",
        framing="chunked",
        coding=Coding(names=("gzip",), coded=b"\x1f\x8b..."),
        chunks=(Chunk(2, 1, 3), Chunk(3, 2, 2)),
    )
    path = cassette_file(tmp_path, response)
    with vcr.use_cassette(str(path), record_mode="none"):
        assert get("https://api.example.test/a?x=1") == (200, b"hello", [], "text/plain")


LARGE = {
    "response": (Response(status=200, body=Blob("a" * 64, 70000)), {}, AttributeError),
    "request": (Response(status=200), {"method": "POST", "body": Blob("a" * 64, 70000)}, TypeError),
}


@pytest.mark.parametrize(("response", "request_parts", "error"), LARGE.values(), ids=LARGE.keys())
def test_vcrpy_fails_loudly_on_bodies_in_files(
    tmp_path: Path, response: Response, request_parts: dict[str, object], error: type[Exception]
) -> None:
    """It knows no such files, and must not play the body as empty."""
    path = cassette_file(tmp_path, response, **request_parts)
    with pytest.raises(error), vcr.use_cassette(str(path), record_mode="none"):
        pytest.fail("VCR.py took the cassette")


class _Upstream(BaseHTTPRequestHandler):
    """Answers with a repeated field and a body that depends on the path; to POST with what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._answer(201, self.rfile.read(int(self.headers["Content-Length"])))

    def do_GET(self) -> None:
        if self.path == "/moved":
            self._answer(302, b"", location="/text")
        elif self.path == "/coded" and "gzip" in self.headers.get("Accept-Encoding", ""):
            self._answer(200, gzip.compress(b"coded", mtime=0), content_encoding="gzip")
        else:
            self._answer(200, b"\x00\xff" if self.path == "/octets" else "é".encode())

    def _answer(self, status: int, body: bytes, **fields: str) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-").title(), value)
        self.send_header("X-A", "1")
        self.send_header("X-A", "2")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def upstream() -> Iterator[str]:
    """A server on the loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("get", CLIENTS)
def test_we_read_what_vcrpy_writes(tmp_path: Path, upstream: str, get: Callable[[str], Answer]) -> None:
    """Recorded by VCR.py through four clients, read by us, written as ours, and played by VCR.py again."""
    path = tmp_path / "theirs.yaml"
    urls = [f"{upstream}/{name}" for name in ("text", "octets", "coded", "moved")]
    with vcr.use_cassette(str(path), record_mode="once"):
        live = [get(url) for url in urls]
    cassette = load(path.read_bytes(), path.name)
    bodies = [one.response.body for one in cassette.interactions]
    coded = b"coded" if get is not with_urllib else "é".encode()  # which takes no coding
    assert bodies == ["é".encode(), b"\x00\xff", coded, b"", "é".encode()]
    assert [one.response.status for one in cassette.interactions] == [200, 200, 200, 302, 200]
    assert [one.request.target for one in cassette.interactions][3:] == ["/moved", "/text"]
    assert [value for name, value in cassette.interactions[0].response.headers if name.lower() == "x-a"] == ["1", "2"]
    path.write_bytes(dump(cassette).text)
    with vcr.use_cassette(str(path), record_mode="none"):
        assert [get(url) for url in urls] == live


def post_urllib(url: str, body: bytes) -> tuple[int, bytes]:
    """POST by the standard library."""
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=5) as answer:
        return answer.status, answer.read()


def post_requests(url: str, body: bytes) -> tuple[int, bytes]:
    """POST by requests."""
    answer = requests.post(url, data=body, timeout=5)
    return answer.status_code, answer.content


def post_httpx(url: str, body: bytes) -> tuple[int, bytes]:
    """POST by httpx."""
    answer = httpx.post(url, content=body)
    return answer.status_code, answer.content


def post_aiohttp(url: str, body: bytes) -> tuple[int, bytes]:
    """POST by aiohttp."""

    async def post() -> tuple[int, bytes]:
        async with aiohttp.ClientSession() as session, session.post(url, data=body) as answer:
            return answer.status, await answer.read()

    return asyncio.run(post())


@pytest.mark.parametrize("post", [post_urllib, post_requests, post_httpx, post_aiohttp])
@pytest.mark.parametrize("body", ['{"a":"é"}'.encode(), b"\x00\xff"], ids=["text", "octets"])
def test_we_read_the_request_bodies_that_vcrpy_writes(
    tmp_path: Path, upstream: str, post: Callable[[str, bytes], tuple[int, bytes]], body: bytes
) -> None:
    """Octet for octet, and VCR.py matches on them in what we write."""
    path = tmp_path / "theirs.yaml"
    with vcr.use_cassette(str(path), record_mode="once"):
        assert post(f"{upstream}/echo", body) == (201, body)
    cassette = load(path.read_bytes(), path.name)
    (one,) = cassette.interactions
    assert (one.request.method, one.request.body, one.response.body) == ("POST", body, body)
    path.write_bytes(dump(cassette).text)
    with vcr.use_cassette(str(path), record_mode="none", match_on=["method", "uri", "body"]):
        assert post(f"{upstream}/echo", body) == (201, body)
