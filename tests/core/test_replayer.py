"""The one decision: served, missed or refused, and never let out."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.clock import Clock
from replayproxy.core.episode import Episode
from replayproxy.core.exchange import Cassette, Headers, Interaction, Origin, Request, Response
from replayproxy.core.library import Library
from replayproxy.core.provider import MatchRules, Provider, Providers, Selector
from replayproxy.core.replayer import Decision, Missed, Refused, Served, answer
from replayproxy.core.rights import Permission, Tag

HOST = "api.example.test"
ORIGIN = Origin("https", HOST, 443)
JSON: Headers = (("Content-Type", "application/json"),)
FORBIDDEN = Tag(permissions=(("replay", Permission("forbidden")),))


def ask(target: str, method: str = "GET", headers: Headers = (), body: bytes = b"") -> Request:
    """A request."""
    return Request(method=method, origin=ORIGIN, target=target, headers=headers, body=body)


def build(
    *requests: Request,
    rules: MatchRules = MatchRules(),  # noqa: B008
    responses: dict[int, Response] | None = None,
    rights: dict[int, Tag] | None = None,
) -> Library:
    """A library of REQUESTS; the answer's body tells which it is."""
    found = tuple(
        Interaction(
            id=f"i{order}",
            order=order,
            request=request,
            response=(responses or {}).get(order) or Response(status=200, body=str(order).encode()),
            rights=(rights or {}).get(order),
        )
        for order, request in enumerate(requests)
    )
    provider = Provider(name="api", hosts=(HOST,), match=rules)
    return Library.build([Cassette(name="tape", interactions=found)], Providers((provider,)), purpose="local-debug")


def episode(library: Library) -> Episode:
    """A fresh episode."""
    return Episode("default", 1, library, Clock.parse("recorded", 0))


def body(decision: Decision) -> object:
    """The octets of the answer, or why there is none."""
    return decision.response.body if isinstance(decision, Served) else decision.problem.code


def test_a_hit_is_the_recorded_response() -> None:
    """The very object, so that nothing can have been added."""
    library = build(ask("/a"))
    decision = answer(episode(library), ask("/a"))
    assert isinstance(decision, Served)
    assert decision.response is decision.interaction.response is library.recordings[0].interaction.response
    assert decision.line == 1


def test_answers_come_in_order_and_reads_see_writes() -> None:
    """From the first request to the last of a recorded run, and again in another episode."""
    run = [ask("/items/1"), ask("/items/1", "PUT"), ask("/items/1"), ask("/job"), ask("/job")]
    library = build(*run)
    for _ in range(2):
        one = episode(library)
        assert [body(answer(one, request)) for request in run] == [b"0", b"1", b"2", b"3", b"4"]
    one = episode(library)
    assert [body(answer(one, ask("/items/1"))) for _ in range(2)] == [b"0", b"0"]


def test_a_changed_question_is_a_miss_that_names_the_field() -> None:
    """Never the nearest answer, nor any part of it."""
    score = '{"applicant": "A"}'
    library = build(
        ask("/score", "POST", JSON, score.encode()), responses={0: Response(status=200, body=b'{"score":710}')}
    )
    one = episode(library)
    for changed, field in (
        ('{"applicant": "C"}', "applicant"),
        ('{"applicant": "A", "amount": 999}', "amount"),
    ):
        decision = answer(one, ask("/score", "POST", JSON, changed.encode()))
        assert isinstance(decision, Missed)
        status, _, headers, octets = decision.response()
        assert (status, dict(headers)["x-replayproxy-decision"]) == (424, "miss")
        assert f"json:$.{field}" in json.loads(octets)["hint"]
        assert b"710" not in octets
    assert one.counts == {"served": 0, "misses": 2, "refusals": 0}


def test_a_miss_holds_no_secret() -> None:
    """Neither in the answer nor in the journal nor in the report."""
    one = episode(build(ask("/a")))
    secret = "sk-live-0123456789abcdefghij"
    decision = answer(one, ask(f"/b?api_key={secret}", headers=(("Authorization", f"Bearer {secret}"),)))
    assert isinstance(decision, Missed)
    told = [
        decision.response()[3].decode(),
        json.dumps([entry.to_dict() for entry in one.journal]),
        repr(list(one.journal)),
    ]
    assert not [text for text in told if secret in text]
    assert all("/b?api_key=" in text for text in told)


