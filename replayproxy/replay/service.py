"""The service that replays: what the host asks, put to the core, and what the core decides, made ready to be sent."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO, Protocol

from replayproxy.core import problem
from replayproxy.core.coding import accepts, negotiate
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Blob, Headers, Interaction, Origin, Request, Response, header
from replayproxy.core.library import Library
from replayproxy.core.replayer import Decision, Refused, Served, answer
from replayproxy.core.sequence import Recording
from replayproxy.replay.answer import Answer, Standing

logger = logging.getLogger(__name__)

TLS_PORT = 443
CODED_ANSWERS = 256
"""How many answers are kept in the content coding that a client takes."""
CODED_OCTETS = 262_144
"""The size up to which they are."""

type OpenBlob = Callable[[int, Blob], BinaryIO]
"""Opens a body in a file, given the position of its cassette among the library's."""


class Episodes(Protocol):
    """The episodes that there are."""

    def of_user(self, user: str | None) -> Episode | None:
        """The episode that a proxy user name stands for, the default one for None; None if there is none."""


class ReplayService:
    """Answers from LIBRARY, each client in its episode of EPISODES. Nothing it does reaches a network."""

    def __init__(self, library: Library, episodes: Episodes, open_blob: OpenBlob) -> None:
        self.pinned_by: dict[str, str] = {}
        """`HOST:PORT` of each client that refused our certificate, and why."""
        self._library = library
        self._episodes = episodes
        self._open_blob = open_blob
        self._ports = {TLS_PORT, *(port for ports in library.ports.values() for port in ports)}
        self._over_http2 = library.over_http2
        self._heads = library.heads
        self._coded: OrderedDict[tuple[int, str | None], Response] = OrderedDict()

    def protocols(self, host: str, port: int) -> tuple[str, ...]:
        """HTTP/2 first for what was recorded over it; else it is for clients that offer nothing older."""
        return ("h2", "http/1.1") if (host.lower(), port) in self._over_http2 else ("http/1.1", "h2")

    def tunnel(self, user: str | None, host: str, port: int) -> Answer | None:
        """None for port 443 and every recorded port, whatever the host; else a miss, or 407 for no known episode."""
        episode = self._episodes.of_user(user)
        if episode is None:
            return _unknown_episode(host)
        if port in self._ports:
            return None
        return self._decided(episode, Request(method="CONNECT", origin=Origin("https", host, port), target="/"))

    def early(self, user: str | None, head: Request) -> Answer | None:
        """An answer that was recorded before the request's body was sent; 407 for no known episode.

        Where others to the same head needed the body, as a retry's does, they come in their recorded order.
        """
        episode = self._episodes.of_user(user)
        if episode is None:
            return _unknown_episode(head.origin.host)
        series = episode.library.question(head).series if self._heads else None
        alike = self._heads.get(series.mark, ()) if series else ()
        if not alike:
            return None
        now = next((position for position in alike if not episode.has_served(position)), alike[-1])
        early = episode.library.recordings[now].interaction.response.before_body
        return self._decided(episode, head) if early else None

    def answer(self, user: str | None, request: Request) -> Answer:
        """What the episode of USER has for REQUEST. Raises what went wrong in the core, which has refused it."""
        episode = self._episodes.of_user(user)
        if episode is None:
            return _unknown_episode(request.origin.host)
        return self._decided(episode, request)

    def again(self, user: str | None, standing: Standing) -> bool:
        """The episode of USER is given once more what STANDING stands for; False where there is no such episode."""
        episode = self._episodes.of_user(user)
        if episode is None:
            return False
        standing.again(episode)
        return True

    def failed(self, error: Exception) -> Answer:
        """A refusal that tells the kind of ERROR and nothing else."""
        return _told(*problem.problem_response(problem.failure("", error), "refused"))

    def pinned(self, host: str, port: int, why: str) -> None:
        """Note that a client of HOST and PORT refused our certificate, and say so the first time."""
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if name not in self.pinned_by:
            self.pinned_by[name] = why
            logger.warning("a client of %s refused the interception certificate (%s)", name, why)

    # -- decisions ----------------------------------------------------------------------------------

    def _decided(self, episode: Episode, request: Request) -> Answer:
        decision = answer(episode, request, open=True)
        line = decision.line

        def ended() -> None:
            episode.finish(line)

        if not isinstance(decision, Served):
            if isinstance(decision, Refused) and decision.error is not None:
                raise decision.error  # the host tells it, and answers as `failed` says
            return replace(_told(*decision.response()), ended=ended, standing=self._standing(decision))
        cassette = decision.recording.cassette

        def opened(blob: Blob) -> BinaryIO:
            return self._open_blob(cassette, blob)

        recorded = decision.interaction.response
        response = decision.response
        if response.coding is not None:
            accepted = _accepted(decision.interaction, request)
            response = self._negotiated(decision.recording, response, accepted, shared=response is recorded)
        return Answer(
            response=response,
            first_ms=decision.interaction.first_ms,
            open_blob=opened,
            ended=ended,
            standing=self._standing(decision),
        )

    def _standing(self, decision: Decision) -> Standing | None:
        """Why the answer is the same again; None where some answers are given to a head alone, which ends that."""
        return None if self._heads else decision.standing

    def _negotiated(self, recording: Recording, response: Response, accepted: str | None, *, shared: bool) -> Response:
        """RESPONSE in a content coding that is ACCEPTED; SHARED where all clients get the same octets."""
        key = (recording.position, accepted)
        if shared and key in self._coded:
            self._coded.move_to_end(key)
            return self._coded[key]
        coded = negotiate(self._whole(recording.cassette, response), accepted)
        if shared and len(coded.body if isinstance(coded.body, bytes) else b"") <= CODED_OCTETS:
            self._coded[key] = coded
            if len(self._coded) > CODED_ANSWERS:
                self._coded.popitem(last=False)
        return coded

    def _whole(self, cassette: int, response: Response) -> Response:
        """RESPONSE with its bodies in memory, since coding a body anew takes all of it."""
        coding = response.coding
        assert coding is not None
        if isinstance(coding.coded, Blob):
            coding = replace(coding, coded=self._octets(cassette, coding.coded))
        body = response.body
        if isinstance(body, Blob):
            body = self._octets(cassette, body)
        return replace(response, body=body, coding=coding)

    def _octets(self, cassette: int, blob: Blob) -> bytes:
        with self._open_blob(cassette, blob) as file:
            return file.read()


