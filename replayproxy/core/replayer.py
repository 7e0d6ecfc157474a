"""The one decision: a request is served, missed or refused. Whatever goes wrong, it is never let out.

`answer` decides and journals. It moves a cursor and, where a write answers, shows it to later reads; it opens, reads
and waits for nothing. What an answer is made of is remembered with the question, so that the same question does not
cost the same work again.
"""

from __future__ import annotations

from dataclasses import dataclass

from replayproxy.core import problem
from replayproxy.core.binding import bound
from replayproxy.core.canonical import is_conditional
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Headers, Interaction, Request, Response
from replayproxy.core.journal import Kind
from replayproxy.core.library import Question
from replayproxy.core.problem import Problem, problem_response
from replayproxy.core.sequence import Absent, Recording, Series, Writes


@dataclass(frozen=True, slots=True)
class Steady:
    """What answers a read whatever its episode did: the recording of `position`, the only one of its series."""

    position: int

    def again(self, episode: Episode) -> None:
        """The request is asked again in EPISODE, and journalled."""
        episode.steadily(self.position)


@dataclass(frozen=True, slots=True)
class Written:
    """What answers a write whatever its episode did: `recording`, one of `writes`; the write is made each time."""

    recording: Recording
    writes: Writes

    def again(self, episode: Episode) -> None:
        """The request is asked again in EPISODE, made, and journalled."""
        episode.written(self.recording, self.writes)


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is said of a request that nothing was recorded for, whatever its episode did; `key` is its key in hex."""

    key: str
    kind: Kind

    def again(self, episode: Episode) -> None:
        """The request is asked again in EPISODE, and journalled."""
        episode.missed(self.key, self.kind)


type Standing = Steady | Written | Unknown
"""Why the same request gets the same answer for as long as there is the library."""


@dataclass(frozen=True, slots=True)
class Served:
    """A recorded answer: `response` is the interaction's, with the caller's values where they were bound.

    `line` is the number of its line in the journal.
    """

    line: int
    recording: Recording
    response: Response
    standing: Standing | None = None

    @property
    def interaction(self) -> Interaction:
        """What was recorded."""
        return self.recording.interaction


@dataclass(frozen=True, slots=True)
class Missed:
    """No recorded answer, and why."""

    line: int
    problem: Problem
    standing: Standing | None = None

    def response(self) -> tuple[int, str, Headers, bytes]:
        """Status, reason, header fields and body that tell it."""
        return problem_response(self.problem, "miss")


@dataclass(frozen=True, slots=True)
class Refused:
    """Rights forbid the answer, or the core failed (`error`)."""

    line: int
    problem: Problem
    error: Exception | None = None
    standing: Standing | None = None

    def response(self) -> tuple[int, str, Headers, bytes]:
        """Status, reason, header fields and body that tell it."""
        return problem_response(self.problem, "refused")


type Decision = Served | Missed | Refused


def answer(episode: Episode, request: Request, *, open: bool = False) -> Decision:  # noqa: A002 - says what it does
    """What REQUEST gets in EPISODE, journalled.

    With OPEN the exchange counts as in flight until `episode.finish(decision.line)`, so that overlaps are journalled.
    Never raises: a failure in here is a refusal with the code `internal-error`.
    """
    try:
        question = episode.library.question(request)
        decision = _decide(episode, question)
        if open:
            served = decision.recording if isinstance(decision, Served) else None
            episode.begin(decision.line, served, question.series)
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
    response = question.replies.get(found.position)
    if not isinstance(response, Response):
        response = question.replies[found.position] = bound(found.interaction, question.request, question.rules)
    standing = _standing(episode, series)
    return Served(episode.served(found, steady=standing is not None), found, response, standing)


def _standing(episode: Episode, series: Series) -> Standing | None:
    steady = series.steady
    if steady is None:
        return None
    return Written(steady, episode.library.writes[steady.scope]) if steady.write else Steady(steady.position)


def _missed(episode: Episode, question: Question, absent: Absent) -> Missed:
    why = absent.code, absent.awaits and absent.awaits.position, absent.passed and absent.passed.position
    told = question.replies.get(why)
    if not isinstance(told, Problem):
        told = question.replies[why] = _problem(episode, question, absent)
    kind = Kind("miss", None, told.code, told.status, told.method, told.url)
    standing = Unknown(question.key.hex(), kind) if question.series is None else None
    return Missed(episode.missed(question.key.hex(), kind), told, standing)


def _problem(episode: Episode, question: Question, absent: Absent) -> Problem:
    library = episode.library
    shown = library.shown(question.request)
    return problem.miss(shown, absent, library.nearest(shown), library.providers.of(shown.origin.host).name)


def _refused(episode: Episode, recording: Recording) -> Refused:
    assert recording.forbidden is not None
    told = problem.refusal(recording, recording.forbidden)
    return Refused(episode.refused(recording, _kind(told, recording.position)), told)


def _failed(episode: Episode, request: Request, error: Exception) -> Refused:
    told = problem.failure(request.method, error)
    return Refused(episode.refused(None, _kind(told)), told, error)


def _kind(told: Problem, position: int | None = None) -> Kind:
    return Kind("refused", position, told.code, told.status, told.method, told.url)