def test_an_exhausted_sequence_is_a_miss_of_its_own() -> None:
    """`sequence: once`."""
    one = episode(build(ask("/a"), rules=MatchRules(sequence="once")))
    assert [body(answer(one, ask("/a"))) for _ in range(2)] == [b"0", "miss-exhausted"]


def test_a_recorded_304_answers_conditional_requests_only() -> None:
    """Whoever has nothing yet gets the whole answer."""
    conditional = ask("/a", headers=(("If-None-Match", '"1"'),))
    one = episode(build(ask("/a"), conditional, responses={1: Response(status=304)}))
    assert [body(answer(one, request)) for request in (ask("/a"), conditional, ask("/a"))] == [b"0", b"", b"0"]


def test_rights_refuse_what_would_have_answered() -> None:
    """451 with the finding's code; the next answer of the key is not affected, and a refused write is not made."""
    library = build(ask("/a"), ask("/a"), ask("/b"), ask("/b", "PUT"), ask("/b"), rights={0: FORBIDDEN, 3: FORBIDDEN})
    one = episode(library)
    decision = answer(one, ask("/a"))
    assert isinstance(decision, Refused)
    status, _, headers, octets = decision.response()
    assert (status, dict(headers)["x-replayproxy-decision"]) == (451, "refused")
    assert json.loads(octets)["code"] == "RP030"
    assert one.journal[0].to_dict()["interaction"] == "i0"
    assert [body(answer(one, ask("/a"))), body(answer(one, ask("/b", "PUT")))] == [b"1", "RP030"]
    assert body(answer(one, ask("/b"))) == b"2"


def test_bound_values_are_the_callers() -> None:
    """Where the recording echoed what the client had made up."""
    rules = MatchRules(bind=(Selector.parse("json:$.reference"),))
    recorded = ask("/pay", "POST", JSON, b'{"reference": "ref-11111111", "amount": 5}')
    response = Response(status=200, headers=JSON, body=b'{"reference": "ref-11111111"}')
    one = episode(build(recorded, rules=rules, responses={0: response}))
    asked = replace(recorded, body=b'{"reference": "ref-22222222", "amount": 5}')
    assert body(answer(one, asked)) == b'{"reference": "ref-22222222"}'


@pytest.mark.parametrize(
    "place",
    [
        "replayproxy.core.library.canonical",
        "replayproxy.core.replayer.bound",
        "replayproxy.core.replayer.is_conditional",
    ],
)
def test_a_failure_of_the_core_is_a_refusal(place: str) -> None:
    """Whatever goes wrong is journalled, kept for whoever runs the proxy, and never answered with nothing."""
    one = episode(build(ask("/a")))
    fault = RuntimeError("/home/somebody")
    with patch(place, side_effect=fault):
        decision = answer(one, ask("/a"))
    assert isinstance(decision, Refused)
    assert decision.error is fault
    status, _, headers, octets = decision.response()
    assert (status, dict(headers)["x-replayproxy-decision"]) == (424, "refused")
    assert json.loads(octets)["code"] == "internal-error"
    assert b"somebody" not in octets
    assert [entry.outcome for entry in one.journal] == ["refused"]
    assert one.counts["refusals"] == 1


def test_open_exchanges_are_told_apart_from_finished_ones() -> None:
    """A read that overlaps a write to what it reads is journalled as such; one that comes later is not."""
    library = build(ask("/a"), ask("/a", "PUT"), ask("/a"))
    one = episode(library)
    write = answer(one, ask("/a", "PUT"), open=True)
    answer(one, ask("/a"), open=True)
    one.finish(write.line)
    answer(one, ask("/a"), open=True)
    answer(one, ask("/lost"), open=True)
    assert [entry.overlaps for entry in one.journal] == [False, True, False, False]


