"""Values that the client made up, put where the recording echoed them; and every other octet kept."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.binding import bound, is_distinctive, propose
from replayproxy.core.exchange import (
    Binding,
    Blob,
    Chunk,
    Coding,
    Headers,
    Interaction,
    Origin,
    Redaction,
    Request,
    Response,
    header,
)
from replayproxy.core.provider import MatchRules, Selector

ORIGIN = Origin.of("https", "api.test")
JSON = (("Content-Type", "application/json"),)
TEXT = (("Content-Type", "text/plain"),)
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)
EVENTS = (("Content-Type", "text/event-stream"),)
XML = (("Content-Type", "application/soap+xml"),)
LINES = (("Content-Type", "application/x-ndjson"),)
OLD, NEW = "order-0017-aa", "basket-99"


def request(target: str = "/", headers: Headers = (), body: bytes = b"") -> Request:
    """A POST."""
    return Request(method="POST", origin=ORIGIN, target=target, headers=headers, body=body)


def answered(sent: Request, body: bytes = b"", headers: Headers = JSON, **more: object) -> Interaction:
    """SENT with an answer."""
    response = Response(status=200, headers=headers, body=body, **more)  # type: ignore[arg-type]
    return Interaction(id="1", order=0, request=sent, response=response)


def binding(*selectors: str) -> MatchRules:
    """Rules that bind."""
    return MatchRules(bind=tuple(Selector.parse(text) for text in selectors))


def rpc(number: str) -> Request:
    """A JSON-RPC call."""
    return request(headers=JSON, body=b'{"jsonrpc":"2.0","id":%s,"method":"m"}' % number.encode())


@pytest.mark.parametrize(
    ("recorded", "caller", "answer", "expected"),
    [
        ("17", "4242", '{"jsonrpc":"2.0","id":17,"result":17}', '{"jsonrpc":"2.0","id":4242,"result":17}'),
        ("17", '"a\\u0041"', '{"id": 17 }', '{"id": "a\\u0041" }'),
        ('"a"', "5", '{"id":"a","x":"a"}', '{"id":5,"x":"a"}'),
        ("17", "18", '{"id":17,"result":{"id":17}}', '{"id":18,"result":{"id":17}}'),
        ("17", "18", '[{"id":17},{"id":17.0},{"id":"17"}]', '[{"id":18},{"id":18},{"id":"18"}]'),
        ("17", "17", '{"id":17}', '{"id":17}'),
        ("17", "18", '{"id":170,"error":null}', '{"id":170,"error":null}'),
        ("17", "18", '{"result":[{"id":17}]}', '{"result":[{"id":17}]}'),
        ("null", "18", '{"id":null}', '{"id":null}'),
        ('"call-00017"', '"c2"', '{"id":"call-00017","of":["x call-00017"]}', '{"id":"c2","of":["x c2"]}'),
    ],
)
def test_json_rpc(recorded: str, caller: str, answer: str, expected: str) -> None:
    """The id is put back as the caller spelled it, at the id's place, and nowhere else (c013)."""
    assert bound(answered(rpc(recorded), answer.encode()), rpc(caller)).body == expected.encode()


def test_a_batch_is_answered_in_any_order() -> None:
    """Each answer gets the id of its own call, also where ids change places."""
    calls = [[{"jsonrpc": "2.0", "id": number, "method": "m"} for number in ids] for ids in ((1, 2), (2, 3))]
    sent, again = (request(headers=JSON, body=json.dumps(each).encode()) for each in calls)
    answer = answered(sent, b'[{"id":2,"result":1},{"id":1,"result":2}]')
    assert bound(answer, again).body == b'[{"id":3,"result":1},{"id":2,"result":2}]'


def test_an_event_stream_and_its_chunks() -> None:
    """JSON in `data:` lines is JSON; the sizes of the chunks follow."""
    first, second = b'event: m\ndata: {"id":17,"n":17}\r\n\r\n', b"data: 17\n\ndata: {broken 17\n\n"
    chunks = (Chunk(len(first), 1, 40), Chunk(len(second), 2, 40))
    answer = answered(rpc("17"), first + second, EVENTS, framing="chunked", chunks=chunks)
    found = bound(answer, rpc("4242"))
    assert found.body == first.replace(b'"id":17', b'"id":4242') + second
    assert found.chunks == (Chunk(len(first) + 2, 1), Chunk(len(second), 2))