def _accepted(recorded: Interaction, request: Request) -> str | None:
    """The Accept-Encoding to negotiate REQUEST's answer with; None where anything is taken.

    An upstream that sent a coding to a client that had ruled it out does not negotiate: every client gets what it sent.
    """
    coding = recorded.response.coding
    offered = header(recorded.request.headers, "accept-encoding")
    if coding is not None and not all(accepts(offered, name) for name in coding.names):
        return None
    return header(request.headers, "accept-encoding")


def _told(status: int, reason: str, headers: Headers, body: bytes) -> Answer:
    return Answer(response=Response(status=status, reason=reason, headers=headers, body=body))


def _unknown_episode(host: str) -> Answer:
    """407 that asks for the name of an episode (RFC 9110 section 11.7.1); any password goes with one."""
    body = {
        "type": "urn:replayproxy:problem:unknown-episode",
        "title": "No such episode",
        "status": 407,
        "detail": f"the request to {host} names no episode that there is",
        "code": "unknown-episode",
        "hint": "name it in the proxy URL, http://EPISODE:x@HOST:PORT, after POST /reset has made it",
    }
    headers = (
        ("Content-Type", "application/problem+json"),
        ("Proxy-Authenticate", 'Basic realm="replayproxy episode"'),
        ("x-replayproxy-decision", "refused"),
        ("x-replayproxy-code", "unknown-episode"),
        ("x-should-retry", "false"),
    )
    return _told(407, "Proxy Authentication Required", headers, json.dumps(body).encode())