def test_a_library_whose_parts_fail_answers_nothing() -> None:
    """Whichever part it is: each request is refused and journalled, and the next one is decided as if it were first."""
    request = ask("/a", headers=(("Authorization", "Bearer sk-live-0123456789abcdefghij"),))
    for name in ("question", "shown", "nearest"):
        library = build(ask("/b"))
        one = episode(library)
        with patch.object(Library, name, side_effect=KeyError("sk-live-0123456789abcdefghij")):
            decision = answer(one, request, open=True)
        assert isinstance(decision, Refused), name
        assert b"sk-live" not in decision.response()[3]
        assert "sk-live" not in json.dumps([entry.to_dict() for entry in one.journal])
        assert [entry.outcome for entry in one.journal] == ["refused"]
        assert body(answer(one, ask("/b"))) == b"0"


CLIENT = st.lists(st.sampled_from(["GET /x", "GET /x/1", "PUT /x", "DELETE /x/1", "GET /lost"]), max_size=6)


@settings(max_examples=60)
@given(st.lists(CLIENT, min_size=1, max_size=3), st.lists(st.sampled_from("st"), max_size=6), st.data())
def test_clients_that_do_not_overlap_get_the_same_in_any_order(
    clients: list[list[str]], shared: list[str], data: st.DataObject
) -> None:
    """Each writes and reads under a path of its own and all read what nobody writes: same answers, digest and world.

    What is recorded is another run of the same clients, so that some requests miss.
    """
    lines = [
        [ask(f"/{number}{step.split()[1]}", step.split()[0]) for step in steps] for number, steps in enumerate(clients)
    ]
    lines += [[ask(f"/{name}")] for name in shared]
    recorded = [request for line in lines for request in line if request.path[2:] != "/lost"]
    library = build(*data.draw(st.permutations(recorded)))
    outcomes = []
    for _ in range(2):
        one, answers, rest = episode(library), Counter[tuple[str, object]](), [list(line) for line in lines]
        for number in data.draw(st.permutations([at for at, line in enumerate(lines) for _ in line])):
            request = rest[number].pop(0)
            decision = answer(one, request, open=True)
            answers[f"{request.method} {request.path}", body(decision)] += 1
            assert not one.journal[-1].overlaps
            one.finish(decision.line)
        outcomes.append((answers, one.digest, one.world))
    assert outcomes[0] == outcomes[1]


@given(st.permutations([f"/{name}" for name in "aaabbcd"]), st.permutations([f"/{name}" for name in "aaabbcd"]))
def test_neither_answers_nor_state_depend_on_the_order_of_arrival(first: list[str], second: list[str]) -> None:
    """The same requests in two orders: the same answers per request, the same digest."""
    library = build(*(ask(f"/{name}") for name in "abacab"))
    outcomes = []
    for order in (first, second):
        one = episode(library)
        answers = Counter((target, body(answer(one, ask(target)))) for target in order)
        outcomes.append((answers, one.digest, one.world))
    assert outcomes[0] == outcomes[1]


RUN = [ask("/a"), ask("/b", "PUT"), ask("/c"), ask("/c")]


@given(st.lists(st.sampled_from([*RUN, ask("/lost")]), max_size=12))
def test_an_answer_that_stands_is_given_again_as_if_it_were_asked_for(requests: list[Request]) -> None:
    """`again` leaves the same journal, counts, cursors and digest behind as `answer` does, also of a write."""
    library = build(*RUN)
    asked, again = episode(library), episode(library)
    standing = {request: answer(episode(library), request).standing for request in [*RUN, ask("/lost")]}
    for request in requests:
        answer(asked, request)
        if stands := standing[request]:
            stands.again(again)
        else:
            answer(again, request)
    assert again.state() == asked.state()
    assert list(again.journal) == list(asked.journal)
    assert [standing[request] is None for request in RUN] == [False, False, True, True]


def test_a_write_that_stands_overlaps_the_reads_in_flight() -> None:
    """As one that is decided anew does."""
    library = build(ask("/a"), ask("/a", "PUT"), ask("/a"))
    one = episode(library)
    standing = answer(episode(library), ask("/a", "PUT")).standing
    assert standing is not None
    answer(one, ask("/a"), open=True)
    standing.again(one)
    assert [entry.overlaps for entry in one.journal] == [True, False]
    assert body(answer(one, ask("/a"))) == b"2"
