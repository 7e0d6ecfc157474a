"""What is replayed comes from memory or from an index, and nobody can tell which."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from replayproxy import store
from replayproxy.core.errors import CassetteError, UsageError
from replayproxy.core.exchange import Cassette, Interaction, Origin, Request, Response, interaction_id
from replayproxy.core.provider import MatchRules, Provider, Providers
from replayproxy.core.rights import Tag, preset
from replayproxy.store.index import INDEXED_FROM, Stock, Stocking, build, in_child
from replayproxy.store.index_places import FOLDER, Place, places, validity

COUNT = 40
LARGE = b"large " * 20_000
"""More than a cassette keeps in its own file."""


def tape(rights: Tag = preset("own-synthetic"), extensions: tuple[tuple[str, object], ...] = ()) -> Cassette:  # noqa: B008
    """A cassette from which an index is made."""
    requests = [Request(method="GET", origin=Origin("https", "a.test", 443), target=f"/{at}") for at in range(COUNT)]
    filler = b"x" * (INDEXED_FROM // COUNT + 1)
    found = [
        Interaction(
            id=interaction_id(order, request), order=order, request=request, response=Response(status=200, body=filler)
        )
        for order, request in enumerate(requests)
    ]
    found[0] = replace(found[0], response=Response(status=200, body=LARGE), extensions=extensions)
    return Cassette(name="tape", interactions=tuple(found), rights=rights, salt="00ff")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A large cassette, in a folder of its own."""
    path = tmp_path / "cassettes" / "tape.yaml"
    path.parent.mkdir()
    store.write(path, tape(), {})
    return path


class Starts:
    """Starts replay's reading of cassettes again and again, and keeps what is TOLD."""

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir
        self.told: list[str] = []

    def __call__(self, *paths: Path, **given: Any) -> Stock:
        """One start; what it told is in `told`."""
        self.told = []
        options: dict[str, Any] = {
            "providers": Providers(),
            "purpose": "local-debug",
            "today": None,
            "state_dir": self.state_dir,
        }
        return Stocking(tell=self.told.append, **(options | given)).stock(paths)

    @property
    def made(self) -> bool:
        """Whether the last start made an index."""
        return any(text.startswith(f"indexed {COUNT} interactions in ") for text in self.told)


@pytest.fixture
def start(tmp_path: Path) -> Starts:
    """What starts."""
    return Starts(tmp_path / "state")


def indexes(folder: Path) -> list[Path]:
    """The indexes in FOLDER."""
    return sorted(folder.glob("*.index"))


def beside(path: Path) -> list[Path]:
    """The indexes beside the cassette at PATH."""
    return indexes(path.parent / FOLDER)


def test_an_index_is_made_once_and_used_ever_after(path: Path, start: Starts) -> None:
    """Beside the cassette, and git does not see it."""
    first = start(path)
    assert start.made
    (made,) = beside(path)
    again = start(path)
    assert start.told == []
    assert beside(path) == [made]
    assert not start.state_dir.exists()
    assert first.library.digest == again.library.digest
    assert [one.interaction for one in again.library.recordings][1:] == list(tape().interactions[1:])
    assert (made.parent / ".gitignore").read_text().endswith("\n*\n")


def test_large_bodies_stay_where_they_are(path: Path, start: Starts) -> None:
    """They are opened by the cassette's own name, and have to be there at the start."""
    stock = [start(path), start(path)][1]
    body = stock.library.recordings[0].interaction.response.body
    assert stock.sources[0].blobs.read(body) == LARGE
    shutil.rmtree(path.with_name("tape.blobs"))
    with pytest.raises(CassetteError, match="missing"):
        start(path)


def test_small_cassettes_are_read_each_time(tmp_path: Path, start: Starts) -> None:
    """Nothing appears beside them."""
    path = tmp_path / "small.yaml"
    store.write(path, replace(tape(), interactions=tape().interactions[1:2]), {})
    assert len(start(path).library.recordings) == 1
    assert start.told == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["small.yaml"]


