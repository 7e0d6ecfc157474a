"""What a client is told instead of an answer."""

from __future__ import annotations

import json

import pytest
import yaml

from replayproxy.core import problem
from replayproxy.core.canonical import Difference
from replayproxy.core.exchange import Interaction, Origin, Request, Response
from replayproxy.core.library import Nearest
from replayproxy.core.problem import problem_response, selector_of
from replayproxy.core.rights import Finding
from replayproxy.core.sequence import Absent, Recording

ORIGIN = Origin("https", "api.example.test", 443)
ASKED = Request(method="GET", origin=ORIGIN, target="/b?page=2")
UNKNOWN = Absent("miss-unknown")


def recording(method: str = "GET", target: str = "/b?page=1") -> Recording:
    """A recording whose answer nobody may see."""
    request = Request(method=method, origin=ORIGIN, target=target)
    response = Response(status=200, headers=(("X-Answer", "hidden"),), body=b"hidden")
    one = Interaction(id="i7", order=0, request=request, response=response)
    return Recording.of(one, [one], 0, id="i7")


def near(*parts: str) -> Nearest:
    """The recording, nearest by PARTS."""
    return Nearest(recording(), "tape", tuple(Difference(part, "1", None) for part in parts))


def test_a_miss_says_what_was_asked_and_what_differs() -> None:
    """The members of RFC 9457, then ours; nothing of the recorded answer."""
    nearest = Nearest(
        recording(),
        "tape",
        (Difference("query.page", "1", "2"), Difference("query.a", None, "")),
        (("telemetry", "header:user-agent"),),
    )
    told = problem.miss(ASKED, UNKNOWN, nearest, "api")
    status, reason, headers, body = problem_response(told, "miss")
    assert (status, reason) == (424, "Failed Dependency")
    assert dict(headers) == {
        "Content-Type": "application/problem+json",
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "x-replayproxy-decision": "miss",
        "x-replayproxy-code": "miss-unknown",
        "x-should-retry": "false",
    }
    assert b"hidden" not in body
    document = json.loads(body)
    assert list(document) == [
        "type", "title", "status", "detail", "code", "method", "url", "nearest", "hint",
    ]  # fmt: skip
    assert (document["status"], document["code"]) == (424, "miss-unknown")
    assert (document["method"], document["url"]) == ("GET", "https://api.example.test/b?page=2")
    assert document["nearest"] == {
        "id": "i7",
        "cassette": "tape",
        "method": "GET",
        "url": "https://api.example.test/b?page=1",
        "differences": [
            {"part": "query.page", "recorded": "1", "asked": "2"},
            {"part": "query.a", "asked": ""},
        ],
        "left_out": [{"at": "header:user-agent", "rule": "telemetry"}],
    }


RECORD = "replayproxy record --on-existing new"
HINTS = {
    "a host that nobody recorded": (UNKNOWN, None, "no request to this host", RECORD),
    "a field": (
        UNKNOWN,
        near("query.page", "body.$.a[0]"),
        "query.page, body.$.a[0]",
        'providers: {api.example.test: {hosts: [api.example.test], match: {ignore: [query:page, "json:$.a[0]"]}}}',
    ),
    "a field and the path": (UNKNOWN, near("path", "query.page"), "path, query.page", RECORD),
    "octets": (UNKNOWN, near("body.sha256"), "body.sha256", RECORD),
    "only conditional": (UNKNOWN, near(), "sets no condition", RECORD),
    "used up": (Absent("miss-exhausted"), None, "sequence is once", "match: {sequence: repeat-last}"),
    "too early": (
        Absent("miss-unknown", awaits=recording("PUT", "/b")),
        near(),
        "has not made: i7 PUT https://api.example.test/b",
        "make that write first",
    ),
    "too late": (
        Absent("miss-unknown", passed=recording("PUT", "/b")),
        near(),
        "has made: i7 PUT https://api.example.test/b",
        "record the read after that write",
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_every_kind_of_miss_has_a_hint(name: str) -> None:
    """The detail says why, the hint what to paste."""
    absent, nearest, detail, hint = HINTS[name]
    told = problem.miss(ASKED, absent, nearest, "")
    assert detail in told.detail
    assert hint in told.hint
    assert told.code == absent.code


def test_a_hint_names_the_provider() -> None:
    """So that it can be pasted as it is."""
    assert "providers: {api: {match: {ignore: " in problem.miss(ASKED, UNKNOWN, near("form.a"), "api").hint
    assert "providers: {api: {match: {sequence: " in problem.miss(ASKED, Absent("miss-exhausted"), None, "api").hint


@pytest.mark.parametrize("hint", ["", "ask for it"])
def test_a_refusal_tells_the_finding(hint: str) -> None:
    """451 with the finding's code; no hint where the finding has none."""
    told = problem.refusal(
        recording(), Finding(code="RP030", level="deny", message="replay is forbidden", use="replay", hint=hint)
    )
    status, reason, headers, body = problem_response(told, "refused")
    assert (status, reason) == (451, "Unavailable For Legal Reasons")
    assert dict(headers)["x-replayproxy-decision"] == "refused"
    assert dict(headers)["x-replayproxy-code"] == "RP030"
    document = json.loads(body)
    assert (document["detail"], document.get("hint", "")) == ("replay is forbidden", hint)
    assert "nearest" not in document


@pytest.mark.parametrize("provider", ["", "api", "on", "2030"])
@pytest.mark.parametrize("part", ["query.page", "form.a b", "body.$.a[0]", "body.$['a, b']", "query.y", "header.x-1"])
@pytest.mark.parametrize("host", ["api.example.test", "10.0.0.1", "::1"])
def test_a_hint_can_be_pasted(provider: str, part: str, host: str) -> None:
    """It is YAML, and what `replayproxy.yaml` takes; the selector is the one that leaves the field out."""
    asked = Request(method="GET", origin=Origin("https", host, 443), target="/")
    hint = problem.miss(asked, UNKNOWN, near(part), provider).hint
    pasted = hint.removeprefix("if that varies from run to run: ").partition("; else ")[0]
    ((name, rules),) = yaml.safe_load(pasted)["providers"].items()
    assert name == (provider or host)
    assert rules.get("hosts", [host]) == [host]
    assert rules["match"] == {"ignore": [selector_of(part)]}


def test_a_failure_tells_the_kind_of_error_only() -> None:
    """What the error says may name a secret or a path of the host."""
    told = problem.failure("POST", ValueError("/home/somebody/secret"))
    status, _, _, body = problem_response(told, "refused")
    assert status == 424
    assert (told.code, told.method, told.url) == ("internal-error", "POST", "")
    assert b"ValueError" in body
    assert b"somebody" not in body


def test_lone_surrogates_can_be_told() -> None:
    """Text that UTF-8 has no form for is escaped, never a second failure."""
    told = problem.miss(ASKED, UNKNOWN, Nearest(recording(), "t\ud800", ()), "")
    assert json.loads(problem_response(told, "miss")[3])["nearest"]["cassette"] == "t\ud800"


@pytest.mark.parametrize(
    ("part", "selector"),
    [
        ("query.a.b", "query:a.b"),
        ("form.a", "form:a"),
        ("header.range", "header:range"),
        ("body.$", "json:$"),
        ("body.$.a", "json:$.a"),
        ("body.text", ""),
        ("body.part0.text", ""),
        ("path", ""),
        ("method", ""),
        ("query", ""),
    ],
)
def test_selector_of(part: str, selector: str) -> None:
    """Only what a selector can name is offered to be left out."""
    assert selector_of(part) == selector
