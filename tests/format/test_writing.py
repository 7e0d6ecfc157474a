"""The model to text: stable octets, a digest over all that is said, and nothing that a reader cannot give back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import (
    Binding,
    Blob,
    Cassette,
    Chunk,
    Coding,
    Fault,
    Interaction,
    Interim,
    Origin,
    Redaction,
    Request,
    Response,
    Signature,
    interaction_id,
)
from replayproxy.core.rights import preset
from replayproxy.format import blobs_of, digest_of, dump, load

GOLDEN = sorted((Path(__file__).parent / "golden" / "v1").glob("*.yaml"))

latin = st.text(alphabet=st.characters(max_codepoint=0xFF), max_size=12)
words = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
tokens = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,6}", fullmatch=True)
numbers = st.integers(0, 10**7)
fields = st.lists(
    st.tuples(
        st.sampled_from(["A", "a", "B", "Content-Length", "Content-Encoding", "Transfer-Encoding"]) | latin, latin
    ),
    max_size=5,
).map(tuple)
sha256 = st.text("0123456789abcdef", min_size=64, max_size=64)
blobs = st.builds(Blob, sha256, numbers)
bodies = st.binary(max_size=40) | words.map(lambda text: text.encode()) | blobs | st.just(b"a: 1\n\n- b\n\n")
origins = st.builds(
    Origin,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.test", "::1", "10.0.0.1"]),
    st.sampled_from([80, 443, 81]),
)
requests = st.builds(
    Request,
    method=tokens,
    origin=origins,
    target=st.just("*") | latin.map(lambda text: "/" + text),
    headers=fields,
    body=bodies,
    trailers=fields,
    version=st.sampled_from(["HTTP/1.0", "HTTP/1.1", "HTTP/2.0"]),
)
codings = st.builds(
    Coding, names=st.lists(latin, min_size=1, max_size=2).map(tuple), coded=st.none() | blobs | st.binary(max_size=9)
)
faults = st.builds(
    Fault,
    kind=st.sampled_from(["refused", "reset", "timeout", "truncated", "closed", "dns"]),
    phase=st.sampled_from(["connect", "head", "body"]),
    after_ms=numbers,
)
responses = st.builds(
    Response,
    status=st.integers(200, 599),
    reason=latin,
    headers=fields,
    body=bodies,
    trailers=fields,
    version=st.sampled_from(["HTTP/1.0", "HTTP/1.1"]),
    framing=st.sampled_from(["length", "chunked", "close", "none"]),
    interim=st.lists(st.builds(Interim, status=st.integers(100, 199), reason=latin, headers=fields), max_size=2).map(
        tuple
    ),
    chunks=st.lists(st.builds(Chunk, numbers, numbers, st.none() | numbers), max_size=3).map(tuple),
    coding=st.none() | codings,
    fault=st.none() | faults,
    before_body=st.booleans(),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
extensions = st.dictionaries(
    tokens.map(lambda name: "x-" + name) | tokens.map(lambda name: "replayproxy.x-" + name), values, max_size=2
).map(lambda found: tuple(sorted(found.items(), key=lambda item: (item[0].startswith("replayproxy."),))))
times = st.integers(0, 4_000_000_000_000_000)


@st.composite
def interactions(draw: st.DrawFn) -> Interaction:
    """An interaction whose order and id its cassette gives it."""
    return Interaction(
        id="",
        order=0,
        request=draw(requests),
        response=draw(responses),
        started_us=draw(times),
        first_ms=draw(numbers),
        ended_ms=draw(numbers),
        rights=draw(st.none() | st.sampled_from([preset("own-synthetic"), preset("unknown")])),
        redactions=draw(st.lists(st.builds(Redaction, at=words, rule=words, placeholder=words), max_size=2).map(tuple)),
        proposals=draw(
            st.lists(st.builds(Binding, field=words, echoed=st.lists(words, max_size=2).map(tuple)), max_size=2).map(
                tuple
            )
        ),
        take=draw(words),
        scenario=draw(words),
        extensions=draw(extensions),
    )


@st.composite
def cassettes(draw: st.DrawFn) -> Cassette:
    """A cassette with up to three interactions, in order, orders with gaps."""
    orders = sorted(draw(st.sets(st.integers(0, 99), max_size=3)))
    drawn = [replace(draw(interactions()), order=order) for order in orders]
    return Cassette(
        name=draw(words),
        interactions=tuple(replace(one, id=interaction_id(one.order, one.request)) for one in drawn),
        rights=draw(st.sampled_from([preset("own-synthetic"), preset("unknown")])),
        recorded_us=draw(times),
        tool=draw(words),
        salt=draw(st.binary(max_size=4)).hex(),
        signature=draw(st.none() | st.builds(Signature, words, words)),
        note=draw(words),
        extensions=draw(extensions),
    )


@settings(max_examples=120, deadline=None)
@given(cassettes())
def test_round_trip(cassette: Cassette) -> None:
    """load(dump(x)) is x with its digest, and dumping that gives the same octets."""
    dumped = dump(cassette)
    loaded = load(dumped.text, "x.yaml")
    assert replace(loaded, digest="") == cassette
    assert loaded.digest == digest_of(loaded) == digest_of(cassette)
    assert dump(loaded).text == dumped.text
    assert dumped.referenced == frozenset(blobs_of(cassette))


@settings(max_examples=30, deadline=None)
@given(cassettes(), st.randoms(use_true_random=False))
def test_octets_do_not_depend_on_arrival(cassette: Cassette, random: object) -> None:
    """Answers may come in any order; the file has the order of the requests."""
    shuffled = list(cassette.interactions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert dump(replace(cassette, interactions=tuple(shuffled))).text == dump(cassette).text


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_files_are_stable(path: Path) -> None:
    """What version 1 wrote is read and written again to the octet, for ever; and its digest holds."""
    cassette = load(path.read_bytes(), path.name)
    assert dump(cassette).text == path.read_bytes()
    assert cassette.digest == digest_of(cassette)


def test_the_golden_files_are_there() -> None:
    """So that the test above cannot pass for want of files."""
    assert {path.stem for path in GOLDEN} == {
        "all",
        "bodies",
        "coding",
        "empty",
        "faults",
        "fields",
        "plain",
        "streams",
    }


PLAIN = load((Path(__file__).parent / "golden" / "v1" / "plain.yaml").read_bytes(), "plain.yaml")
FIRST = PLAIN.interactions[0]
CHANGES = {
    "body": replace(FIRST, response=replace(FIRST.response, body=b"other")),
    "request body": replace(FIRST, request=replace(FIRST.request, body=b"other")),
    "status": replace(FIRST, response=replace(FIRST.response, status=202)),
    "header": replace(FIRST, response=replace(FIRST.response, headers=(("A", "1"),))),
    "time": replace(FIRST, started_us=FIRST.started_us + 1),
    "rights": replace(FIRST, rights=preset("unknown")),
    "blob": replace(FIRST, response=replace(FIRST.response, body=Blob("a" * 64, 5))),
    "extension": replace(FIRST, extensions=(("x-a", 1.5),)),
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_changes_the_digest(changed: Interaction) -> None:
    """The digest covers all content."""
    assert digest_of(replace(PLAIN, interactions=(changed, *PLAIN.interactions[1:]))) != digest_of(PLAIN)


def test_an_edited_file_is_seen() -> None:
    """Text that is changed in the file no longer has the digest of the file."""
    edited = load(dump(PLAIN).text.replace(b"one", b"two"), "x.yaml")
    assert edited.interactions[1].response.body == b"two"
    assert digest_of(edited) != edited.digest


def test_the_signature_is_not_signed() -> None:
    """It is put beside the digest afterwards."""
    assert digest_of(replace(PLAIN, signature=Signature("a", "b"))) == digest_of(PLAIN)


def test_text_and_octets_of_a_body_do_not_collide() -> None:
    """A text that spells our mark for octets is another content than the octets."""
    bodies = (b"\xff", b'{"!!binary": "ff"}')
    digests = {digest_of(replace(PLAIN, interactions=(_answered(body),))) for body in bodies}
    assert len(digests) == 2


def _answered(body: bytes) -> Interaction:
    return replace(FIRST, response=replace(FIRST.response, body=body))


def test_large_bodies_leave_the_text() -> None:
    """They are handed out by SHA-256, and the digest is the one of the cassette that refers to them."""
    large = b"z" * 70000
    coded = b"\x00" * 5000
    one = _answered(large)
    one = replace(one, response=replace(one.response, coding=Coding(names=("br",), coded=coded)))
    cassette = replace(PLAIN, interactions=(replace(one, request=replace(one.request, body=large)),))
    dumped = dump(cassette)
    assert sorted(dumped.blobs.values()) == sorted([large, coded])
    assert dumped.referenced == dumped.blobs.keys()
    assert b"zzz" not in dumped.text
    loaded = load(dumped.text, "x.yaml")
    assert loaded.interactions[0].response.body == loaded.interactions[0].request.body == Blob(_sha(large), 70000)
    assert digest_of(loaded) == loaded.digest == digest_of(cassette)
    assert frozenset(blobs_of(loaded)) == dumped.referenced


def _sha(body: bytes) -> str:
    return next(
        sha256 for sha256, data in dump(replace(PLAIN, interactions=(_answered(body),))).blobs.items() if data == body
    )


def test_names_that_are_not_utf8_are_written_readably() -> None:
    """A file name may hold octets that are no text; the cassette then holds a question mark for them."""
    assert load(dump(replace(PLAIN, name="a\udcffb")).text, "x.yaml").name == "a?b"