def test_what_is_being_recorded_is_read_each_time(path: Path, start: Starts) -> None:
    """An index would be stale with the next answer."""
    path.with_name(".tape.recording").mkdir()
    start(path)
    assert start.told == []
    assert not (path.parent / FOLDER).exists()


def test_several_cassettes_have_one_index_in_their_order(path: Path, start: Starts) -> None:
    """The other order, and each by itself, are others."""
    other = path.with_name("other.yaml")
    store.write(other, replace(tape(), name="other", salt="ff00"), {})
    sources = [start(*paths).sources for paths in ([path, other], [other, path], [path], [path, other])]
    assert [[source.path.name for source in one] for one in sources] == [
        ["tape.yaml", "other.yaml"],
        ["other.yaml", "tape.yaml"],
        ["tape.yaml"],
        ["tape.yaml", "other.yaml"],
    ]
    assert len(beside(path)) == 3
    assert start.told == []


# -- stale ------------------------------------------------------------------------------------------


def other_settings(path: Path, start: Starts) -> Stock:
    """A start under a configuration that says something about another host."""
    return start(path, providers=Providers((Provider(name="p", hosts=("b.test",), match=MatchRules(sequence="once")),)))


def other_octets(path: Path, start: Starts) -> Stock:
    """A start with a cassette that says the same in other octets."""
    path.write_bytes(path.read_bytes() + b"\n")
    return start(path)


def other_version(path: Path, start: Starts) -> Stock:
    """A start of another version."""
    with patch("replayproxy.store.index_places.__version__", "9.9.9"):
        return start(path)


def other_format(path: Path, start: Starts) -> Stock:
    """A start of a version that writes indexes otherwise."""
    with patch("replayproxy.store.index_places.FORMAT", 999):
        return start(path)


@pytest.mark.parametrize("again", [other_settings, other_octets, other_version, other_format])
def test_a_stale_index_is_replaced(path: Path, start: Starts, again: Callable[[Path, Starts], Stock]) -> None:
    """By each of its causes; it does not stay beside the new one."""
    start(path)
    (stale,) = beside(path)
    assert len(again(path, start).library.recordings) == COUNT
    assert start.made
    assert len(beside(path)) == 1
    assert beside(path) != [stale]


def test_an_index_of_a_cassette_of_another_name_is_stale(path: Path, start: Starts) -> None:
    """As ids may be made of the name."""
    start(path)
    path.rename(path.with_name("renamed.yaml"))
    path.with_name("tape.blobs").rename(path.with_name("renamed.blobs"))
    start(path.with_name("renamed.yaml"))
    assert start.made


def test_purpose_day_and_place_make_no_index_stale(path: Path, start: Starts) -> None:
    """Rights are judged at each start, and a folder may be mounted anywhere."""
    start(path)
    assert start(path, purpose="ship-to-customer", today="2030-01-01").library.purpose == "ship-to-customer"
    assert start.told == []
    moved = path.parent.with_name("moved")
    path.parent.rename(moved)
    assert start(moved / "tape.yaml").sources[0].path == moved / "tape.yaml"
    assert start.told == []
    with pytest.raises(UsageError, match="nonsense"):
        start(moved / "tape.yaml", purpose="nonsense")


def test_rights_end_although_there_is_an_index(tmp_path: Path, start: Starts) -> None:
    """The day of the start counts."""
    path = tmp_path / "tape.yaml"
    store.write(path, tape(Tag(expires="2026-01-01")), {})
    days = ["2026-01-01", "2026-01-02"]
    found = [start(path, today=day).library.recordings[1].forbidden for day in days]
    assert [one and one.code for one in found] == [None, "RP020"]
    assert start.told == []


# -- places -----------------------------------------------------------------------------------------


