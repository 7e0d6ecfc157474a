"""replayproxy.replay.service: what the core decides reaches the client as it should, and nothing else does."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from typing import Any, BinaryIO

import pytest

from replayproxy.core.clock import Clock
from replayproxy.core.coding import undo
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Blob, Cassette, Coding, Interaction, Origin, Request, Response
from replayproxy.core.library import Library
from replayproxy.core.rights import preset
from replayproxy.replay import service as module
from replayproxy.replay.answer import Answer
from replayproxy.replay.service import ReplayService

HOST = "api.example.test"
PLAIN = b"text " * 20
FILES = {"c" * 64: gzip.compress(PLAIN, mtime=7), "b" * 64: PLAIN}


def asked(target: str, method: str = "GET", scheme: str = "https", **more: Any) -> Request:
    """A request to HOST."""
    return Request(method=method, origin=Origin.of(scheme, HOST), target=target, **more)


def told(order: int, request: Request, response: Response) -> Interaction:
    """An interaction in the order given."""
    return Interaction(id=f"i{order}", order=order, request=request, response=response, first_ms=order)


def coded(body: bytes) -> Response:
    """A response with a gzip body, as a recording holds it."""
    headers = (("Content-Encoding", "gzip"), ("Content-Length", str(len(body))))
    plain, coding = undo(headers, body)
    return Response(status=200, headers=headers, body=plain, coding=coding)


class Fixed:
    """One episode, by the names None and `known`."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode

    def of_user(self, user: str | None) -> Episode | None:
        """The episode, or None for another name."""
        return self.episode if user in (None, "known") else None


class Made:
    """A service, its episode, and which files it has opened."""

    def __init__(self) -> None:
        in_file = Coding(names=("gzip",), coded=Blob("c" * 64, len(FILES["c" * 64])))
        odd = Request(method="GET", origin=Origin.of("http", "odd.test", 8080), target="/")
        interactions = (
            told(0, asked("/a"), Response(status=200, reason="Fine", body=b"one")),
            told(1, asked("/z"), coded(gzip.compress(PLAIN, mtime=7))),
            told(2, asked("/h2", version="HTTP/2"), Response(status=200)),
            told(3, asked("/big"), Response(status=200, body=Blob("b" * 64, len(PLAIN)))),
            told(4, asked("/zbig"), Response(status=200, body=Blob("b" * 64, len(PLAIN)), coding=in_file)),
            told(5, asked("/deny", "PUT"), Response(status=417, body=b"no", before_body=True)),
            told(6, odd, Response(status=200)),
            told(7, asked("/r", "PUT"), Response(status=204)),
            told(8, asked("/r"), Response(status=200)),
        )
        cassette = Cassette(name="one", interactions=interactions, rights=preset("own-synthetic"))
        self.library = Library.build([cassette], purpose="local-debug")
        self.episode = Episode("default", 0, self.library, Clock.parse("recorded", 0))
        self.opened: list[tuple[int, str]] = []
        self.service = ReplayService(self.library, Fixed(self.episode), self.open)

    def open(self, cassette: int, blob: Blob) -> BinaryIO:
        """The octets of FILES."""
        self.opened.append((cassette, blob.sha256))
        return io.BytesIO(FILES[blob.sha256])


def no_files(cassette: int, blob: Blob) -> BinaryIO:
    """For libraries whose bodies all are in memory."""
    raise AssertionError(f"cassette {cassette} has no body {blob.sha256}")


@pytest.fixture
def made() -> Made:
    """Fresh for each test."""
    return Made()


def decision(answer: Answer | None) -> tuple[int, str | None]:
    """Status and decision field of an answer."""
    assert answer is not None
    return answer.response.status, dict(answer.response.headers).get("x-replayproxy-decision")


def test_a_hit_is_the_recorded_response(made: Made) -> None:
    """Nothing is added; the time of its head comes with it."""
    answer = made.service.answer(None, asked("/a"))
    assert answer.response == Response(status=200, reason="Fine", body=b"one")
    assert answer.first_ms == 0
    assert made.episode.counts == {"served": 1, "misses": 0, "refusals": 0}


def test_a_miss_is_a_424_problem(made: Made) -> None:
    """And journalled."""
    answer = made.service.answer("known", asked("/never"))
    assert decision(answer) == (424, "miss")
    assert made.episode.counts["misses"] == 1