def test_json_lines() -> None:
    """Each line is a document."""
    answer = answered(rpc("17"), b'{"id":17}\n\n{"x":17}\n', LINES)
    assert bound(answer, rpc("1")).body == b'{"id":1}\n\n{"x":17}\n'


@pytest.mark.parametrize("name", ["x-ms-client-request-id", "X-Request-ID"])
def test_request_ids_need_no_rule(name: str) -> None:
    """The headers of client request ids are bound; only where the value was echoed."""
    headers = (*TEXT, ("X-MS-Client-Request-Id", "1111"), ("x-request-id", "2222"), ("x-count", "1111"))
    found = bound(answered(request(headers=((name, "1111"),)), b"1111", headers), request(headers=((name, "3333"),)))
    assert found.headers == (*TEXT, ("X-MS-Client-Request-Id", "3333"), ("x-request-id", "2222"), ("x-count", "1111"))
    assert found.body == b"1111"


@pytest.mark.parametrize("on", [("request-id", "jsonrpc-id"), ("header:x-request-id", "json:$.id")])
def test_what_is_taken_back_is_not_bound(on: tuple[str, ...]) -> None:
    """`match.on` takes the binding back with the rule."""
    both = [replace(rpc(one), headers=(*JSON, ("x-request-id", one))) for one in ("17", "18")]
    answer = answered(both[0], b'{"id":17}', (*JSON, ("X-Request-Id", "17")))
    assert bound(answer, both[1], MatchRules(on=on)) is answer.response


PLACES: dict[str, tuple[Request, Request]] = {
    "header:x-ref": (request(headers=(("X-Ref", OLD),)), request(headers=(("x-ref", NEW),))),
    "query:ref": (request(f"/?ref={OLD}"), request(f"/?ref={NEW}")),
    "form:ref": (
        request(headers=FORM, body=f"ref={OLD}".encode()),
        request(headers=FORM, body=f"ref={NEW}".encode()),
    ),
    "json:$.ref": (request(body=f'{{"ref":"{OLD}"}}'.encode()), request(body=f'{{"ref":"{NEW}"}}'.encode())),
    "path:/o/([^/]+)": (request(f"/o/{OLD}"), request(f"/o/{NEW}")),
}
ECHOES = [
    (JSON, f'{{"any":"{OLD}"}}'),
    (JSON, f'[ "{OLD}", {{"{OLD}":1}}, "see /o/{OLD}?x={OLD}, é" ]'),
    (JSON, f'{{"a":"{OLD}0", "b":"x{OLD}", "c":"{OLD}-1"}}'),
    (TEXT, f"é {OLD}, 1{OLD}"),
    (XML, f"<r ref='{OLD}'>{OLD}</r>"),
    (EVENTS, f"id: {OLD}\ndata: {OLD}\n\n"),
]


