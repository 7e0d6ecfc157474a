"""`record` where the cassette exists: each --on-existing, and two recorders at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from replayproxy.store import read

RIGHTS = ("--rights", "own-synthetic")
OLD = """interactions:
- request: {method: GET, uri: "http://a.test/old", body: null, headers: {}}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: hello}}
version: 1
"""


@pytest.mark.parametrize(
    ("mode", "hits", "paths"),
    [
        ("fail", 0, ["/old"]),
        ("append", 2, ["/old", "/old", "/new"]),
        ("replace", 2, ["/old", "/new"]),
        ("new", 1, ["/old", "/new"]),
    ],
)
def test_on_existing(
    product: Any, upstreams: Callable[..., Any], hello: Any, fetching: Any, mode: str, hits: int, paths: Any
) -> None:
    """Which requests reach the upstream, and what the cassette holds in the end."""
    there = upstreams(hello)
    line = ("record", "-o", "a.yaml", *RIGHTS, "--connect-to", f"a.test:80:127.0.0.1:{there.port}")
    (product.folder / "a.yaml").write_text(OLD)
    report = product.folder / "r.json"
    second = product.run(
        *line, "--report", str(report), "--on-existing", mode, "--", *fetching("http://a.test/old", "http://a.test/new")
    )
    assert second.code == (2 if mode == "fail" else 0), second.err
    assert there.hits == hits
    found = read(product.folder / "a.yaml").cassette.interactions
    assert [one.request.path for one in found] == paths
    if mode == "fail":
        second.told(2, "a.yaml exists already")
    else:
        told = json.loads(report.read_text())
        assert (len(told["served"]), len(told["recorded"])) == (2 - hits, hits)


def test_a_second_recorder_is_refused(product: Any) -> None:
    """Code 3 at once; the first goes on."""
    with product.serving("record", "-o", "a.yaml", *RIGHTS) as first:
        product.run("record", "-o", "a.yaml", *RIGHTS, "--", "true").told(3, "a.yaml")
        assert first.stop().code == 0
    assert read(product.folder / "a.yaml").cassette.interactions == ()


def test_a_failed_run_over_an_older_failed_run(
    product: Any, upstreams: Callable[..., Any], hello: Any, fetching: Any
) -> None:
    """CMD's code; NAME.incomplete.yaml is the last run's, and there is no cassette."""
    there = upstreams(hello)
    line = ("record", "-o", "a.yaml", *RIGHTS, "--connect-to", f"a.test:80:127.0.0.1:{there.port}", "--")
    for path in ("one", "two"):
        ran = product.run(*line, *fetching(f"http://a.test/{path}", code=5))
        assert ran.code == 5
        assert "a.incomplete.yaml" in ran.err
        assert not (product.folder / "a.yaml").exists()
    kept = read(product.folder / "a.incomplete.yaml").cassette.interactions
    assert [one.request.path for one in kept] == ["/two"]