def test_the_state_folder_takes_what_the_cassettes_folder_cannot(path: Path, start: Starts) -> None:
    """And is looked into the next time; stale ones do not gather there either."""
    (path.parent / FOLDER).write_text("in the way")
    start(path)
    assert start.made
    assert len(indexes(start.state_dir / "index")) == 1
    start(path)
    assert start.told == []
    other_octets(path, start)
    assert start.made
    (made,) = indexes(start.state_dir / "index")
    assert made.stat().st_mode & 0o777 == 0o600
    assert start.state_dir.stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_kept_it_is_told(path: Path, start: Starts) -> None:
    """And served from memory."""
    (path.parent / FOLDER).write_text("in the way")
    start.state_dir.write_text("in the way")
    assert len(start(path).library.recordings) == COUNT
    (told,) = start.told
    assert told.startswith("warning: no index is kept, as neither ")


def test_a_link_in_the_place_of_the_folder_is_not_followed(path: Path, start: Starts, tmp_path: Path) -> None:
    """Neither to be read nor to be written through."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (path.parent / FOLDER).symlink_to(elsewhere)
    start(path)
    assert start.made
    assert list(elsewhere.iterdir()) == []
    assert len(indexes(start.state_dir / "index")) == 1


# -- damage -----------------------------------------------------------------------------------------


def test_a_damaged_index_is_made_anew(path: Path, start: Starts) -> None:
    """Wherever it was damaged, or cut off."""
    start(path)
    (made,) = beside(path)
    whole = made.read_bytes()
    for damaged in (b"", whole[:-1], whole[:5_000] + bytes([whole[5_000] ^ 1]) + whole[5_001:]):
        made.write_bytes(damaged)
        assert len(start(path).library.recordings) == COUNT
        assert start.made
        (made,) = beside(path)
        whole = made.read_bytes()


def test_a_forged_index_is_not_taken(path: Path, start: Starts) -> None:
    """One that is called as it should be, with the digest of its octets, and is something else."""
    start(path)
    (made,) = beside(path)
    prefix = made.name.rsplit(".", 2)[0]
    made.unlink()
    forged = made.with_name(f"{prefix}.{'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}.index")
    forged.write_bytes(b"")
    assert len(start(path).library.recordings) == COUNT
    assert start.made
    assert "other tables" in start.told[0]
    assert beside(path) == [made]


def test_an_index_that_others_may_write_is_not_believed(path: Path, start: Starts) -> None:
    """Unless they may write the cassette as well."""
    start(path)
    (made,) = beside(path)
    made.chmod(0o666)
    start(path)
    assert start.made
    beside(path)[0].chmod(0o666)
    path.chmod(0o666)
    start(path)
    assert start.told == []


def test_an_index_may_be_read_by_whoever_may_read_the_cassette(path: Path, start: Starts) -> None:
    """And by nobody else."""
    path.chmod(0o600)
    start(path)
    assert beside(path)[0].stat().st_mode & 0o777 == 0o600


def test_what_a_crash_left_is_cleared(path: Path, start: Starts) -> None:
    """Of the same cassettes; what belongs to others stays."""
    start(path)
    (made,) = beside(path)
    made.unlink()
    left = made.with_name(f".{made.name.split('.')[0]}.0.index.01234567.part")
    others = made.with_name(".another.0.index.01234567.part")
    left.touch()
    others.touch()
    start(path)
    assert (left.exists(), others.exists()) == (False, True)


def test_a_cassette_that_cannot_be_read_is_told_as_ever(path: Path, start: Starts) -> None:
    """By file and line; nothing is kept of it."""
    path.write_bytes(path.read_bytes().replace(b"interactions:", b"interactoins:"))
    with pytest.raises(CassetteError, match=r"tape\.yaml:"):
        start(path)
    assert beside(path) == []
    path.unlink()
    with pytest.raises(CassetteError, match="there is no cassette"):
        start(path)


def test_a_cassette_that_cannot_be_looked_at_is_told_as_ever(path: Path, start: Starts) -> None:
    """Whatever the operating system says when it is hashed."""
    with patch("replayproxy.store.index.validity", side_effect=OSError("gone")):
        assert len(start(path).library.recordings) == COUNT
    assert start.told == []


def test_what_no_index_can_say_is_served_from_memory(tmp_path: Path, start: Starts) -> None:
    """And why is told."""
    path = tmp_path / "tape.yaml"
    store.write(path, tape(extensions=(("x-a", {"!!binary": "AA=="}),)), {})
    library = start(path).library
    assert library.recordings[0].interaction.extensions == (("x-a", {"!!binary": "AA=="}),)
    (told,) = start.told
    assert "cannot be said in JSON" in told
    assert beside(path) == []


def test_a_cassette_that_changes_meanwhile_has_no_index(path: Path, start: Starts) -> None:
    """As what was read may be of both."""
    with patch("replayproxy.store.index.validity", side_effect=["first", "second", "second"]):
        assert len(start(path).library.recordings) == COUNT
    assert "the cassettes have changed" in start.told[0]
    assert beside(path) == []


# -- processes --------------------------------------------------------------------------------------

SCRIPT = """
import sys
from pathlib import Path
from replayproxy.core.provider import Providers
from replayproxy.store import Stocking
stocking = Stocking(
    providers=Providers(), purpose="local-debug", today=None, state_dir=Path(sys.argv[2]), tell=print
)
print(stocking.stock([Path(sys.argv[1])]).library.digest)
"""


def test_of_several_processes_one_makes_the_index(path: Path, start: Starts) -> None:
    """The others wait for it, and all say the same."""
    command = [sys.executable, "-c", SCRIPT, str(path), str(start.state_dir)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len({lines[-1] for lines in said}) == 1
    assert sum(line.startswith("indexed") for lines in said for line in lines) == 1
    assert len(beside(path)) == 1


def test_an_index_that_another_process_has_just_made_is_taken(path: Path, start: Starts) -> None:
    """It is looked for once more behind the lock."""
    make = Place.make

    def slowly(place: Place) -> bool:
        with patch.object(Place, "make", make):
            Starts(start.state_dir)(path)
        return make(place)

    with patch.object(Place, "make", slowly):
        assert len(start(path).library.recordings) == COUNT
    assert start.told == []
    assert len(beside(path)) == 1


def test_an_index_is_made_of_what_is_there(path: Path, start: Starts) -> None:
    """In this process, as in the child; of cassettes that have changed since none is kept, and nothing half written."""
    providers = Providers()
    (place, _) = places([path], start.state_dir)
    valid = validity([path], providers)
    assert place.make()
    build([path], providers, place, valid)
    (made,) = beside(path)
    build([path], providers, place, "another")
    assert beside(path) == [made]
    with (
        patch("replayproxy.store.index.write_index", side_effect=OSError(28, "No space left on device")),
        pytest.raises(OSError, match="No space"),
    ):
        build([path], providers, place, valid)
    assert sorted(entry.name for entry in made.parent.iterdir()) == sorted([".gitignore", made.name])


def fails() -> None:
    """Raises what has a message of several lines."""
    raise ValueError("why\nand more")


def is_killed() -> None:
    """Ends as if for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def is_wrong() -> None:
    """Raises what nobody expects."""
    raise RuntimeError("a defect")


@pytest.mark.parametrize(
    ("work", "problem"),
    [
        (lambda: None, ""),
        (fails, "why"),
        (is_wrong, "internal error: RuntimeError: a defect"),
        (is_killed, "the process that made it ended with status 9"),
    ],
)
def test_what_went_wrong_in_a_process_is_told(work: Callable[[], None], problem: str) -> None:
    """In one line."""
    assert in_child(work) == problem


def test_a_process_ends_with_the_wait_for_it() -> None:
    """As when a signal ends this one; the child waits for ever otherwise."""
    with patch("replayproxy.store.index.os.fdopen", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        in_child(signal.pause)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
