"""multipart bodies taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.multipart import BOUNDARY, Part, media_type, take_apart

BOUNDARIES = [
    "0123456789abcdef0123456789abcdef",
    "===============123456789==",
    "----formdata-undici-012345678901",
    "axios-1.21.1-boundary-xyz",
    "------------------------d74496d66958873e",
    "it's (one) of:many+/?=.",
]


def body(boundary: str, parts: list[tuple[str, bytes]], end: bytes = b"\r\n") -> bytes:
    """A body of parts, each a head and its content."""
    mark = b"--" + boundary.encode()
    pieces = [mark + end + head.encode() + end + end + content + end for head, content in parts]
    return b"".join(pieces) + mark + b"--" + end


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_the_boundaries_of_real_clients(boundary: str, end: bytes) -> None:
    """Every measured form of boundary, and the bare LF of Python's email package."""
    found = take_apart(body(boundary, [("A: 1", b"x\n"), ("B : 2", b"")], end), boundary)
    assert found == [Part((("a", "1"),), b"x\n"), Part((("b", "2"),), b"")]


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=4), st.sampled_from(BOUNDARIES))
def test_contents_come_back(contents: list[bytes], boundary: str) -> None:
    """Any octets but the delimiter itself are kept."""
    found = take_apart(body(boundary, [("A: 1", content) for content in contents]), boundary)
    assert found is not None
    assert [part.content for part in found] == contents


def test_what_looks_like_a_delimiter() -> None:
    """The delimiter counts at the beginning of a line and with nothing behind it."""
    content = b"x --b\r\n--bc\r\n --b"
    assert take_apart(body("b", [("A: 1", content)]), "b") == [Part((("a", "1"),), content)]


def test_preamble_epilogue_and_padding() -> None:
    """What stands before the first and after the last delimiter is no part (RFC 2046 5.1.1)."""
    whole = b"preamble\r\n--b \t\r\n\r\none\r\n--b\r\n\ntwo\r\n--b\r\nA: 1\r\n  folded\r\n--b-- \r\nepilogue\r\n--b\r\n"
    assert take_apart(whole, "b") == [Part((), b"one"), Part((), b"two"), Part((("a", "1 folded"),), b"")]


@pytest.mark.parametrize("data", [b"", b"--b\r\n\r\nx", b"x", b"--b--\r\n", b"--b\r\nno colon\r\n\r\nx\r\n--b--"])
def test_malformed(data: bytes) -> None:
    """A body that is not what its type claims is not taken apart."""
    assert take_apart(data, "b") is None


@pytest.mark.parametrize(
    ("value", "kind", "parameters"),
    [
        ("text/Plain", "text/plain", {}),
        ("multipart/form-data; boundary=abc", "multipart/form-data", {"boundary": "abc"}),
        ('multipart/x ;Boundary="a;\\"b" ; c=', "multipart/x", {"boundary": 'a;"b', "c": ""}),
        ("", "", {}),
    ],
)
def test_media_types(value: str, kind: str, parameters: dict[str, str]) -> None:
    """Type and parameters, quotes undone."""
    assert media_type(value) == (kind, parameters)


@pytest.mark.parametrize("value", ['a/b; boundary="x;y"; c=d', "a/b;BOUNDARY=xy; c=d"])
def test_the_boundary_parameter(value: str) -> None:
    """It can be cut out of a Content-Type, whatever its spelling."""
    assert BOUNDARY.sub("", value) == "a/b; c=d"


def test_the_header_of_a_part() -> None:
    """The first value counts; a missing one is empty."""
    part = Part((("a", "1"), ("a", "2")), b"")
    assert (part.header("a"), part.header("b")) == ("1", "")