@pytest.mark.parametrize("selector", PLACES)
@pytest.mark.parametrize(("headers", "body"), ECHOES)
def test_a_distinctive_value_wherever_it_stands(selector: str, headers: Headers, body: str) -> None:
    """It is replaced everywhere but inside a longer word."""
    recorded, caller = PLACES[selector]
    keep = {f"{OLD}0": "\0a", f"x{OLD}": "\0b", f"1{OLD}": "\0c"}
    expected = body
    for text, mark in keep.items():
        expected = expected.replace(text, mark)
    expected = expected.replace(OLD, NEW)
    for text, mark in keep.items():
        expected = expected.replace(mark, text)
    found = bound(answered(recorded, body.encode(), (*headers, ("Location", f"/o/{OLD}"))), caller, binding(selector))
    assert found.body == expected.encode()
    assert header(found.headers, "location") == f"/o/{NEW}"


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        (JSON, r'{"u":"a 1\/b\"\u00e9 2"}', '{"u":"c&"}'),
        (JSON, '{"u":"?q=a%201%2Fb%22%C3%A9%202&r","v":"x a 1/b\\"é 2 y"}', '{"u":"?q=c%26&r","v":"x c& y"}'),
        (JSON, '{"u":"? a 1\\/b\\"\\u00e9 2"}', '{"u":"? a 1\\/b\\"\\u00e9 2"}'),
        (JSON, '{"u":"? a 1/b\\"\\u00e9 2","v":"? a 1\\/b\\"é 2"}', '{"u":"? c&","v":"? c&"}'),
        (TEXT, "a+1%2Fb%22%C3%A9+2 a%201%2fb%22%c3%a9%202", "c%26 c%26"),
        (TEXT, "<i>a 1/b&quot;é 2</i>", "<i>c&amp;</i>"),
        (XML, "<i>a 1/b&quot;é 2</i>", "<i>c&amp;</i>"),
        (JSON, '{"u":"line\\na 1/b\\"é 2 \\u0031a 1/b\\"é 2 na 1/b"}', '{"u":"line\\nc& \\u0031c& na 1/b"}'),
        (TEXT, '%20a 1/b"é 2', "%20c&"),
    ],
)
def test_escaped_values(headers: Headers, body: str, expected: str) -> None:
    """Percent, JSON and markup escapes of a value are the value, and the caller's is escaped alike."""
    sent, again = (request(body=json.dumps({"q": text}).encode()) for text in ('a 1/b"é 2', "c&"))
    assert bound(answered(sent, body.encode(), headers), again, binding("json:$.q")).body == expected.encode()


@pytest.mark.parametrize(
    ("recorded", "caller", "answer", "expected"),
    [
        ("/?n=5", "/?n=6", '{"n":5,"m":5,"a":{"n":"5"}}', '{"n":6,"m":5,"a":{"n":"6"}}'),
        ("/?n=5", "/?n=x", '{"n":5,"N":"5"}', '{"n":"x","N":"x"}'),
        ("/?n=red", "/?n=blue", '{"n":["red"],"colour":"red"}', '{"n":["blue"],"colour":"red"}'),
        ("/?n=", "/?n=blue", '{"n":""}', '{"n":""}'),
        ("/?n=5", "/", '{"n":5}', '{"n":5}'),
        ("/?n=true", "/?n=x", '{"n":true}', '{"n":true}'),
        ("/?n=5&n=6", "/?n=7&n=8", '{"n":[6,5]}', '{"n":[8,7]}'),
    ],
)
def test_an_ambiguous_value_at_its_name(recorded: str, caller: str, answer: str, expected: str) -> None:
    """A short value or a number is replaced where the member has the field's name; the type there stays."""
    assert bound(answered(request(recorded), answer.encode()), request(caller), binding("query:n")).body == (
        expected.encode()
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"a":{"id":5},"id":5}', '{"a":{"id":6},"id":5}'),
        ('{"b":{"id":5},"c":5}', '{"b":{"id":6},"c":5}'),
        ('{"b":5}', '{"b":5}'),
    ],
)
def test_the_same_path_before_the_same_name(answer: str, expected: str) -> None:
    """Where the answer has the value at the same path, other members of that name are not touched."""
    sent, again = (request(body=b'{"a":{"id":%d}}' % number) for number in (5, 6))
    assert bound(answered(sent, answer.encode()), again, binding("json:$.a.id")).body == expected.encode()


def test_an_ambiguous_value_without_a_name() -> None:
    """A short value of a path has no name under which it could be echoed."""
    answer = answered(request("/o/17"), b'{"id":17}')
    assert bound(answer, request("/o/18"), binding("path:/o/([0-9]+)")) is answer.response


