"""Tests for replayproxy.settings.loading: configurations, rights files, registry files, and their faults."""

from __future__ import annotations

import json
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.errors import ReplayproxyError, RightsError, SettingsError
from replayproxy.core.provider import DEFAULT, MatchRules, RedactRule, Selector
from replayproxy.core.rights import Permission, Tag, preset
from replayproxy.format.document import parse
from replayproxy.settings import Episode, Settings, TimeRule, Webhook, load, rights_from
from replayproxy.wire.limits import Limits

FULL = """\
version: 1
cassettes: [cassettes, more/a.yaml]
providers:
  stripe:
    hosts: [API.stripe.com., "*.stripe.com", bücher.example, "[::1]"]
    rights: own-synthetic
    match:
      ignore: [query:trace, "header:X-Run"]
      bind: [json:$.reference, "path:/v1/(x)/"]
      on: [telemetry, "header:accept-language"]
      read_only: [POST /v1/search/*]
      sequence: once
    redact:
      - at: json:$.ssn
      - pattern: '[0-9]{3}-[0-9]{2}'
    time:
      - {at: json:$.created, moves: now}
    webhooks:
      - {after: POST /v1/payments, to: "http://127.0.0.1:9000/hooks", delay_seconds: 5}
  mine:
    hosts: [mine.test]
    rights: rights/mine.yaml
  tagged:
    hosts: [tagged.test]
    rights: {permissions: {ship: forbidden}}
policy: policy.yaml
registry: [known.yaml]
limits: {head_octets: 1000, idle_seconds: 5}
episodes:
  one: {seed: 7, clock: "2030-01-02T03:04:05Z@2", listen: "127.0.0.1:9001", source: 10.0.0.2}
  two: {}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that FULL names."""
    (tmp_path / "rights").mkdir()
    (tmp_path / "rights" / "mine.yaml").write_text("permissions: {train: granted}\n")
    (tmp_path / "policy.yaml").write_text("schema: replayproxy.policy/1\n")
    (tmp_path / "known.yaml").write_text("entries: [{id: a, match: [{host: a.test}], license: MIT}]\n")
    (tmp_path / "replayproxy.yaml").write_text(FULL)
    return tmp_path


def refused(folder: Path, text: str) -> ReplayproxyError:
    """The error that TEXT as a configuration gives."""
    (folder / "replayproxy.yaml").write_text(text)
    with pytest.raises(SettingsError) as error:
        load(None, folder)
    assert error.value.exit_code == 2
    assert error.value.hint
    return error.value


def fault(folder: Path) -> SettingsError | None:
    """The error that the configuration in FOLDER gives, if any; anything but a SettingsError comes out."""
    try:
        load(None, folder)
    except SettingsError as error:
        return error
    return None


def test_everything_that_can_be_set_is_read(folder: Path) -> None:
    """Each key of the table arrives where the rest of the product looks for it."""
    settings = load(None, folder)
    assert settings.file == folder / "replayproxy.yaml"
    assert settings.cassettes == (folder / "cassettes", folder / "more" / "a.yaml")
    stripe = settings.providers.of("api.stripe.com")
    assert stripe.name == "stripe"
    assert stripe.hosts == ("api.stripe.com", "*.stripe.com", "xn--bcher-kva.example", "::1")
    assert stripe.rights == preset("own-synthetic")
    assert stripe.match == MatchRules(
        ignore=(Selector("query", "trace"), Selector("header", "x-run")),
        bind=(Selector("json", "$.reference"), Selector("path", "/v1/(x)/")),
        on=("telemetry", "header:accept-language"),
        read_only=("POST /v1/search/*",),
        sequence="once",
    )
    assert stripe.redact == (RedactRule(at=Selector("json", "$.ssn")), RedactRule(pattern="[0-9]{3}-[0-9]{2}"))
    assert settings.providers.of("mine.test").rights == Tag(permissions=(("train", Permission("granted")),))
    assert settings.providers.of("tagged.test").rights == Tag(permissions=(("ship", Permission("forbidden")),))
    assert settings.providers.of("other.test") == DEFAULT
    assert settings.policy == folder / "policy.yaml"
    assert settings.registry_files == (folder / "known.yaml",)
    assert settings.registry.lookup("a.test", "/") == Tag(license="MIT")
    assert settings.limits == Limits(head_octets=1000, idle_seconds=5)
    assert settings.episodes == (
        Episode(name="one", seed=7, clock="2030-01-02T03:04:05Z@2", listen="127.0.0.1:9001", source="10.0.0.2"),
        Episode(name="two"),
    )
    assert settings.times == (("stripe", (TimeRule(at=Selector("json", "$.created"), moves="now"),)),)
    webhook = Webhook(after="POST /v1/payments", to="http://127.0.0.1:9000/hooks", delay_seconds=5)
    assert settings.webhooks == (("stripe", (webhook,)),)