def test_an_exchange_is_in_flight_until_it_has_ended(made: Made) -> None:
    """A read that overlaps a write to what it reads is journalled as such; one after it is not."""
    write = made.service.answer(None, asked("/r", "PUT"))
    made.service.answer(None, asked("/r"))
    assert write.ended is not None
    write.ended()
    made.service.answer(None, asked("/r"))
    assert [entry.overlaps for entry in made.episode.journal] == [False, True, False]


@pytest.mark.parametrize("ask", ["tunnel", "early", "answer"])
def test_an_unknown_episode_is_asked_for(made: Made, ask: str) -> None:
    """407 with a challenge, on CONNECT too; nothing is journalled."""
    head = asked("/a")
    answers: dict[str, Callable[[], Answer | None]] = {
        "tunnel": lambda: made.service.tunnel("stranger", HOST, 443),
        "early": lambda: made.service.early("stranger", head),
        "answer": lambda: made.service.answer("stranger", head),
    }
    answer = answers[ask]()
    assert decision(answer) == (407, "refused")
    assert answer is not None
    assert dict(answer.response.headers)["Proxy-Authenticate"].startswith("Basic ")
    assert not made.episode.journal


@pytest.mark.parametrize(("host", "port"), [(HOST, 443), ("never.test", 443), ("never.test", 8080), (HOST, 8080)])
def test_tunnels_to_443_and_recorded_ports_are_ended_here(made: Made, host: str, port: int) -> None:
    """Whatever the host, so that a miss can be told inside."""
    assert made.service.tunnel(None, host, port) is None


def test_other_tunnels_are_a_miss(made: Made) -> None:
    """At once, and journalled."""
    assert decision(made.service.tunnel(None, HOST, 25)) == (424, "miss")
    assert made.episode.counts["misses"] == 1


def test_an_answer_that_needed_no_body_comes_early(made: Made) -> None:
    """Only that one; a request that is answered by its body is not asked about twice."""
    early = made.service.early(None, asked("/deny", "PUT", headers=(("Content-Length", "3"),)))
    assert early is not None
    assert early.response.status == 417
    assert made.service.early(None, asked("/a", "PUT")) is None
    assert made.service.early(None, asked("/a")) is None
    assert made.episode.counts == {"served": 1, "misses": 0, "refusals": 0}


def retried(*responses: tuple[bytes, int, bool]) -> ReplayService:
    """A service with PUTs to one resource: body, status, and whether the answer came before the body."""
    interactions = tuple(
        told(at, asked("/part", "PUT", body=body), Response(status=status, before_body=early))
        for at, (body, status, early) in enumerate(responses)
    )
    library = Library.build(
        [Cassette(name="one", interactions=interactions, rights=preset("own-synthetic"))], purpose="local-debug"
    )
    episode = Episode("default", 0, library, Clock.parse("recorded", 0))
    return ReplayService(library, Fixed(episode), no_files)


@pytest.mark.parametrize(
    ("responses", "sent", "answered"),
    [
        ([(b"", 503, True), (b"abc", 200, False)], [b"abc", b"abc", b"abc"], [503, 200, 200]),
        ([(b"abc", 200, False), (b"", 417, True)], [b"abc", b"abc", b"abc"], [200, 417, 417]),
        ([(b"", 503, True), (b"", 429, True), (b"abc", 200, False)], [b"abc"] * 3, [503, 429, 200]),
        ([(b"", 503, True), (b"abc", 200, False)], [b"abc", b"xyz"], [503, 424]),
    ],
)
def test_answers_to_a_head_and_to_its_body_come_in_their_order(
    responses: list[tuple[bytes, int, bool]], sent: list[bytes], answered: list[int]
) -> None:
    """A retry after an early 503 is answered by its body, as it was; the last early answer repeats."""
    service = retried(*responses)
    got = []
    for body in sent:
        answer = service.early(None, asked("/part", "PUT")) or service.answer(None, asked("/part", "PUT", body=body))
        got.append(answer.response.status)
    assert got == answered


def test_http2_is_preferred_where_it_was_recorded(made: Made) -> None:
    """By host and port; elsewhere it is for clients that offer nothing else."""
    assert made.service.protocols(HOST, 443) == ("h2", "http/1.1")
    assert made.service.protocols("other.test", 443) == ("http/1.1", "h2")


