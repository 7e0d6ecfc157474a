"""Digests of a body that changed: computed anew where that can be done, and else gone."""

from __future__ import annotations

import base64
import hashlib
import zlib

import pytest

from replayproxy.core.redaction.digests import refreshed

BODY = b"hello"


def coded(octets: bytes) -> str:
    """OCTETS in base64."""
    return base64.b64encode(octets).decode()


MD5 = coded(hashlib.md5(BODY).digest())
SHA256 = coded(hashlib.sha256(BODY).digest())
SHA1 = coded(hashlib.sha1(BODY).digest())
SHA512 = coded(hashlib.sha512(BODY).digest())
CRC32 = coded(zlib.crc32(BODY).to_bytes(4))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Content-MD5", "xxxx", MD5),
        ("Content-Digest", "sha-256=:xxxx:", f"sha-256=:{SHA256}:"),
        ("Repr-Digest", "sha-512=:xxxx:, sha-256=:yyyy:", f"sha-512=:{SHA512}:, sha-256=:{SHA256}:"),
        ("Digest", "SHA-256=xxxx,MD5=yyyy", f"SHA-256={SHA256}, MD5={MD5}"),
        ("digest", "sha=xxxx,unixsum=30637", f"sha={SHA1}"),
        ("x-goog-hash", "crc32c=xxxx,md5=yyyy", f"md5={MD5}"),
        ("x-goog-hash", "crc32c=xxxx", None),
        ("Content-Digest", "nonsense", None),
        ("X-Amz-Checksum-Sha256", "xxxx", SHA256),
        ("x-amz-checksum-sha1", "xxxx", SHA1),
        ("x-amz-checksum-crc32", "xxxx", CRC32),
        ("x-amz-checksum-crc32c", "xxxx", None),
        ("ETag", '"xxxx"', '"xxxx"'),
    ],
)
def test_digests_hold_again_or_go(name: str, old: str, new: str | None) -> None:
    """A digest is that of the new octets, in the manner of the old value; one that we cannot compute is dropped."""
    assert refreshed((("A", "1"), (name, old), ("B", "2")), BODY) == (
        ("A", "1"),
        *(((name, new),) if new else ()),
        ("B", "2"),
    )


def test_octets_that_are_not_known_have_no_digest() -> None:
    """Where it is not known what will be sent, every digest goes and every other field stays."""
    assert refreshed((("Digest", "md5=x"), ("Content-MD5", "x"), ("ETag", "x")), None) == (("ETag", "x"),)
