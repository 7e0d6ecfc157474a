"""Bodies in files: nothing leads out of the folder, and nothing is taken for what it is not."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from replayproxy.core.errors import CassetteError, IntegrityError
from replayproxy.core.exchange import Blob
from replayproxy.store import Blobs

DATA = b"z" * 3_000_000
BLOB = Blob(hashlib.sha256(DATA).hexdigest(), len(DATA))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the blob."""
    path = tmp_path / "cassette.blobs"
    path.mkdir()
    (path / BLOB.sha256).write_bytes(DATA)
    return path


def test_reading(folder: Path, tmp_path: Path) -> None:
    """Whole or in pieces, from the first folder that has it; octets in memory pass."""
    blobs = Blobs("cassette.yaml", [tmp_path / "missing", folder])
    assert blobs.read(BLOB) == DATA
    assert b"".join(blobs.pieces(BLOB)) == DATA
    assert max(map(len, blobs.pieces(BLOB))) <= 1 << 20
    assert blobs.read(b"here") == b"here"
    assert blobs.path(BLOB) == folder / BLOB.sha256


@pytest.mark.parametrize("name", ["../cassette.yaml", "/etc/passwd", "A" * 64, "", "a" * 63, "a" * 64 + "\n"])
def test_only_a_sha256_is_a_name(folder: Path, name: str) -> None:
    """Whatever could be a path is refused before the file system is asked."""
    with pytest.raises(CassetteError, match="no SHA-256"):
        Blobs("cassette.yaml", [folder]).path(Blob(name, 1))


def test_missing(folder: Path) -> None:
    """The cassette and the file are named."""
    with pytest.raises(CassetteError, match=r"cassette\.yaml: the body file cassette\.blobs/b+ is missing"):
        Blobs("cassette.yaml", [folder]).present(Blob("b" * 64, 1))


def test_another_size(folder: Path) -> None:
    """It is seen without reading."""
    with pytest.raises(IntegrityError, match="has 3000000 octets, not 5"):
        Blobs("cassette.yaml", [folder]).present(Blob(BLOB.sha256, 5))


def test_other_octets(folder: Path) -> None:
    """They are seen at the first reading, and code 1 says tampering."""
    (folder / BLOB.sha256).write_bytes(b"y" * len(DATA))
    blobs = Blobs("cassette.yaml", [folder])
    assert blobs.present(BLOB) == folder / BLOB.sha256
    for _ in range(2):
        with pytest.raises(IntegrityError, match="is not what was recorded") as caught:
            blobs.read(BLOB)
    assert caught.value.exit_code == 1


def test_links_are_refused(folder: Path, tmp_path: Path) -> None:
    """A link in the folder, and a link for the folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / BLOB.sha256).rename(outside / BLOB.sha256)
    (folder / BLOB.sha256).symlink_to(outside / BLOB.sha256)
    with pytest.raises(CassetteError, match="not a plain file"):
        Blobs("cassette.yaml", [folder]).path(BLOB)
    linked = tmp_path / "linked.blobs"
    linked.symlink_to(outside)
    with pytest.raises(CassetteError, match="is missing"):
        Blobs("cassette.yaml", [linked]).path(BLOB)
