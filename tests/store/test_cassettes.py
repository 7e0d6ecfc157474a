"""Cassettes on disk: read, found, checked and written, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replayproxy.core.errors import CassetteError, IntegrityError, OperationError
from replayproxy.core.exchange import Blob, Cassette, Interaction
from replayproxy.store import check, find, read, write

type Make = Callable[..., Interaction]

LARGE = b"z" * 300_000
SHA256 = hashlib.sha256(LARGE).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the cassette of a test goes."""
    return tmp_path / "cassette.yaml"


def names(folder: Path) -> list[str]:
    """Every file and folder in FOLDER, hidden ones too."""
    return sorted(entry.name for entry in folder.iterdir())


def test_round_trip(path: Path, head: Cassette, answer: Make) -> None:
    """What is written is read again; a large body lies beside it, and nothing else does."""
    write(path, replace(head, interactions=(answer(0), answer(1, LARGE))))
    loaded = read(path)
    assert [loaded.blobs.read(one.response.body) for one in loaded.cassette.interactions] == [b"one", LARGE]
    assert loaded.cassette.interactions[1].response.body == Blob(SHA256, len(LARGE))
    assert names(path.parent) == ["cassette.blobs", "cassette.yaml"]
    assert names(path.parent / "cassette.blobs") == [SHA256]
    assert check(loaded) == ()
    before = path.read_bytes()
    write(path, loaded.cassette)
    assert path.read_bytes() == before


def test_bodies_that_nothing_refers_to_go(path: Path, head: Cassette, answer: Make) -> None:
    """With the cassette that referred to them; files of others stay."""
    write(path, replace(head, interactions=(answer(0, LARGE),)))
    write(path, replace(head, interactions=(answer(0, LARGE + b"!"),)))
    assert names(path.parent / "cassette.blobs") == [hashlib.sha256(LARGE + b"!").hexdigest()]
    (path.parent / "cassette.blobs" / "README").touch()
    write(path, head)
    assert names(path.parent / "cassette.blobs") == ["README"]
    (path.parent / "cassette.blobs" / "README").unlink()
    write(path, head)
    assert names(path.parent) == ["cassette.yaml"]


