"""What is not a whole cassette is refused, with file, line, path and a hint; never taken for an empty one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from yaml._yaml import CParser

from replayproxy.core.errors import CassetteError
from replayproxy.format import load, read

GOLDEN = Path(__file__).parent / "golden" / "v1"
PLAIN = (GOLDEN / "plain.yaml").read_text()
ALL = (GOLDEN / "all.yaml").read_text()


def error(data: bytes | str) -> CassetteError:
    """The error that loading DATA gives."""
    with pytest.raises(CassetteError) as caught:
        load(data.encode() if isinstance(data, str) else data, "cassette.yaml")
    assert caught.value.exit_code == 2
    return caught.value


EDITS = {
    "unknown key at the top": ("version: 1\n", "version: 1\nsurprise: 1\n", True, "surprise: unknown key"),
    "unknown key in the head": ("  format: 1\n", "  format: 1\n  nmae: x\n", True, "replayproxy.nmae: unknown key"),
    "misspelt key": ("    method: POST", "    metod: POST", True, "interactions[0].request.metod: unknown key"),
    "number for text": ("- application/json", "- 5", True, "headers.Content-Type[0]: must be text, not a number (5)"),
    "boolean for text": ("message: Created", "message: yes", True, "status.message: must be text, not a boolean"),
    "text for a number": ("code: 201", "code: '201'", True, "status.code: must be a whole number, not text"),
    "status out of range": ("code: 201", "code: 1201", True, "from 100 to 999, not 1201"),
    "bad method": ("method: POST", "method: 'P OST'", True, "request.method: must be a token"),
    "bad uri": ("uri: http://api.example.test/v1/pay", "uri: /v1/pay", True, "request.uri: not an absolute"),
    "uri without a host": ("uri: http://api.example.test/v1/pay", "uri: 'http://:80/'", True, "request.uri"),
    "bad port": ("uri: http://api.example.test/v1/pay", "uri: 'http://a:b/'", True, "request.uri"),
    "field without value": (
        "      Content-Type:\n      - application/json\n      Content-Length",
        "      Content-Type: []\n      Content-Length",
        True,
        "at least 1",
    ),
    "character beyond octets": ("- application/json", "- €", True, "no octet"),
    "bad id": ("order: 0\n", "order: -1\n", True, "order: must be a number from 0 up"),
    "bad digest": ("  digest: ", "  digest: x", True, "replayproxy.digest: must be text of 64"),
    "newer format": ("  format: 1\n", "  format: 2\n", True, "format: is 2; this version reads up to 1"),
    "format in words": ("  format: 1\n", "  format: one\n", True, "format: must be 1, not 'one'"),
    "bad time": ("recorded_at: '2026-02-02", "recorded_at: '2026-02-31", True, "recorded_at: is not a time"),
    "bad tag": ("    license: LicenseRef-own", "    licence: LicenseRef-own", False, "replayproxy.rights"),
    "boolean permission": ("      ship: granted", "      ship: yes", False, "replayproxy.rights"),
    "version": ("version: 1\n", "version: 2\n", True, "version: must be 1"),
}


@pytest.mark.parametrize(("old", "new", "exact", "why"), EDITS.values(), ids=EDITS.keys())
def test_edits(old: str, new: str, exact: bool, why: str) -> None:
    """Each edit of a good file is refused; its path is named, and its line (of a tag only the line of the whole)."""
    assert old in PLAIN
    edited = PLAIN.replace(old, new, 1)
    caught = error(edited)
    pairs = enumerate(zip(PLAIN.split("\n"), edited.split("\n"), strict=False), 1)
    line = next(number for number, (before, after) in pairs if before != after)
    assert caught.what.startswith(f"cassette.yaml:{line}: " if exact else "cassette.yaml:6: replayproxy.rights")
    assert why in caught.what


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.yaml")), ids=lambda path: path.name)
def test_no_beginning_of_a_cassette_is_a_cassette(path: Path) -> None:
    """A file that was cut off anywhere is refused."""
    data = path.read_bytes()
    for end in range(0, len(data.rstrip()) - 1, 7 if len(data) < 4000 else 31):
        error(data[:end])
    for line in data.split(b"\n")[:-2]:
        error(data[: data.index(line) + len(line) + 1])
    for end in range(len(data.rstrip()) - 70, len(data.rstrip())):
        error(data[:end])


def test_a_copied_interaction_needs_an_id_of_its_own() -> None:
    """Two interactions of one name cannot be told apart in reports."""
    start = PLAIN.index("- request")
    one = PLAIN[start : PLAIN.index("- request", start + 1)]
    caught = error(PLAIN.replace("interactions:\n", f"interactions:\n{one}", 1))
    assert "interactions[1].replayproxy.id: is the id of interactions[0] too" in caught.what
    added = one[: one.index("  replayproxy:")]
    assert len(load(PLAIN.replace("\nversion: 1", f"\n{added}version: 1").encode(), "x").interactions) == 3


def test_order_of_fields_that_does_not_fit() -> None:
    """A field that someone took out of the map is missed."""
    text = (GOLDEN / "fields.yaml").read_text().replace("      Number:\n      - '5'\n", "")
    assert "interactions[0].replayproxy.response.headers[10]: names 'Number'" in error(text).what


def test_own_keys() -> None:
    """x- keys are kept, wherever they are allowed."""
    cassette = load(ALL.encode(), "x.yaml")
    assert cassette.extensions == (("x-top", ["a"]), ("replayproxy.x-head", {}))
    own = {"a": [1, 2.5, None, True], "b": "text"}
    assert cassette.interactions[0].extensions == (("x-own", own), ("replayproxy.x-more", "yes"))
    assert load((PLAIN + "x-note: 1\n").encode(), "x.yaml").extensions == (("x-note", 1),)


OTHERS = {
    "HAR": '{"log": {"version": "1.2", "entries": []}}',
    "Ruby VCR": "---\nhttp_interactions: []\nrecorded_with: VCR 6.3.1\n",
    "Betamax": '{"http_interactions": [], "recorded_with": "betamax/0.8.2"}',
    "VCR.py 0": "- request: {host: a.test}\n  response: {}\n",
    "mitmproxy": b"1234:9:websocket;0:~8:response;",
    "nock": '[{"scope": "http://a.test:80"}]',
    "go-vcr": "version: 2\ninteractions:\n- request: {url: http://a.test/}\n  response: {}\n",
    "Hoverfly": '{"data": {"pairs": []}, "meta": {}}',
    "WireMock": '{"request": {"url": "/"}, "response": {"status": 200}}',
    "Azure's test proxy": '{"Entries": []}',
    "mountebank": '{"imposters": []}',
    "the responses library": "responses:\n- response: {}\n",
    "another tool": b"\x1f\x8b\x08\x00",
}


@pytest.mark.parametrize(("tool", "data"), OTHERS.items(), ids=OTHERS.keys())
def test_files_of_others(tool: str, data: str | bytes) -> None:
    """The tool is named, and the way to convert its file."""
    caught = error(data)
    assert re.match(r"cassette\.yaml:[12]: is a file of ", caught.what)
    assert tool in caught.what
    assert "replayproxy import" in caught.hint


NOT_CASSETTES = {
    "empty": ("", "is empty"),
    "white space": ("\n\n", "is empty"),
    "text": ("hello", "is not a cassette"),
    "list": ("[]", "is not a cassette"),
    "list of text": ("[a]", "is not a cassette"),
    "other list": ("[{a: 1}]", "is not a cassette"),
    "other mapping": ("a: 1", "'interactions' is missing"),
    "interactions of nothing": ("version: 1\ninteractions:\n", "interactions: must be a list"),
    "no version": ("interactions: []", "'version' is missing"),
    "other version": ("version: 3\ninteractions: []", "version: is 3, which is not a version of VCR.py"),
    "head of nothing": ("version: 1\ninteractions: []\nreplayproxy:\n", "replayproxy: must be a mapping"),
    "ours, cut off": ("version: 1\ninteractions:\n- request: {}\n  replayproxy: {}\n", "no `replayproxy` of its own"),
    "ruby 1": ("- !ruby/struct:VCR::HTTPInteraction {}", "tag !ruby/struct"),
    "vcr.py 0 in YAML": ("- request: !!python/object:vcr.request.Request {}", "tag !!python/object:vcr.request"),
    "octets": (b"\x89PNG\r\n\x1a\n\x00", "not YAML text"),
    "responses, older": ("- response: {}", "the responses library"),
}


@pytest.mark.parametrize(("data", "why"), NOT_CASSETTES.values(), ids=NOT_CASSETTES.keys())
def test_what_is_not_a_cassette(data: str | bytes, why: str) -> None:
    """Nothing of this is taken for a cassette without interactions."""
    assert why in error(data).what


def test_an_empty_cassette_is_a_cassette() -> None:
    """When it says so itself."""
    assert read((GOLDEN / "empty.yaml").read_bytes(), "x.yaml").cassette.interactions == ()
    assert read(b"version: 1\ninteractions: []\n", "x.yaml").cassette.foreign == "VCR.py"


def test_a_file_is_read_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """libyaml sees the text once, however many interactions there are; only an error is looked for again."""
    passes = []

    def parser(data: bytes) -> CParser:
        passes.append(len(data))
        return CParser(data)

    monkeypatch.setattr("replayproxy.format.document.CParser", parser)
    assert load(ALL.encode(), "x.yaml").interactions
    assert passes == [len(ALL.encode())]
