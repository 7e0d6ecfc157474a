"""The one decision: a request is served, missed or refused. Whatever goes wrong, it is never let out.

`answer` decides and journals. It moves a cursor and, where a write answers, shows it to later reads; it opens, reads
and waits for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core import problem
from replayproxy.core.binding import bound
from replayproxy.core.canonical import is_conditional
from replayproxy.core.episode import Entry, Episode
from replayproxy.core.exchange import Headers, Interaction, Request, Response
from replayproxy.core.library import Question
from replayproxy.core.problem import Problem, problem_response
from replayproxy.core.sequence import Absent, Recording


@dataclass(frozen=True, slots=True)
class Served:
    """A recorded answer: `response` is the interaction's, with the caller's values where they were bound."""

    entry: Entry
    interaction: Interaction
    response: Response


@dataclass(frozen=True, slots=True)
class Missed:
    """No recorded answer, and why."""

    entry: Entry
    problem: Problem

    def response(self) -> tuple[int, str, Headers, bytes]:
        """Status, reason, header fields and body that tell it."""
        return problem_response(self.problem, "miss")


@dataclass(frozen=True, slots=True)
class Refused:
    """Rights forbid the answer, or the core failed (`error`)."""

    entry: Entry
    problem: Problem
    error: Exception | None = None

    def response(self) -> tuple[int, str, Headers, bytes]:
        """Status, reason, header fields and body that tell it."""
        return problem_response(self.problem, "refused")


type Decision = Served | Missed | Refused


def answer(episode: Episode, request: Request, *, open: bool = False) -> Decision:  # noqa: A002 - says what it does
    """What REQUEST gets in EPISODE, journalled.

    With OPEN the exchange counts as in flight until `episode.finish(decision.entry)`, so that overlaps are journalled.
    Never raises: a failure in here is a refusal with the code `internal-error`.
    """
    try:
        question = episode.library.question(request)
        decision = _decide(episode, question)
        if open:
            episode.begin(decision.entry, question.series)
    except Exception as error:  # noqa: BLE001 - whatever it is, the client gets a refusal and nothing leaves
        return _failed(episode, request, error)
    return decision


def _decide(episode: Episode, question: Question) -> Decision:
    series = question.series
    if series is None:
        return _missed(episode, question, Absent("miss-unknown"))
    found = episode.next(series, question, conditional=is_conditional(question.request))
    if isinstance(found, Absent):
        return _missed(episode, question, found)
    if found.forbidden:
        return _refused(episode, found)
    response = bound(found.interaction, question.request, question.rules)
    return Served(episode.served(found), found.interaction, response)


def _missed(episode: Episode, question: Question, absent: Absent) -> Missed:
    library = episode.library
    shown = library.shown(question.request)
    name = library.providers.of(shown.origin.host).name
    told = problem.miss(shown, absent, library.nearest(shown), name)
    return Missed(episode.missed(question, told.code, told.status, told.method, told.url), told)


def _refused(episode: Episode, recording: Recording) -> Refused:
    assert recording.forbidden is not None
    told = problem.refusal(recording, recording.forbidden)
    return Refused(episode.refused(recording, told.code, told.status, told.method, told.url), told)


def _failed(episode: Episode, request: Request, error: Exception) -> Refused:
    told = problem.failure(request.method, error)
    return Refused(episode.refused(None, told.code, told.status, told.method, told.url), told, error)
