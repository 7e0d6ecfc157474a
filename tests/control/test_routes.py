"""What every control API has in common: tokens, mistakes, and forms of replies."""

from __future__ import annotations

import json

import pytest

from replayproxy.control.routes import BadCallError, Call, Reply, Route, Routes, as_json, as_metrics, problem
from replayproxy.core.errors import UsageError
from replayproxy.core.exchange import Headers

GOOD: Headers = (("authorization", "Bearer secret"),)


def echo(call: Call) -> Reply:
    """Tells what it was called with."""
    return as_json(dict(call.arguments))


def fail(_: Call) -> Reply:
    """Meets an error that the user can mend."""
    raise UsageError("no such thing", hint="ask for another")


ROUTES = Routes(
    "secret",
    (
        Route("GET", "/echo", echo),
        Route("POST", "/echo", echo),
        Route("GET", "/open", echo, open=True),
        Route("GET", "/fail", fail),
    ),
)


def call(line: str, headers: Headers = GOOD, body: bytes = b"") -> tuple[int, dict[str, str], dict[str, object]]:
    """Status, fields and JSON body of a call, given as `METHOD PATH?QUERY`."""
    method, _, target = line.partition(" ")
    path, _, query = target.partition("?")
    status, fields, octets = ROUTES(method, path, query, headers, body)
    return status, dict(fields), json.loads(octets)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (GOOD, 200),
        ((("Authorization", "bearer  secret "),), 200),
        ((), 401),
        ((("Authorization", "Bearer wrong"),), 401),
        ((("Authorization", "Bearer"),), 401),
        ((("Authorization", "Basic secret"),), 401),
        ((("Authorization", "secret"),), 401),
        ((("Authorization", "Bearer s\xe9cret"),), 401),
    ],
)
def test_a_token_is_needed(headers: Headers, status: int) -> None:
    """The right one, as a bearer token (RFC 6750); open calls need none."""
    found, fields, _ = call("GET /echo", headers)
    assert found == status
    assert ("WWW-Authenticate" in fields) is (status == 401)
    assert call("GET /open", headers)[0] == 200


@pytest.mark.parametrize(
    ("line", "status", "allowed"),
    [("GET /nothing", 404, None), ("PUT /echo", 405, "GET, HEAD, POST"), ("POST /open", 405, "GET, HEAD")],
)
def test_calls_that_there_are_not(line: str, status: int, allowed: str | None) -> None:
    """An unknown path is told from a wrong method, which names the right ones."""
    found, fields, body = call(line)
    assert (found, fields.get("Allow")) == (status, allowed)
    assert fields["Content-Type"] == "application/problem+json"
    assert body["hint"]


@pytest.mark.parametrize(
    ("line", "body", "arguments"),
    [
        ("GET /echo?a=1&b=", b"", {"a": "1", "b": ""}),
        ("HEAD /echo?a=1", b"", {"a": "1"}),
        ("POST /echo", b'{"a": 1}', {"a": 1}),
        ("POST /echo", b" \r\n", {}),
    ],
)
def test_arguments(line: str, body: bytes, arguments: dict[str, object]) -> None:
    """Of the query for GET, of the JSON body for POST."""
    assert call(line, body=body)[2] == arguments