def test_without_a_configuration_all_is_at_its_default(tmp_path: Path) -> None:
    """A configuration is never needed; one that sets nothing says the same."""
    assert load(None, tmp_path) == Settings()
    (tmp_path / "replayproxy.yaml").write_text("version: 1\n")
    assert load(None, tmp_path) == Settings(file=tmp_path / "replayproxy.yaml")


def test_a_configuration_that_is_named_must_be_there(tmp_path: Path) -> None:
    """Nobody who names a file means none; a folder is no file."""
    with pytest.raises(SettingsError, match=r"none\.yaml: cannot be read: No such file") as missing:
        load(tmp_path / "none.yaml")
    assert "replayproxy init" in missing.value.hint
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        load(tmp_path)


def test_one_cassette_needs_no_list(tmp_path: Path) -> None:
    """A single path is a list of one."""
    (tmp_path / "replayproxy.yaml").write_text("version: 1\ncassettes: all\n")
    assert load(None, tmp_path).cassettes == (tmp_path / "all",)


def test_a_typo_is_told_with_line_path_and_the_nearest_key(tmp_path: Path) -> None:
    """The contract: unknown keys are errors that name the path."""
    error = refused(tmp_path, "version: 1\nproviders:\n  api:\n    hosts: [a.test]\n    mtach: {}\n")
    assert error.what == f"{tmp_path}/replayproxy.yaml:5: providers.api.mtach: there is no such key"
    assert error.hint == "did you mean match?"


