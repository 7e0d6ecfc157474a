"""The table of settings: every key of `replayproxy.yaml`, with its shape, meaning, default and an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from replayproxy.core.canonical.draft import plan_of
from replayproxy.core.canonical.rules import RULE_IDS
from replayproxy.core.provider import SEQUENCES, MatchRules, RedactRule
from replayproxy.core.rights import PRESETS, TAG, Tag
from replayproxy.core.shape import (
    Choice,
    Either,
    Items,
    Key,
    Made,
    Named,
    Path,
    Record,
    ShapeError,
    Text,
    Whole,
    found,
)
from replayproxy.settings import values
from replayproxy.settings.model import MOVES, Episode, TimeRule, Webhook
from replayproxy.wire.limits import Limits

VERSION = 1
SELECTOR_PATTERN = r"^(header|query|form|json|path):.+$"
SELECTORS = "selectors are header:NAME, query:NAME, form:NAME, json:$.path and path:REGEX"
SELECTOR = Text("selector", values.selector, SELECTOR_PATTERN, SELECTORS)
FIELD = Text(
    "selector",
    values.field_selector,
    r"^(header|query|form|json):.+$",
    "the places are header:NAME, query:NAME, form:NAME and json:$.path",
)
NAME = Text("name", values.name, r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
FILE = Text("path", values.file_name, r"\S")
REQUEST = Text("METHOD PATH", values.request_glob, r"^\S+ [/*]\S*$")


@dataclass(frozen=True, slots=True)
class Version:
    """The number of the configuration's format."""

    def read(self, value: object, path: Path) -> int:
        """The number, which has to be the one that this version reads."""
        if value is True or value != VERSION:
            newer = isinstance(value, int) and not isinstance(value, bool) and value > VERSION
            hint = "a newer replayproxy wrote this file" if newer else f"version: {VERSION}"
            raise ShapeError(path, f"found {found(value)} where {self} belongs", hint=hint)
        return VERSION

    def schema(self) -> dict[str, object]:
        """A constant."""
        return {"const": VERSION}

    def __str__(self) -> str:
        return str(VERSION)


@dataclass(frozen=True, slots=True)
class ProviderText:
    """A provider as the file has it: its rights are a tag, or still the name of a preset or file."""

    hosts: tuple[str, ...]
    rights: Tag | str | None = None
    match: MatchRules = MatchRules()  # noqa: RUF009 - frozen
    redact: tuple[RedactRule, ...] = ()
    time: tuple[TimeRule, ...] = ()
    webhooks: tuple[Webhook, ...] = ()


@dataclass(frozen=True, slots=True)
class FileText:
    """A configuration as the file has it: the files that it names have not been read."""

    version: int
    cassettes: tuple[str, ...] = ()
    providers: tuple[tuple[str, ProviderText], ...] = ()
    policy: str = ""
    registry: tuple[str, ...] = ()
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    episodes: tuple[tuple[str, Episode], ...] = ()


def _redaction(**given: Any) -> RedactRule:
    if len(given) != 1:
        raise ValueError("a redaction has exactly one of at and pattern")
    return RedactRule(**given)


def _matching(**given: Any) -> MatchRules:
    rules = MatchRules(**given)
    plan_of(rules)
    return rules


def _episode(**given: Any) -> Episode:
    return Episode(name="", **given)


def _single(text: str) -> tuple[str, ...]:
    return (text,)


