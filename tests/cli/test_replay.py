"""What `replay` tells at its end: of everything that was asked since the start."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESETTING = """
import json, sys, urllib.request
ready = json.load(open("ready.json"))
proxied = urllib.request.build_opener(urllib.request.ProxyHandler({"http": ready["proxy"]}))
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for _ in range(2):
    for target in ("a", "never"):
        try:
            print(proxied.open(f"http://api.example.test/{target}").read().decode())
        except urllib.error.HTTPError as error:
            print(error.code)
    fields = {"Authorization": "Bearer " + ready["token"]}
    request = urllib.request.Request(ready["control"] + "/reset", b'{"seed": 7}', fields, method="POST")
    assert direct.open(request).status == 200
"""
CASSETTE = """
interactions:
- request: {method: GET, uri: "http://api.example.test/a", body: null, headers: {}}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: hello}}
- request: {method: GET, uri: "http://api.example.test/b", body: null, headers: {}}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: unasked}}
version: 1
"""


def test_a_reset_hides_nothing(process: Callable[..., Any], tmp_path: Path) -> None:
    """A miss is code 4, and the report has all that was asked, whatever was reset afterwards."""
    (tmp_path / "a.yaml").write_text(CASSETTE)
    files = ("--control", "127.0.0.1:0", "--ready-file", "ready.json", "--report", "report.json")
    ran = process("replay", "a.yaml", *files, "--", sys.executable, "-c", RESETTING)
    assert (ran.code, ran.out.split()) == (4, ["hello", "424"] * 2), ran.err
    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["served"]) == 2
    assert len(set(report["served"])) == 1
    assert report["misses"] == ["GET http://api.example.test/never"] * 2
    assert [line.partition(" ")[2] for line in report["unused"]] == ["GET http://api.example.test/b"]
    assert (report["refusals"], report["exit"]) == ([], 4)
    assert "served 2, missed 2, refused 0, unused 1" in ran.err
    assert ran.err.count("missed: GET http://api.example.test/never") == 1