FAULTS: dict[str, tuple[str, str, str]] = {
    "empty": ("", ":1: is empty", "replayproxy init"),
    "no mapping": ("- 1", ":1: found a list where configuration belongs", "docs/configuration.md"),
    "no version": ("providers: {}", ":1: version is missing", "version: 1"),
    "newer": ("version: 2", "version: found the number 2 where 1 belongs", "a newer replayproxy"),
    "older": ("version: 0", "version: found the number 0 where 1 belongs", "version: 1"),
    "boolean version": ("version: true", "version: found the boolean true where 1 belongs", "version: 1"),
    "twice": ("version: 1\nversion: 1", ":2: the key 'version' stands twice", "remove one"),
    "no YAML": ("version: [", "is not valid YAML", "replayproxy init"),
    "tag": (
        "version: !!python/name:os.system 1",
        "!!python/name:os.system is refused",
        "nothing in a file is executed",
    ),
    "top": ("polcy: a", "polcy: there is no such key", "did you mean policy?"),
    "no policy": ("policy: a", "policy: a is not a file that is there", "this file's folder"),
    "no registry": ("registry: [a]", "registry[0]: a is not a file that is there", "this file's folder"),
    "empty path": ("cassettes: ['']", "cassettes[0]: found '' where the path of a file belongs", "docs/"),
    "no list": ("registry: a", "registry: found 'a' where list of path belongs", "docs/"),
    "limit of none": (
        "limits: {streams: 0}",
        "limits.streams: found the number 0 where a whole number from 1",
        "docs/",
    ),
    "limit of text": ("limits: {streams: many}", "limits.streams: found 'many' where", "docs/"),
    "name": ("providers: {'a b': {hosts: [a]}}", "providers.a b: found 'a b' where a name", "docs/"),
    "seed": ("episodes: {a: {seed: -1}}", "episodes.a.seed: found the number -1", "docs/"),
    "clock": ("episodes: {a: {clock: tomorrow}}", "episodes.a.clock: found 'tomorrow' where a clock", "docs/"),
    "listen": (
        "episodes: {a: {listen: 'localhost:1'}}",
        "episodes.a.listen: found 'localhost:1' where ADDRESS",
        "docs/",
    ),
    "port": ("episodes: {a: {listen: '127.0.0.1:99999'}}", "episodes.a.listen: found", "docs/"),
    "source": ("episodes: {a: {source: localhost}}", "episodes.a.source: found 'localhost' where an IP", "docs/"),
}
PROVIDER_FAULTS: dict[str, tuple[str, str, str]] = {
    "no hosts": ("rights: unknown", "providers.api: hosts is missing", "hosts: [api.example.com"),
    "empty hosts": ("hosts: []", "hosts: found a list of 0 where at least 1 belong", "docs/"),
    "URL": ("hosts: ['https://a.test']", "hosts[0]: found 'https://a.test' where a host belongs", "such as"),
    "port": ("hosts: ['a.test:443']", "hosts[0]: found 'a.test:443' where a host belongs", "such as"),
    "address and port": ("hosts: ['[::1]:443']", "hosts[0]: found '[::1]:443' where a host belongs", "such as"),
    "space": ("hosts: ['a b']", "hosts[0]: found 'a b' where a host", "such as"),
    "dot": ("hosts: ['.']", "hosts[0]: the host is empty", "such as"),
    "no such rights": ("hosts: [a]\n    rights: own-sintetic", "rights: own-sintetic: neither", "did you mean own-s"),
    "no rights file": ("hosts: [a]\n    rights: x.yaml", "rights: x.yaml: neither", "a preset (own-synthetic"),
    "yes": (
        "hosts: [a]\n    rights: {permissions: {ship: yes}}",
        "rights.permissions.ship: found the bool",
        "YAML reads",
    ),
    "selector": ("hosts: [a]\n    match: {ignore: [trace]}", "match.ignore[0]: not a selector: 'trace'", "query:NAME"),
    "JSON path": ("hosts: [a]\n    match: {ignore: ['json:$[']}", "match.ignore[0]: ", "json:$.path"),
    "path regex": ("hosts: [a]\n    match: {bind: ['path:(']}", "match.bind[0]: not a regular", "path:REGEX"),
    "rule": (
        "hosts: [a]\n    match: {on: [telemtry]}",
        "match.on[0]: there is no matching rule 'telemtry': did",
        "rules:",
    ),
    "far rule": ("hosts: [a]\n    match: {on: [zzz]}", "match.on[0]: there is no matching rule 'zzz'", "rules:"),
    "on no": ("hosts: [a]\n    match: {on: ['cookie:a']}", "match.on[0]: not a selector", "rules:"),
    "read only": ("hosts: [a]\n    match: {read_only: [/v1]}", "match.read_only[0]: found '/v1' where METHOD", "docs/"),
    "sequence": (
        "hosts: [a]\n    match: {sequence: onse}",
        "match.sequence: found 'onse'; allowed: repeat",
        "mean once?",
    ),
    "both": ("hosts: [a]\n    redact: [{at: 'query:a', pattern: b}]", "redact[0]: a redaction has exactly", "docs/"),
    "neither": ("hosts: [a]\n    redact: [{}]", "redact[0]: a redaction has exactly one of", "docs/"),
    "pattern": ("hosts: [a]\n    redact: [{pattern: '('}]", "redact[0].pattern: '(' is not a regular", "re"),
    "huge path": ("hosts: [a]\n    match: {ignore: ['path:a{9999999999999}']}", "ignore[0]: 'path:a{", "path:REGEX"),
    "huge": ("hosts: [a]\n    redact: [{pattern: 'a{9999999999999}'}]", "redact[0].pattern: 'a{99", "re"),
    "all": ("hosts: [a]\n    redact: [{pattern: 'a*'}]", "redact[0].pattern: 'a*' matches empty text", "re"),
    "at path": (
        "hosts: [a]\n    redact: [{at: 'path:a'}]",
        "redact[0].at: found 'path:a': a path has no",
        "query:NAME",
    ),
    "moves": ("hosts: [a]\n    time: [{at: 'json:$.a', moves: on}]", "time[0].moves: found the boolean", "YAML reads"),
    "to a name": (
        "hosts: [a]\n    webhooks: [{after: POST /a, to: 'http://a.test/'}]",
        "webhooks[0].to: found 'http://a.test/' where a URL with a literal address",
        "docs/",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_what_to_do(tmp_path: Path, name: str) -> None:
    """File, path, what was found, what belongs there, and a hint."""
    text, what, hint = FAULTS[name]
    whole = text if "version" in text or name in ("empty", "no mapping", "no version") else f"version: 1\n{text}"
    error = refused(tmp_path, whole)
    assert what in error.what
    assert hint in error.hint


@pytest.mark.parametrize("name", PROVIDER_FAULTS)
def test_a_fault_of_a_provider_names_it(tmp_path: Path, name: str) -> None:
    """The path starts with the provider."""
    text, what, hint = PROVIDER_FAULTS[name]
    error = refused(tmp_path, f"version: 1\nproviders:\n  api:\n    {text}\n")
    assert ": providers.api" in error.what
    assert what in error.what
    assert hint in error.hint


def test_a_host_of_two_providers_is_refused(tmp_path: Path) -> None:
    """The first would decide, and the second would silently mean nothing."""
    error = refused(tmp_path, "version: 1\nproviders: {one: {hosts: [a.test]}, two: {hosts: [b.test, A.test.]}}")
    assert "providers.two.hosts[1]: a.test is already a host of one" in error.what


def test_a_fault_in_a_registry_file_names_that_file(tmp_path: Path) -> None:
    """Line and path are those of the registry file."""
    (tmp_path / "known.yaml").write_text("entries:\n- id: a\n  match: [{host: a.test}]\n  licence: MIT\n")
    error = refused(tmp_path, "version: 1\nregistry: [known.yaml]\n")
    assert error.what.startswith(f"{tmp_path}/known.yaml:4: entries[0].licence: there is no such key")
    assert error.hint == "did you mean license?"


def test_a_fault_in_a_rights_file_names_both(tmp_path: Path) -> None:
    """Whoever reads the configuration is led to the file that it names."""
    (tmp_path / "r.yaml").write_text("permissions:\n  ship: no\n")
    error = refused(tmp_path, "version: 1\nproviders: {api: {hosts: [a], rights: r.yaml}}\n")
    assert "replayproxy.yaml:2: providers.api.rights: " in error.what
    assert f"{tmp_path}/r.yaml:2: permissions.ship: found the boolean false" in error.what


@pytest.mark.parametrize("name", ["own-synthetic", "unknown"])
def test_a_preset_is_named(name: str) -> None:
    """A preset needs no file."""
    assert rights_from(name) == preset(name)


@pytest.mark.parametrize("text", ["license: MIT\n", "rights:\n  license: MIT\n"])
def test_a_rights_file_holds_a_tag(tmp_path: Path, text: str) -> None:
    """Bare, or as in a cassette's header; absolute, or relative to a folder."""
    (tmp_path / "r.yaml").write_text(text)
    assert rights_from("r.yaml", tmp_path) == rights_from(str(tmp_path / "r.yaml")) == Tag(license="MIT")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("license: AND\n", ":1: license: 'AND' is not an SPDX licence expression [RP004]"),
        ("rights:\n  permisions: {}\n", ":2: rights.permisions: there is no such key [RP003]"),
        ("", ":1: is empty"),
        ("[", "is not valid YAML"),
    ],
)
def test_a_rights_file_with_a_fault_is_refused(tmp_path: Path, text: str, what: str) -> None:
    """File, line, path and code."""
    (tmp_path / "r.yaml").write_text(text)
    with pytest.raises(RightsError) as error:
        rights_from("r.yaml", tmp_path)
    assert error.value.what.startswith(f"{tmp_path}/r.yaml:")
    assert what in error.value.what
    assert error.value.hint


