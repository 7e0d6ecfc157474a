"""What a client is told instead of an answer: problem details (RFC 9457), and how to mend it.

Nothing in here tells a secret, a path of the host, or any part of a recorded answer: requests are shown masked.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus

from replayproxy.core.canonical import Difference
from replayproxy.core.exchange import Headers, Request
from replayproxy.core.library import Nearest
from replayproxy.core.rights import Finding
from replayproxy.core.sequence import Absent, Recording

MISS = HTTPStatus.FAILED_DEPENDENCY
REFUSAL = HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS
INTERNAL = "internal-error"
TITLES = {
    "miss-unknown": "No recorded answer",
    "miss-exhausted": "All recorded answers are used up",
    INTERNAL: "replayproxy failed to decide",
}
_TYPE = "urn:replayproxy:problem:"
_PLAIN = re.compile(r"(?i)(?!(y|n|yes|no|on|off|true|false|null)$)[a-z][a-z0-9_-]*([:.][a-z0-9$_][a-z0-9._$-]*)*")
"""What YAML 1.1 reads as that very text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why there is no answer: `code` is stable, `detail` one sentence, `hint` a rule or command that mends it.

    `method` and `url` are those of the masked request.
    """

    code: str
    status: int
    title: str
    detail: str
    method: str
    url: str
    hint: str = ""
    nearest: Nearest | None = None

    def to_dict(self) -> dict[str, object]:
        """The problem as plain values, in the order of RFC 9457 section 3.1 and then our own members."""
        body: dict[str, object] = {
            "type": _TYPE + self.code,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "method": self.method,
            "url": self.url,
        }
        if self.nearest:
            body["nearest"] = _nearest(self.nearest)
        return body | ({"hint": self.hint} if self.hint else {})


def miss(shown: Request, absent: Absent, nearest: Nearest | None, provider: str) -> Problem:
    """The problem of a request that nothing answers; SHOWN is masked, PROVIDER the name in the configuration or ""."""
    rules = Rules(provider, shown.origin.host)
    detail, hint = _explained(absent, nearest, rules)
    return Problem(
        code=absent.code,
        status=MISS,
        title=TITLES[absent.code],
        detail=detail,
        method=shown.method,
        url=shown.url,
        hint=hint,
        nearest=nearest,
    )


def refusal(recording: Recording, finding: Finding) -> Problem:
    """The problem of a request that RECORDING would answer, which may not be used for the purpose."""
    return Problem(
        code=finding.code,
        status=REFUSAL,
        title="The rights of the recording forbid it",
        detail=finding.message,
        method=recording.interaction.request.method,
        url=recording.url,
        hint=finding.hint,
    )


def failure(method: str, error: Exception) -> Problem:
    """The problem of a request that made the core fail: only the kind of ERROR is told, and no URL, unmasked as it is.

    The status is that of a miss, since clients retry a 500.
    """
    return Problem(
        code=INTERNAL,
        status=MISS,
        title=TITLES[INTERNAL],
        detail=f"the request could not be decided ({type(error).__name__}), so it is refused",
        method=method,
        url="",
        hint="see replayproxy's own output, and report it",
    )


def problem_response(problem: Problem, decision: str) -> tuple[int, str, Headers, bytes]:
    """Status, reason, end-to-end header fields and body of the answer that tells PROBLEM.

    DECISION is `miss` or `refused`. SDKs that ask `x-should-retry` are told not to try again.
    """
    body = json.dumps(problem.to_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    headers = (
        ("Content-Type", "application/problem+json"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("x-replayproxy-decision", decision),
        ("x-replayproxy-code", problem.code),
        ("x-should-retry", "false"),
    )
    return int(problem.status), HTTPStatus(problem.status).phrase, headers, body


def _nearest(nearest: Nearest) -> dict[str, object]:
    recording = nearest.recording
    return {
        "id": recording.id,
        "cassette": nearest.cassette,
        "method": recording.interaction.request.method,
        "url": recording.url,
        "differences": [_difference(one) for one in nearest.differences],
        "left_out": [{"at": place, "rule": rule} for rule, place in nearest.left_out],
    }


def _difference(one: Difference) -> dict[str, str]:
    values = {"recorded": one.recorded, "asked": one.asked}
    return {"part": one.part} | {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Rules:
    """Where in the configuration the rules of HOST stand: under the name of its PROVIDER, "" for none yet."""

    provider: str
    host: str

    def matching(self, rule: str) -> str:
        """RULE of `match` as a line of YAML that can be pasted; it says the host where the provider is new."""
        hosts = "" if self.provider else f"hosts: [{_quoted(self.host)}], "
        return f"providers: {{{_quoted(self.provider or self.host)}: {{{hosts}match: {{{rule}}}}}}}"


def _explained(absent: Absent, nearest: Nearest | None, rules: Rules) -> tuple[str, str]:
    """Detail and hint of a miss."""
    if absent.code == "miss-exhausted":
        hint = rules.matching("sequence: repeat-last")
        return "every recorded answer to this request has been given once, and the sequence is once", hint
    if absent.awaits:
        hint = "make that write first, or record the read without it"
        return f"it was recorded after a write that this episode has not made: {absent.awaits}", hint
    if absent.passed:
        hint = "record the read after that write: replayproxy record --on-existing append -o CASSETTE -- CMD"
        return f"it was recorded only before a write that this episode has made: {absent.passed}", hint
    return _unknown(nearest, rules)


def _unknown(nearest: Nearest | None, rules: Rules) -> tuple[str, str]:
    record = "record it: replayproxy record --on-existing new -o CASSETTE -- CMD"
    if nearest is None:
        return "no request to this host is recorded", record
    if not nearest.differences:
        return "only answers to conditional requests are recorded, and this one sets no condition", record
    parts = ", ".join(one.part for one in nearest.differences)
    selectors = [selector for one in nearest.differences if (selector := selector_of(one.part))]
    detail = f"the nearest recording differs in {parts}"
    if not selectors or len(selectors) < len(nearest.differences):
        return detail, record
    rule = rules.matching(f"ignore: [{', '.join(map(_quoted, selectors))}]")
    return detail, f"if that varies from run to run: {rule}; else {record}"


def selector_of(part: str) -> str:
    """The selector that leaves PART of a canonical request out, "" where no selector names it."""
    kind, _, name = part.partition(".")
    if kind == "body" and name.startswith("$"):
        return f"json:{name}"
    return f"{kind}:{name}" if kind in ("header", "query", "form") and name else ""


def _quoted(text: str) -> str:
    """TEXT, a selector, host or name, as YAML takes it between brackets."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