@pytest.mark.parametrize("body", [b"{", b"[]", b"7", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object(body: bytes) -> None:
    """It is told with an example."""
    status, _, told = call("POST /echo", body=body)
    assert status == 400
    assert "the body is not" in str(told["detail"])


@pytest.mark.parametrize(
    ("line", "body", "told"),
    [
        ("POST /echo?seed=7", b"", "is not read by POST"),
        ("POST /echo?seed", b"{}", "is not read by POST"),
        ("GET /echo?a=1&a=2", b"", "given twice"),
        ("POST /echo", b'{"seed": 1, "seed": 2}', "given twice"),
    ],
)
def test_arguments_are_never_passed_over(line: str, body: bytes, told: str) -> None:
    """A query where a body is read, or an argument that contradicts itself."""
    status, _, reply = call(line, body=body)
    assert status == 400
    assert told in str(reply["detail"])


@pytest.mark.parametrize("body", [b'{"\\ud800": 1}', b'{"a": "\\ud800"}'])
def test_text_that_utf_8_has_no_form_for(body: bytes) -> None:
    """It is escaped in the reply, whether that is one of success or not."""
    name = json.loads(body)
    assert call("POST /echo", body=body)[2] == name
    with pytest.raises(BadCallError) as caught:
        Call(name).known()
    assert json.loads(problem(caught.value)[2])["detail"] == caught.value.detail


def test_errors_that_the_user_can_mend_are_replies() -> None:
    """What and hint, as the command line would print them."""
    status, _, told = call("GET /fail")
    assert (status, told["detail"], told["hint"]) == (400, "no such thing", "ask for another")


# -- arguments by kind ------------------------------------------------------------------------------


def test_arguments_of_the_right_kind() -> None:
    """Each, and what stands for one that is not given."""
    given = Call({"text": "a", "whole": 7, "number": 1.5, "flag": True})
    given.known("text", "whole", "number", "flag")
    assert (given.text("text", ""), given.whole("whole"), given.number("number")) == ("a", 7, 1.5)
    assert given.flag("flag") is True
    none = Call({"text": None})
    assert (none.text("text", "b"), none.whole("whole"), none.number("number")) == ("b", None, None)
    assert none.flag("flag") is False
    assert Call({"after": "12"}, textual=True).whole("after") == 12


@pytest.mark.parametrize("value", [-1, 1.0, True, "7", "", [], "-1"])
def test_not_a_whole_number(value: object) -> None:
    """Booleans and texts are none."""
    with pytest.raises(BadCallError, match=r"^seed: "):
        Call({"seed": value}).whole("seed")


@pytest.mark.parametrize("value", ["", "-1", "1.0", "٣", "9" * 19, "9" * 5000])
def test_not_a_whole_number_in_a_query(value: str) -> None:
    """Digits, and no more than any count needs."""
    with pytest.raises(BadCallError, match=r"^after: "):
        Call({"after": value}, textual=True).whole("after")


@pytest.mark.parametrize("value", [True, "1", [], {}])
def test_not_a_number(value: object) -> None:
    """Named, with an example."""
    with pytest.raises(BadCallError, match=r"^advance_seconds: ") as caught:
        Call({"advance_seconds": value}).number("advance_seconds")
    assert caught.value.hint


@pytest.mark.parametrize("value", [0, "true", None])
def test_not_a_flag(value: object) -> None:
    """Only true and false are."""
    with pytest.raises(BadCallError, match=r"^deliver: "):
        Call({"deliver": value}).flag("deliver")


@pytest.mark.parametrize("value", ["", 7, False, []])
def test_not_a_text(value: object) -> None:
    """An empty one names nothing."""
    with pytest.raises(BadCallError, match=r"^episode: "):
        Call({"episode": value}).text("episode", "default")


@pytest.mark.parametrize(("names", "allowed"), [(("seed",), "allowed: seed"), ((), "allowed: none")])
def test_an_argument_that_there_is_not(names: tuple[str, ...], allowed: str) -> None:
    """A misspelt one is never passed over."""
    with pytest.raises(BadCallError, match=r"^sede: ") as caught:
        Call({"sede": 7}).known(*names)
    assert caught.value.hint == allowed


def test_metrics_are_prometheus_text() -> None:
    """Help and type before the values of each."""
    _, fields, body = as_metrics((("a_total", "What.", "counter", (('{k="v"}', 1), ("", 2))),))
    assert dict(fields)["Content-Type"].startswith("text/plain; version=0.0.4")
    assert body == b'# HELP a_total What.\n# TYPE a_total counter\na_total{k="v"} 1\na_total 2\n'