def test_rights_that_are_neither_preset_nor_file_are_refused(tmp_path: Path) -> None:
    """The hint has the presets, or the nearest one; a folder cannot be read."""
    with pytest.raises(SettingsError, match=r"^nothing\.yaml: neither a preset nor a file") as error:
        rights_from("nothing.yaml", tmp_path)
    assert "own-synthetic, unknown" in error.value.hint
    with pytest.raises(SettingsError) as error:
        rights_from("unknwon", tmp_path)
    assert error.value.hint == "did you mean unknown?"
    with pytest.raises(SettingsError, match="cannot be read: Is a directory"):
        rights_from(".", tmp_path)


PLACES: list[tuple[str | int, ...]] = [
    ("version",),
    ("cassettes",),
    ("providers",),
    ("providers", "stripe"),
    *(("providers", "stripe", key) for key in ("hosts", "rights", "match", "redact", "time", "webhooks")),
    ("providers", "stripe", "hosts", 0),
    *(("providers", "stripe", "match", key) for key in ("ignore", "bind", "on", "read_only", "sequence")),
    *(("providers", "stripe", "match", key, 0) for key in ("ignore", "bind", "on", "read_only")),
    ("providers", "stripe", "redact", 0, "at"),
    ("providers", "stripe", "redact", 1, "pattern"),
    ("providers", "stripe", "webhooks", 0, "to"),
    ("providers", "tagged", "rights"),
    ("providers", "tagged", "rights", "permissions", "ship"),
    ("registry",),
    ("limits",),
    ("episodes", "one", "clock"),
    ("episodes", "one", "listen"),
    ("episodes", "one", "source"),
]
TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=12) | st.sampled_from(
    ["header:", "json:$..", "path:(?P<a", "[::1", "http://[", "a..b", "xn--", "*.[", "[a-", "\u00ad", "127.1"]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2))


@hypothesis.settings(max_examples=150, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=VALUES)
def test_any_value_in_any_place_is_read_or_told(folder: Path, place: tuple[str | int, ...], value: object) -> None:
    """No value makes anything but an error with file and line, and a hint."""
    whole = parse(FULL.encode(), "full").value
    target = whole
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    (folder / "replayproxy.yaml").write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    error = fault(folder)
    assert error is None or ("replayproxy.yaml:1: " in error.what and error.hint)