def test_what_follows_a_changed_body() -> None:
    """Content-Length and coding follow; trailers are bound too."""
    recorded, caller = PLACES["query:ref"]
    body = f'"{OLD}"'.encode()
    headers = (*JSON, ("Content-Length", str(len(body))), ("X-Length", str(len(body))))
    found = bound(answered(recorded, body, headers, trailers=(("X-Ref", OLD),)), caller, binding("query:ref"))
    assert found.headers == (*JSON, ("Content-Length", str(len(NEW) + 2)), ("X-Length", str(len(body))))
    assert found.trailers == (("X-Ref", NEW),)
    coded = Coding(names=("gzip",), coded=b"octets of the wire")
    headers = (*JSON, ("Content-Encoding", "gzip"), ("Content-Length", str(len(body))))
    found = bound(answered(recorded, body, headers, coding=coded), caller, binding("query:ref"))
    assert (found.coding, found.headers) == (Coding(names=("gzip",)), headers)


@pytest.mark.parametrize("body", [b"", b"\xff" + OLD.encode(), Blob("00" * 32, 9)], ids=["empty", "binary", "file"])
def test_bodies_that_are_left_alone(body: bytes | Blob) -> None:
    """There is nothing to find in them."""
    recorded, caller = PLACES["query:ref"]
    answer = replace(answered(recorded), response=Response(status=200, headers=JSON, body=body))
    assert bound(answer, caller, binding("query:ref")) is answer.response


def test_without_anything_to_bind() -> None:
    """The very response is given."""
    answer = answered(request("/?a=1"), b'{"a":1}')
    assert bound(answer, request("/?a=2")) is answer.response
    assert bound(answer, request("/?a=2"), binding("query:b")) is answer.response


def test_a_header_that_is_no_ascii() -> None:
    """A JSON value in a header is its UTF-8 octets."""
    sent, again = (request(body=json.dumps({"q": text}).encode()) for text in ("référence-1", "ä"))
    wire = "référence-1".encode().decode("latin-1")
    found = bound(answered(sent, b"{}", (("X", f" {wire}"), ("q", wire))), again, binding("json:$.q"))
    assert found.headers == (("X", " Ã¤"), ("q", "Ã¤"))


def test_a_value_cannot_end_a_header() -> None:
    """What would end the field, and begin another, is not put into headers."""
    sent, again = (request(body=json.dumps({"q": text}).encode()) for text in (OLD, "a\r\nSet-Cookie: b=1"))
    found = bound(
        answered(sent, f'"{OLD}"'.encode(), (*JSON, ("q", OLD), ("x", f"a {OLD}"))), again, binding("json:$.q")
    )
    assert found.headers == (*JSON, ("q", OLD), ("x", f"a {OLD}"))
    assert found.body == b'"a\\r\\nSet-Cookie: b=1"'


def test_a_value_in_its_caller_is_replaced_once() -> None:
    """What was put in is not looked at again, and two bindings may swap."""
    sent, again = request("/?a=value-0001&b=value-0002"), request("/?a=value-0002&b=value-0001")
    answer = answered(sent, b'{"x":"value-0001 value-0002","b":"value-0002"}')
    found = bound(answer, again, binding("query:a", "query:b"))
    assert found.body == b'{"x":"value-0002 value-0001","b":"value-0001"}'


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((4, 10, 20), (4, 6, 16)),
        ((9, 12, 13), (4, 9, 13)),
        ((34,), (26,)),
        ((3, 3, 28), (3, 1, 22)),
        ((30, 4), (26, 0)),
    ],
)
def test_the_sizes_of_chunks(sizes: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """They add up to the new body, wherever the borders lay."""
    recorded, caller = PLACES["query:ref"]
    body = f"abc {OLD} {OLD} xy".encode()
    chunks = tuple(Chunk(size, at) for at, size in enumerate(sizes))
    found = bound(answered(recorded, body, TEXT, chunks=chunks), caller, binding("query:ref"))
    assert isinstance(found.body, bytes)
    assert sum(chunk.size for chunk in found.chunks) == len(found.body)
    assert [chunk.at_ms for chunk in found.chunks] == list(range(len(sizes)))
    assert all(chunk.size >= 0 for chunk in found.chunks)


LEAVES = st.sampled_from([17, 17.0, 170, "17", OLD, f"x {OLD}", True, None, "é", "😀"])
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "ref", OLD, "é"]), inner),
    max_leaves=8,
)


