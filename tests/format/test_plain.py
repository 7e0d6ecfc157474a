"""One interaction as JSON text, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import (
    Binding,
    Blob,
    Chunk,
    Coding,
    Fault,
    Interaction,
    Interim,
    Origin,
    Redaction,
    Request,
    Response,
)
from replayproxy.core.rights import preset
from replayproxy.format import from_json, to_json

ASKED = Request(method="GET", origin=Origin("https", "a.test", 443), target="/a?b=%20")
PLAIN = Interaction(id="0123456789ab", order=3, request=ASKED, response=Response(status=200, reason="OK"))
LARGE = b"\x00\xff" * 100_000

CASES: dict[str, Interaction] = {
    "the least": PLAIN,
    "an odd target": replace(PLAIN, request=replace(ASKED, target="*", method="OPTIONS", version="HTTP/2.0")),
    "octets": replace(PLAIN, request=replace(ASKED, body=LARGE), response=Response(status=200, body=b"\x00\x01")),
    "text that looks like octets": replace(PLAIN, response=Response(status=200, body=b'{"!!binary": "AA=="}')),
    "long text": replace(PLAIN, response=Response(status=200, body=b"a" * 100_000)),
    "a body in a file": replace(PLAIN, response=Response(status=200, body=Blob("0" * 64, 70_000))),
    "all there is": replace(
        PLAIN,
        started_us=5,
        first_ms=1,
        ended_ms=2,
        rights=preset("own-synthetic"),
        redactions=(Redaction(at="request.header:a", rule="r", placeholder="p"),),
        proposals=(Binding(field="json:$.a", echoed=("json:$.b",)),),
        take="t",
        scenario="s",
        extensions=(("x-a", {"b": [1, None]}), ("replayproxy.x-c", 0.5)),
        response=Response(
            status=502,
            headers=(("B", "1"), ("a", "é"), ("B", "2"), ("Transfer-Encoding", "chunked")),
            body=b"abc",
            trailers=(("T", "1"),),
            framing="chunked",
            interim=(Interim(status=103, headers=(("Link", "x"),)),),
            chunks=(Chunk(1, 2), Chunk(2, 3, 4)),
            coding=Coding(names=("gzip",), coded=b"\x1f\x8b"),
            fault=Fault(kind="truncated", phase="body", after_ms=4),
            before_body=True,
        ),
    ),
}


@pytest.mark.parametrize("one", CASES.values(), ids=CASES)
def test_what_is_said_in_json_comes_back(one: Interaction) -> None:
    """Whole, on one line, with every body that was in memory."""
    text = to_json(one)
    assert "\n" not in text
    assert from_json(text) == one


@given(st.binary(max_size=60), st.binary(max_size=60), st.text(st.characters(max_codepoint=0xFF), max_size=9))
def test_any_octets_come_back(asked: bytes, answered: bytes, wire: str) -> None:
    """Bodies, targets and fields."""
    request = replace(ASKED, body=asked, target=f"/{wire}", headers=(("A", wire), ("B", "1"), ("A", wire)))
    one = replace(PLAIN, request=request, response=Response(status=200, body=answered))
    assert from_json(to_json(one)) == one


@pytest.mark.parametrize(
    "one",
    [
        replace(PLAIN, id="other"),
        replace(PLAIN, extensions=(("x-a", {1: "not text"}),)),
        replace(PLAIN, extensions=(("x-a", {"!!binary": "AA=="}),)),
        replace(PLAIN, extensions=(("x-a", {"!!binary": "no base64"}),)),
        replace(PLAIN, extensions=(("x-a", {2}),)),
    ],
)
def test_what_would_not_come_back_is_refused(one: Interaction) -> None:
    """So that nothing else is ever served in its place."""
    with pytest.raises(ValueError, match=r"JSON|no interaction"):
        to_json(one)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"request": {}}', to_json(PLAIN).replace("200", '"200"')])
def test_what_is_no_interaction_is_refused(text: str) -> None:
    """It is checked as the file is."""
    with pytest.raises(ValueError, match=r"interaction|Expecting"):
        from_json(text)
