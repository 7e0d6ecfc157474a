"""What servers are given: the same octets in every run, and in each server's own form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mitmproxy.io import FlowReader

from bench.recordings import (
    Recordings,
    body_of,
    search_of,
    write_cassette,
    write_flows,
    write_imposters,
    write_mappings,
    write_static,
)
from replayproxy import store

FEW = Recordings(count=3)
POSTS = Recordings("https", "POST", count=3)


@pytest.mark.parametrize("size", [34, 300, 10_240])
def test_a_body_is_json_of_its_size_and_the_same_again(size: int) -> None:
    """Two runs serve the same octets."""
    assert len(body_of(7, size)) == size
    assert json.loads(body_of(7, size))["id"] == "00000007"
    assert body_of(7, size) == body_of(7, size) != body_of(8, size)


def test_a_body_too_small_is_refused() -> None:
    """The frame itself needs some octets."""
    with pytest.raises(ValueError, match="at least"):
        body_of(1, 10)


def test_a_search_is_a_kilobyte_of_json() -> None:
    """Another for each number."""
    assert len(search_of(5)) == 1024
    assert json.loads(search_of(5)) != json.loads(search_of(6))


@pytest.mark.parametrize("recordings", [FEW, POSTS], ids=["GET", "POST"])
def test_every_form_holds_every_interaction(recordings: Recordings, tmp_path: Path) -> None:
    """All servers serve the same bodies, in the same order."""
    write_cassette(recordings, tmp_path / "a.yaml")
    write_flows(recordings, tmp_path / "a.flows")
    write_mappings(recordings, tmp_path)
    write_imposters(recordings, tmp_path / "imposters.json", 1, {})
    bodies = [recordings.bodies[question.body] for question in recordings.questions]
    loaded = store.read(tmp_path / "a.yaml")
    assert [one.response.body for one in loaded.cassette.interactions] == bodies
    with (tmp_path / "a.flows").open("rb") as file:
        assert [flow.response.content for flow in FlowReader(file).stream()] == bodies  # type: ignore[attr-defined]
    stubs = json.loads((tmp_path / "mappings" / "bench.json").read_text())["mappings"]
    assert [stub["response"]["body"].encode() for stub in stubs] == bodies
    [imposter] = json.loads((tmp_path / "imposters.json").read_text())["imposters"]
    assert [stub["responses"][0]["is"]["body"].encode() for stub in imposter["stubs"]] == bodies


def test_static_files_are_named_by_the_path(tmp_path: Path) -> None:
    """A static server does not look at the query."""
    write_static(FEW, tmp_path)
    assert (tmp_path / "v1" / "things" / "2").read_bytes() == FEW.bodies[2]
