"""The framing of S3's streaming uploads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.canonical.aws_chunked import is_aws_chunked, payload


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.booleans(), st.booleans())
def test_the_payload_is_what_was_framed(pieces: list[bytes], signed: bool, trailer: bool) -> None:
    """However it is cut and signed, with or without trailers, the payload comes back."""
    mark = b";chunk-signature=" + b"0" * 64 if signed else b""
    framed = b"".join(b"%x%s\r\n%s\r\n" % (len(piece), mark, piece) for piece in pieces)
    end = b"0%s\r\n" % mark + (b"x-amz-checksum-crc32:AAAAAA==\r\n" if trailer else b"") + b"\r\n"
    assert payload(framed + end) == b"".join(pieces)


@pytest.mark.parametrize("body", [b"", b"hello", b"5\r\nhel", b"5\r\nhelloxx", b"5\r\nhello\r\n", b"zz\r\n\r\n"])
def test_framing_that_does_not_hold(body: bytes) -> None:
    """What is not framed as claimed has no payload."""
    assert payload(body) is None


@pytest.mark.parametrize(
    ("headers", "codings", "claims"),
    [
        ((), ("aws-chunked",), True),
        ((("X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),), (), True),
        ((("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),), ("gzip",), False),
    ],
)
def test_who_claims_it(headers: tuple[tuple[str, str], ...], codings: tuple[str, ...], claims: bool) -> None:
    """The coding or the hash that stands for a stream claims it."""
    assert is_aws_chunked(headers, codings) is claims