_MATCH: Record[MatchRules] = Record(
    "mapping of matching rules",
    _matching,
    (
        Key("ignore", Items(SELECTOR), "fields of requests that take no part in matching", example="[query:trace]"),
        Key(
            "bind",
            Items(SELECTOR),
            "fields that take no part, and whose value is put where the recording echoed it",
            example="[json:$.reference]",
        ),
        Key(
            "on",
            Items(
                Text(
                    "rule or selector",
                    values.rule_taken_back,
                    hint=f"rules: {', '.join(sorted(RULE_IDS))}; {SELECTORS}",
                )
            ),
            "built-in rules, or places of them, that are taken back",
            example="[header:accept-language]",
        ),
        Key(
            "read_only",
            Items(REQUEST),
            "requests with an unsafe method that write nothing",
            example="[POST /v1/search/*]",
        ),
        Key(
            "sequence",
            Choice(SEQUENCES),
            "what follows the last of several answers to one request",
            default="repeat-last",
        ),
    ),
)
_REDACT: Record[RedactRule] = Record(
    "mapping with at or pattern",
    _redaction,
    (
        Key("at", FIELD, "a place whose value is masked", example="json:$.ssn"),
        Key(
            "pattern",
            Text("regular expression", values.expression, r"\S", "regular expressions are those of Python's re"),
            "a regular expression; what it matches is masked wherever it stands",
            example="'[0-9]{3}-[0-9]{2}-[0-9]{4}'",
        ),
    ),
)
_TIME: Record[TimeRule] = Record(
    "mapping with at and moves",
    TimeRule,
    (
        Key("at", FIELD, "a field that holds a time", example="json:$.created", required=True),
        Key(
            "moves",
            Choice(MOVES),
            "with the moment of the answer, with the start of the episode, not at all, or not without its signature",
            example="now",
            required=True,
        ),
    ),
)
_WEBHOOK: Record[Webhook] = Record(
    "mapping with after, to and delay_seconds",
    Webhook,
    (
        Key("after", REQUEST, "the request that triggers it", example="POST /v1/payments", required=True),
        Key(
            "to",
            Text("URL", values.literal_url, r"^https?://.+$"),
            "where it goes; a literal address",
            example="http://127.0.0.1:9000/hooks",
            required=True,
        ),
        Key("delay_seconds", Whole(), "seconds of the episode's clock that pass before it", default="0"),
    ),
)
_PRESET_OR_FILE = Text("preset or path", values.file_name, r"\S")
_RIGHTS: Either[Tag | str] = Either(_PRESET_OR_FILE, TAG)
PROVIDER: Record[ProviderText] = Record(
    "provider",
    ProviderText,
    (
        Key(
            "hosts",
            Items(
                Text("glob of hosts", values.host_glob, r"^[^/\s]+$", "such as api.example.com or '*.example.com'"),
                least=1,
            ),
            "its hosts; globs, and the first provider that has a host decides",
            example="[api.example.com, '*.api.example.com']",
            required=True,
        ),
        Key(
            "rights",
            _RIGHTS,
            f"rights to its answers: a preset ({', '.join(PRESETS)}), the path of a rights file, or a rights tag",
            example="rights/example.yaml",
        ),
        Key("match", _MATCH, "how requests to it are matched, beside the built-in rules"),
        Key("redact", Items(_REDACT), "what is masked, beside what is masked anyway"),
        Key("time", Items(_TIME), "fields that hold times; kept for the clocks to come"),
        Key("webhooks", Items(_WEBHOOK), "calls that it makes; kept for the deliveries to come"),
    ),
)
_EPISODE: Record[Episode] = Record(
    "episode",
    _episode,
    (
        Key("seed", Whole(), "its first seed", example="7"),
        Key("clock", Text("clock", values.clock, r"\S"), "its clock, as --clock takes it", example="recorded"),
        Key(
            "listen",
            Text("ADDRESS:PORT", values.listen_address, r"^\S+:[0-9]+$"),
            "an address of its own to serve it on",
            example="127.0.0.1:9001",
        ),
        Key(
            "source",
            Text("IP address", values.source_address, r"^[0-9a-fA-F.:]+$"),
            "the address that its client calls from",
            example="10.0.0.2",
        ),
    ),
)


def _limit(name: str, help_: str, example: str = "") -> Key[int]:
    default: Any = next(part.default for part in fields(Limits) if part.name == name)
    return Key(name, Whole(1), help_, default="" if default is None else f"{default:.0f}", example=example)


LIMITS: Record[Limits] = Record(
    "limits",
    Limits,
    (
        _limit("head_octets", "request line and header fields together (431 beyond)"),
        _limit("target_octets", "the request target (414 beyond)"),
        _limit("fields", "header fields of one request (431 beyond)"),
        _limit("body_octets", "a request body (413 beyond); no bound without it", "10485760"),
        _limit("trailer_octets", "the trailers of a request (431 beyond)"),
        _limit("chunk_extension_octets", "all chunk extensions of one body (400 beyond)"),
        _limit("pipelined_octets", "what may wait behind a request that is being answered"),
        _limit("streams", "HTTP/2 exchanges of one connection at once"),
        _limit("control_frames", "HTTP/2 frames that ask for nothing, ahead of finished answers"),
        _limit("idle_seconds", "how long a silent connection is kept"),
        _limit("connections", "client connections at once"),
    ),
)
FILES: Either[tuple[str, ...]] = Either(Made(FILE, _single), Items(FILE))
_build: Callable[..., FileText] = FileText
TABLE: Record[FileText] = Record(
    "configuration",
    _build,
    (
        Key("version", Version(), "the format of this file", default=str(VERSION), required=True),
        Key(
            "cassettes",
            FILES,
            "cassettes, or folders of them, that replay serves where the command line names none",
            example="[cassettes]",
        ),
        Key("providers", Named(NAME, PROVIDER), "third parties, by names of your own", example="example"),
        Key("policy", FILE, "the policy file: purposes of your own and what each requires", example="policy.yaml"),
        Key(
            "registry",
            Items(FILE),
            "registry files: what is known of providers' terms, by host and path",
            example="[registry/example.yaml]",
        ),
        Key("limits", LIMITS, "bounds of what a client may send and hold open"),
        Key(
            "episodes",
            Named(NAME, _EPISODE),
            "episodes that exist from the start; kept for the bindings to come",
            example="default",
        ),
    ),
)
