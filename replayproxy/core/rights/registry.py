"""Which tag holds for a host and path: what providers' registries say, and who may say something else.

The entries come from the files under `registry:` in the configuration; entries that ship with replayproxy are
a later issue and will be given to `Registry.from_entries` in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from replayproxy.core.rights.combining import meet
from replayproxy.core.rights.findings import Finding, WideningError
from replayproxy.core.rights.presets import OWN_SYNTHETIC
from replayproxy.core.rights.tag import TAG_KEYS, Coded, Tag, tag_of
from replayproxy.core.rights.vocabulary import EVIDENCE
from replayproxy.core.shape import ANYTHING, FILLED, Choice, Items, Key, Record, Text, found


@dataclass(frozen=True, slots=True)
class Place:
    """Hosts and paths by glob: `*` stands for anything within a label or segment, `**` for anything at all.

    A leading `*.` of a host stands for one label or more.
    """

    host: str
    path: str = "/**"

    def covers(self, host: str, path: str) -> bool:
        """Whether HOST (normalised) and PATH lie within."""
        return _matches(self.host, host, ".") and _matches(self.path, path, "/")

    def precision(self) -> tuple[int, int, int]:
        """Higher is more specific: a host without wildcard first, then a longer host, then a longer path."""
        literal_host = self.host.replace("*", "")
        return ("*" not in self.host, len(literal_host), len(self.path.replace("*", "")))


def _matches(glob: str, text: str, separator: str) -> bool:
    if separator == "." and glob.startswith("*."):
        glob = f"*{glob}"
    return re.fullmatch(_pattern(glob, separator), text, re.DOTALL) is not None


def _pattern(glob: str, separator: str) -> str:
    parts = re.split(r"(\*\*|\*)", glob)
    wild = {"**": ".*", "*": f"[^{re.escape(separator)}]*"}
    return "".join(wild.get(part) or re.escape(part) for part in parts)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of the rights to a provider's answers: the places that it speaks of, and the tag."""

    id: str
    places: tuple[Place, ...]
    tag: Tag


@dataclass(frozen=True, slots=True)
class Registry:
    """What is known of providers' terms, by host and path."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def from_entries(cls, entries: Iterable[Entry]) -> Registry:
        """The registry of ENTRIES; where two are equally specific both hold."""
        return cls(tuple(entries))

    def knows(self, host: str) -> bool:
        """Whether any entry speaks of HOST (normalised), whatever the path."""
        return any(_matches(place.host, host, ".") for entry in self.entries for place in entry.places)

    def lookup(self, host: str, path: str) -> Tag | None:
        """The tag of the most specific entry for HOST and PATH (without query); the meet of equals."""
        covering = [
            (place.precision(), entry.tag)
            for entry in self.entries
            for place in entry.places
            if place.covers(host, path)
        ]
        if not covering:
            return None
        best = max(precision for precision, _ in covering)
        return reduce(meet, (tag for precision, tag in covering if precision == best))


def _entry(id: str, match: tuple[Place, ...], **stated: Any) -> Entry:  # noqa: A002 - the key of the file
    for beside in ("evidence", "mode_detectors", "reviewed"):
        stated.pop(beside, None)
    return Entry(id, match, tag_of(**stated))


def _host(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9*._:-]+", text.lower()):
        raise ValueError(f"found {found(text)} where a host or a glob of hosts belongs")
    return text.lower().removesuffix(".")


def _path(text: str) -> str:
    if not text.startswith(("/", "*")):
        raise ValueError(f"found {found(text)} where a path or a glob of paths (/v3/**) belongs")
    return text


PLACE = Record(
    "mapping with host and path",
    Place,
    (
        Key("host", Text("glob of hosts", _host), "host, or a glob of hosts", required=True),
        Key("path", Text("glob of paths", _path), "path, or a glob of paths", default="/**"),
    ),
)
ENTRY: Coded[Entry] = Coded(
    Record(
        "registry entry",
        _entry,
        (
            Key("id", FILLED, "name of the entry", required=True),
            Key("match", Items(PLACE, least=1), "what it speaks of", required=True),
            Key("evidence", Choice(EVIDENCE), "what the entry is based on"),
            Key("mode_detectors", Items(ANYTHING), "signs of test mode; no meaning yet"),
            Key("reviewed", ANYTHING, "who has reviewed it and when"),
            *TAG_KEYS,
        ),
        extensible=True,
    )
)
REGISTRY: Record[Registry] = Record(
    "registry file",
    lambda entries, schema="": Registry.from_entries(entries),  # noqa: ARG005 - judged by its shape
    (
        Key("schema", Choice(("replayproxy.registry/1",)), "the version of the format"),
        Key("entries", Items(ENTRY), "the entries", required=True),
    ),
)


def resolve(
    host: str,
    path: str,
    *,
    cli: Tag | None = None,
    provider: Tag | None = None,
    folder: Tag | None = None,
    registry: Registry | None = None,
) -> Tag | None:
    """The tag under which an answer of HOST to PATH is recorded; None where nobody has said anything.

    From the closest level: the command line (CLI), the configuration (PROVIDER), the folder, the registry.
    Each may only tighten what lies under it: raises WideningError (RP011) else, and where data is claimed to
    be our own synthetic data though the registry knows its host as a provider's.
    """
    registry = registry or Registry()
    if OWN_SYNTHETIC in (cli, provider, folder) and registry.knows(host):
        raise WideningError((_not_own(host),))
    known = registry.lookup(host, path)
    levels = [level for level in (known, folder, provider, cli) if level is not None]
    return reduce(lambda under, closer: closer.over(under), levels) if levels else None


def _not_own(host: str) -> Finding:
    return Finding(
        code="RP011",
        level="deny",
        message=f"the registry knows {host} as a provider's, so its answers are not our own synthetic data",
        hint="leave --rights out to use what the registry says, or give a rights file",
    )