def test_a_coded_body_is_what_the_client_takes(made: Made) -> None:
    """The recorded octets for who takes the coding, the plain ones for who does not."""
    taken = made.service.answer(None, asked("/z", headers=(("Accept-Encoding", "gzip"),)))
    assert taken.response.body == gzip.compress(PLAIN, mtime=7)
    plain = made.service.answer(None, asked("/z", headers=(("Accept-Encoding", "identity"),)))
    assert plain.response.body == PLAIN
    assert "Content-Encoding" not in dict(plain.response.headers)


@pytest.mark.parametrize(
    ("offered", "asking", "is_coded"),
    [("identity", "identity", True), ("br", "identity", True), ("gzip", "identity", False), (None, "identity", False)],
)
def test_an_upstream_that_does_not_negotiate_is_replayed_so(offered: str | None, asking: str, is_coded: bool) -> None:
    """A coding that was sent to a client that had ruled it out is what every client gets."""
    fields = (("Accept-Encoding", offered),) if offered else ()
    interactions = (told(0, asked("/z", headers=fields), coded(gzip.compress(PLAIN, mtime=7))),)
    cassette = Cassette(name="one", interactions=interactions, rights=preset("own-synthetic"))
    library = Library.build([cassette], purpose="local-debug")
    service = ReplayService(library, Fixed(Episode("default", 0, library, Clock.parse("recorded", 0))), no_files)
    got = service.answer(None, asked("/z", headers=(("Accept-Encoding", asking),))).response
    assert (got.body == gzip.compress(PLAIN, mtime=7)) is is_coded
    assert ("Content-Encoding" in dict(got.headers)) is is_coded


def test_coded_answers_are_kept_and_bounded(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coding is not done again for the same client, and what is kept does not grow without end."""
    monkeypatch.setattr(module, "CODED_ANSWERS", 2)

    def ask(accepted: str) -> Response:
        return made.service.answer(None, asked("/z", headers=(("Accept-Encoding", accepted),))).response

    first = ask("gzip")
    assert ask("gzip") is first
    ask("identity")
    assert ask("gzip") is first
    ask("gzip;q=0")
    ask("br;q=0")
    assert ask("gzip") is not first


def test_a_body_in_a_file_stays_there_until_it_is_sent(made: Made) -> None:
    """The service opens nothing itself, and the file of the right cassette is opened."""
    answer = made.service.answer(None, asked("/big"))
    assert isinstance(answer.response.body, Blob)
    assert not made.opened
    assert answer.open_blob is not None
    assert answer.open_blob(answer.response.body).read() == PLAIN
    assert made.opened == [(0, "b" * 64)]


@pytest.mark.parametrize(("accepted", "body"), [("gzip", FILES["c" * 64]), ("identity", PLAIN)])
def test_a_coded_body_in_a_file_is_negotiated(made: Made, accepted: str, body: bytes) -> None:
    """It has to be read, since it may have to be coded anew."""
    answer = made.service.answer(None, asked("/zbig", headers=(("Accept-Encoding", accepted),)))
    assert answer.response.body == body


def test_a_failure_of_the_core_is_raised_for_the_host_to_tell(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has been journalled as a refusal."""

    def question(_: Library, request: Request) -> None:
        raise LookupError(request.method)

    monkeypatch.setattr(Library, "question", question)
    with pytest.raises(LookupError):
        made.service.answer(None, asked("/a"))
    assert made.episode.counts["refusals"] == 1


def test_a_failure_tells_its_kind_only(made: Made) -> None:
    """No text of an exception reaches a client."""
    answer = made.service.failed(ValueError("/home/secret"))
    assert decision(answer) == (424, "refused")
    assert isinstance(answer.response.body, bytes)
    assert b"secret" not in answer.response.body
    assert json.loads(answer.response.body)["code"] == "internal-error"


def test_a_client_that_refuses_us_is_named_once(made: Made, caplog: pytest.LogCaptureFixture) -> None:
    """On the log and for the report; IPv6 in brackets."""
    for _ in range(2):
        made.service.pinned("pinned.test", 443, "unknown ca")
    made.service.pinned("::1", 8443, "unknown ca")
    assert list(made.service.pinned_by) == ["pinned.test:443", "[::1]:8443"]
    assert [record.args for record in caplog.records] == [
        ("pinned.test:443", "unknown ca"),
        ("[::1]:8443", "unknown ca"),
    ]