@given(DOCUMENTS, st.sampled_from([None, 1]), st.lists(st.integers(0, 40), max_size=3))
def test_there_and_back(document: object, indent: int | None, cuts: list[int]) -> None:
    """Bound to other values and back again, every octet is as recorded, and the chunks cover the body."""
    body = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    borders = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    chunks = tuple(Chunk(end - start, 0) for start, end in pairwise(borders))
    recorded, caller = (request(f"/?ref={ref}&id={number}") for ref, number in ((OLD, 17), (NEW + "-back", 987654)))
    rules = binding("query:ref", "query:id")
    there = bound(answered(recorded, body, chunks=chunks), caller, rules)
    assert isinstance(there.body, bytes)
    assert sum(chunk.size for chunk in there.chunks) == len(there.body)
    assert OLD not in there.body.decode()
    back = bound(Interaction(id="1", order=0, request=caller, response=there), recorded, rules)
    assert isinstance(back.body, bytes)
    assert json.loads(back.body) == json.loads(body)


@pytest.mark.parametrize(
    ("text", "distinctive"),
    [
        ("short-1", False),
        ("customer", False),
        ("customer-1", True),
        ("12345678901234567890123", False),
        ("1.5e10000", False),
        ("a" * 20, True),
        ("0b1d5f9e", True),
    ],
)
def test_distinctive_values(text: str, distinctive: bool) -> None:
    """Numbers, short text and single words may stand in an answer by chance."""
    assert is_distinctive(text) is distinctive


@pytest.mark.parametrize(
    ("sent", "answer", "expected"),
    [
        (PLACES["header:x-ref"][0], (b"{}", (("Location", f"/o/{OLD}"), *JSON)), ("header:x-ref", "header:location")),
        (PLACES["query:ref"][0], (f'{{"a":["{OLD}"]}}'.encode(), JSON), ("query:ref", "json:$.a[0]")),
        (PLACES["form:ref"][0], (f"got {OLD}".encode(), TEXT), ("form:ref", "body")),
        (PLACES["json:$.ref"][0], (f'{{"a":"see {OLD}"}}'.encode(), JSON), ("json:$.ref", "json:$.a")),
    ],
)
def test_proposals(sent: Request, answer: tuple[bytes, Headers], expected: tuple[str, str]) -> None:
    """A distinctive value that came back is proposed, with the place."""
    field, place = expected
    assert propose(answered(sent, *answer)) == (Binding(field=field, echoed=(place,)),)


@pytest.mark.parametrize(
    "sent",
    [
        request(f"/?api_key={OLD}"),
        request(headers=FORM, body=f"password={OLD}".encode()),
        request(body=f'{{"client_secret":"{OLD}"}}'.encode()),
        request(headers=(("Authorization", OLD),)),
        request(headers=(("User-Agent", OLD),)),
        request(headers=(("X-Request-Id", OLD),)),
        request(headers=(("Origin", OLD),)),
        request(headers=JSON, body=f'{{"jsonrpc":"2.0","id":"{OLD}","method":"m"}}'.encode()),
        request("/?q=17&r&s=customer"),
        request(body=b'{"n":12345678,"t":"two words and 1"}'),
        request("/?q=sk_test_0123456789"),
        request("/?q=masked-0001"),
    ],
)
def test_what_is_not_proposed(sent: Request) -> None:
    """Credentials, their placeholders, telemetry, what is bound anyway and what is not distinctive."""
    body = f"{OLD} 17 customer 12345678 two words and 1 sk_test_0123456789 masked-0001".encode()
    answer = replace(answered(sent, body, TEXT), redactions=(Redaction(at="x", rule="y", placeholder="masked-0001"),))
    assert propose(answer) == ()


def test_proposals_need_an_echo() -> None:
    """A value that does not come back, or only into a file, is not proposed; places are not endless."""
    recorded = PLACES["query:ref"][0]
    assert propose(answered(recorded, b'{"a":"b"}')) == ()
    assert propose(replace(answered(recorded), response=Response(status=200, body=Blob("00" * 32, 9)))) == ()
    (many,) = propose(answered(recorded, json.dumps([OLD] * 20).encode()))
    assert len(many.echoed) == 8