def test_bodies_from_elsewhere(path: Path, head: Cassette, answer: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blob that is only referred to is taken from the file that is named for it, by link or by copy."""
    source = path.parent / "source"
    one = answer(0)
    one = replace(one, response=replace(one.response, body=Blob(SHA256, len(LARGE))))
    cassette = replace(head, interactions=(one,))
    for linkable in (True, False):
        source.write_bytes(LARGE)
        if not linkable:
            monkeypatch.setattr(Path, "hardlink_to", _no_links)
        write(path, cassette, {SHA256: source})
        assert check(read(path)) == ()
        write(path, cassette, {SHA256: path.parent / "cassette.blobs" / SHA256})
        write(path, cassette)
        assert names(path.parent / "cassette.blobs") == [SHA256]
        write(path, head)


def _no_links(*_: object) -> None:
    raise OSError("no hard links here")


def test_a_lost_body_is_not_written_over(path: Path, head: Cassette, answer: Make) -> None:
    """A cassette that refers to a body that is nowhere is refused, and the old one stays."""
    write(path, head)
    before = path.read_bytes()
    one = answer(0)
    with pytest.raises(OperationError, match="is missing"):
        write(path, replace(head, interactions=(replace(one, response=replace(one.response, body=Blob(SHA256, 5))),)))
    assert path.read_bytes() == before


def test_a_link_for_the_folder_of_bodies_is_refused(path: Path, head: Cassette, answer: Make) -> None:
    """Bodies would leave the folder through it."""
    (path.parent / "outside").mkdir()
    (path.parent / "cassette.blobs").symlink_to(path.parent / "outside")
    with pytest.raises(OperationError, match="symbolic link"):
        write(path, replace(head, interactions=(answer(0, LARGE),)))
    assert not path.exists()


def test_unreadable(path: Path, head: Cassette, answer: Make) -> None:
    """Each way in which a cassette cannot be read has its error; none gives an empty cassette."""
    with pytest.raises(CassetteError, match=r"there is no cassette .*cassette\.yaml") as caught:
        read(path)
    assert "replayproxy record -o" in caught.value.hint
    path.mkdir()
    with pytest.raises(CassetteError, match="cannot read"):
        read(path)
    path.rmdir()
    path.touch()
    with pytest.raises(CassetteError, match=r"cassette\.yaml:1: is empty"):
        read(path)
    write(path, replace(head, interactions=(answer(0, LARGE),)))
    body = path.parent / "cassette.blobs" / SHA256
    body.write_bytes(b"short")
    with pytest.raises(IntegrityError, match="has 5 octets"):
        read(path)
    body.unlink()
    with pytest.raises(CassetteError, match="is missing"):
        read(path)


def test_check_sees_edits(path: Path, head: Cassette, answer: Make) -> None:
    """Text of the file and octets of a body; a file that claims no digest cannot be told from its original."""
    write(path, replace(head, interactions=(answer(0), answer(1, LARGE))))
    path.write_text(path.read_text().replace("string: one", "string: two"))
    (path.parent / "cassette.blobs" / SHA256).write_bytes(b"y" * len(LARGE))
    first, second = check(read(path))
    assert "does not have the digest" in first.what
    assert "is not what was recorded" in second.what
    assert first.path == second.path == path
    foreign = path.with_name("theirs.yaml")
    foreign.write_text("version: 1\ninteractions: []\nmetadata: 1\n")
    loaded = read(foreign)
    assert (check(loaded), loaded.cassette.name) == ((), "theirs")
    assert loaded.warnings == (f"{foreign}: the unknown key metadata is kept and not used",)


def test_find(tmp_path: Path, head: Cassette) -> None:
    """Files as named; of folders every cassette beneath, sorted; what is none is passed over with a note."""
    for name in ("b.yaml", "a.yaml", "sub/c.yaml", ".hidden/d.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, replace(head, name=name))
    notes = {
        "RIGHTS.yaml": "owner: self",
        "sub/a.rights.yaml": "x: 1",
        "a.incomplete.yaml": "x",
        "replayproxy.yaml": "version: 1",
        "compose.yaml": "services: {}",
    }
    for name, text in notes.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "readme.md").touch()
    (tmp_path / "folder.yaml").mkdir()
    found = find([tmp_path, tmp_path / "a.yaml"])
    assert [str(path.relative_to(tmp_path)) for path in found.paths] == ["a.yaml", "b.yaml", "sub/c.yaml"]
    assert len(found.notes) == len(notes)
    assert all(any(name in note for note in found.notes) for name in notes)


@pytest.mark.parametrize(
    "text", ["", "a: [", "- list", "interactions: []", "version: 1\ninteractions:\n- {}\n", "replayproxy: 1"]
)
def test_find_does_not_pass_over_what_is_broken(tmp_path: Path, text: str) -> None:
    """A damaged cassette in a folder is an error when it is read, not a cassette less."""
    (tmp_path / "a.yaml").write_text(text)
    (path,) = find([tmp_path]).paths
    with pytest.raises(CassetteError):
        read(path)


def test_find_nothing(tmp_path: Path) -> None:
    """A path that is not there, and a folder without cassettes, are errors."""
    with pytest.raises(CassetteError, match="there is no cassette") as caught:
        find([tmp_path / "missing.yaml"])
    assert caught.value.hint
    with pytest.raises(CassetteError, match="no cassette in the folder"):
        find([tmp_path])
    os.symlink(tmp_path / "nowhere", tmp_path / "link.yaml")  # noqa: PTH211
    assert find([tmp_path / "link.yaml"]).paths


def test_a_huge_file_is_refused_unread(path: Path) -> None:
    """Its size is asked for, not its octets: this one takes no room, and would take three gibibytes of memory."""
    with path.open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(CassetteError, match=r"cassette\.yaml:1: is larger than 1024 MiB"):
        read(path)


def test_nothing_is_removed_through_a_link(path: Path, head: Cassette) -> None:
    """A folder of bodies that is a link, or no folder, is someone else's, even where nothing is to be kept there."""
    outside = path.parent / "outside"
    outside.mkdir()
    (outside / SHA256).touch()
    (path.parent / "cassette.blobs").symlink_to(outside)
    write(path, head)
    assert names(outside) == [SHA256]
    (path.parent / "cassette.blobs").unlink()
    (path.parent / "cassette.blobs").touch()
    write(path, head)
    assert names(path.parent) == ["cassette.blobs", "cassette.yaml", "outside"]
