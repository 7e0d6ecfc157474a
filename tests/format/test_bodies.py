"""Bodies: what is text, what is binary, and what lies in a file of its own."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import Blob
from replayproxy.format.bodies import BodyStore, blob_value, body_of, text_of

TEXT = {
    "json": b'{"a":1}',
    "empty": b"",
    "byte order mark": b"\xef\xbb\xbf{}",
    "next line": "a\x85b".encode(),
    "line separator": "a\u2028b".encode(),
    "carriage return": b"a\r\nb\rc",
    "emoji": "😀".encode(),
    "lone combining": "\u0301".encode(),
}
BINARY = {
    "latin-1": b"caf\xe9",
    "nul": b"a\x00b",
    "escape": b"\x1b[1m",
    "delete": b"a\x7f",
    "c1": "a\x9fb".encode(),
    "surrogate half": b"\xed\xa0\x80",
    "utf-16": "hi".encode("utf-16"),
    "gzip": b"\x1f\x8b\x08",
}


@pytest.mark.parametrize("body", TEXT.values(), ids=TEXT.keys())
def test_text(body: bytes) -> None:
    """Valid UTF-8 without control characters is text that stands for exactly these octets."""
    text = text_of(body)
    assert text is not None
    assert body_of(text) == body


@pytest.mark.parametrize("body", BINARY.values(), ids=BINARY.keys())
def test_binary(body: bytes) -> None:
    """Everything else is kept as octets."""
    assert text_of(body) is None
    assert BodyStore().value(body) == body


@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")))
def test_round_trip(body: bytes) -> None:
    """Whatever the octets, they come back."""
    assert body_of(BodyStore().value(body)) == body


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        (b"x" * 65536, False),
        (b"x" * 65537, True),
        ("é".encode() * 32769, True),
        (b"\xff" * 4096, False),
        (b"\xff" * 4097, True),
    ],
)
def test_large_bodies_lie_in_files(body: bytes, stored: bool) -> None:
    """Over 64 KiB of text, over 4 KiB of binary, counted in octets."""
    store = BodyStore()
    value = store.value(body)
    assert isinstance(value, Blob) is stored
    if isinstance(value, Blob):
        assert store.blobs == {hashlib.sha256(body).hexdigest(): body}
        assert body_of(blob_value(value)) == value == Blob(hashlib.sha256(body).hexdigest(), len(body))
    assert store.value(Blob("a" * 64, 3)) == Blob("a" * 64, 3)


def test_none_is_no_body() -> None:
    """null in the file is the empty body."""
    assert body_of(None) == b""
