"""What all servers are given to serve: the same questions and answers, in the form that each of them reads.

Everything is derived from numbers, so that two runs measure the same octets. Nothing here starts a program.
"""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mitmproxy import connection, http
from mitmproxy.io import FlowWriter

from replayproxy import store
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.rights import preset

HOST = "bench.example"
PORTS = {"http": 80, "https": 443}
RECORDED_US = 1_770_000_000_000_000
BODIES_OCTETS = 64 << 20
"""How much the distinct bodies of a recording come to; beyond it interactions share bodies."""
ASKED = (
    ("Host", HOST),
    ("User-Agent", "python-requests/2.32.3"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Accept", "*/*"),
    ("Connection", "keep-alive"),
)
ANSWERED = (
    ("Content-Type", "application/json"),
    ("Date", "Mon, 02 Feb 2026 02:40:00 GMT"),
    ("Server", "example"),
    ("ETag", '"5f3c-1a2b"'),
)


@dataclass(frozen=True, slots=True)
class Question:
    """One recorded interaction: what is asked, and which of the recording's bodies answers it."""

    method: str
    path: str
    asked: bytes
    body: int


@dataclass(frozen=True)
class Recordings:
    """COUNT interactions over one scheme, each answered by SIZE octets of JSON; POSTs carry 1 KB of JSON each.

    `takes` is how many answers each question has, one after the other.
    """

    scheme: str = "http"
    method: str = "GET"
    size: int = 300
    count: int = 1000
    takes: int = 1

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.scheme}-{self.method.lower()}-{self.size}-{self.count}-{self.takes}"

    @cached_property
    def bodies(self) -> tuple[bytes, ...]:
        """The distinct bodies."""
        distinct = max(1, min(self.count, BODIES_OCTETS // self.size))
        return tuple(body_of(number, self.size) for number in range(distinct))

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The interactions, in recorded order."""
        return tuple(self._question(number) for number in range(self.count))

    def _question(self, number: int) -> Question:
        thing = number // self.takes
        body = number % len(self.bodies)
        if self.method == "GET":
            return Question("GET", f"/v1/things/{thing}?expand=all", b"", body)
        return Question("POST", "/v1/search", search_of(thing), body)


def body_of(number: int, size: int) -> bytes:
    """SIZE octets of JSON that do not compress, another for each NUMBER."""
    frame = f'{{"id":"{number:08d}","data":""}}'
    wanted = size - len(frame)
    if wanted < 0:
        raise ValueError(f"a body has at least {len(frame)} octets")
    noise = random.Random(number).randbytes(wanted)  # noqa: S311 - the same in every run is the point
    return (frame[:-2] + base64.b64encode(noise).decode("ascii")[:wanted] + frame[-2:]).encode("ascii")


def search_of(number: int) -> bytes:
    """1,024 octets of JSON as clients send them: nested, with words, numbers and lists, another for each NUMBER."""
    document: dict[str, Any] = {
        "query": f"recorded thing number {number}",
        "filters": {"state": ["open", "paid"], "minimum": number, "ratio": 0.25, "exact": True, "parent": None},
        "page": {"size": 50, "after": f"thing-{number}"},
        "fields": [{"name": f"field_{index}", "weight": index * 10, "label": "a label"} for index in range(8)],
        "note": "",
    }
    document["note"] = "x" * (1024 - len(json.dumps(document)))
    return json.dumps(document).encode("ascii")


def fields_of(question: Question) -> tuple[tuple[str, str], ...]:
    """The header fields of its request."""
    if not question.asked:
        return ASKED
    return (*ASKED, ("Content-Type", "application/json"), ("Content-Length", str(len(question.asked))))


def write_cassette(recordings: Recordings, path: Path) -> None:
    """Make PATH the cassette that `replayproxy record` would have written of them."""
    origin = Origin.of(recordings.scheme, HOST)
    interactions = []
    for order, question in enumerate(recordings.questions):
        request = Request(
            method=question.method, origin=origin, target=question.path, headers=fields_of(question),
            body=question.asked,
        )  # fmt: skip
        body = recordings.bodies[question.body]
        response = Response(status=200, reason="OK", headers=(*ANSWERED, ("Content-Length", str(len(body)))), body=body)
        interactions.append(Interaction(
            id=interaction_id(order, request), order=order, request=request, response=response,
            started_us=RECORDED_US + order * 1000, first_ms=12, ended_ms=15,
        ))  # fmt: skip
    cassette = Cassette(
        name=path.stem, interactions=tuple(interactions), rights=preset("own-synthetic"), salt="00" * 16,
        recorded_us=RECORDED_US,
    )  # fmt: skip
    store.write(path, cassette)


def wire(fields: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    """FIELDS in octets."""
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in fields]


def write_flows(recordings: Recordings, path: Path) -> None:
    """Make PATH hold them as mitmproxy keeps them."""
    address = (HOST, PORTS[recordings.scheme])
    with path.open("wb") as file:
        writer = FlowWriter(file)  # type: ignore[no-untyped-call]  # mitmproxy leaves its constructor untyped
        for question in recordings.questions:
            client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
            flow = http.HTTPFlow(client, connection.Server(address=address))
            url = f"{recordings.scheme}://{HOST}{question.path}"
            flow.request = http.Request.make(
                question.method, url, question.asked, http.Headers(wire(fields_of(question)))
            )
            flow.response = http.Response.make(200, recordings.bodies[question.body], dict(ANSWERED))
            writer.add(flow)


def write_static(recordings: Recordings, folder: Path) -> None:
    """Fill FOLDER with a file for each path, as a static web server reads them; its query does not count there."""
    for question in recordings.questions:
        path = folder / question.path.partition("?")[0].lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(recordings.bodies[question.body])


def write_mappings(recordings: Recordings, folder: Path) -> None:
    """Fill FOLDER with WireMock's stubs."""
    (folder / "mappings").mkdir(parents=True)
    mappings = []
    for question in recordings.questions:
        request: dict[str, Any] = {"method": question.method, "url": question.path}
        if question.asked:
            request["bodyPatterns"] = [{"equalToJson": question.asked.decode("ascii")}]
        body = recordings.bodies[question.body].decode("ascii")
        mappings.append({"request": request, "response": {"status": 200, "headers": dict(ANSWERED), "body": body}})
    (folder / "mappings" / "bench.json").write_text(json.dumps({"mappings": mappings}), "ascii")


def write_imposters(recordings: Recordings, path: Path, port: int, identity: dict[str, str]) -> None:
    """Make PATH mountebank's configuration: an imposter on PORT; IDENTITY holds `key` and `cert` for https."""
    stubs = []
    for question in recordings.questions:
        asked: dict[str, Any] = {"method": question.method, "path": question.path.partition("?")[0]}
        if question.asked:
            asked["body"] = json.loads(question.asked)
        body = recordings.bodies[question.body].decode("ascii")
        fields = {**dict(ANSWERED), "Content-Length": str(len(body)), "Connection": "keep-alive"}
        stubs.append({
            "predicates": [{"equals": asked}],
            "responses": [{"is": {"statusCode": 200, "headers": fields, "body": body}}],
        })  # fmt: skip
    imposter = {"port": port, "protocol": recordings.scheme, "stubs": stubs, **identity}
    path.write_text(json.dumps({"imposters": [imposter]}), "ascii")
