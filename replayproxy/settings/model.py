"""What a configuration says, once it has been read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from replayproxy.core.provider import Providers, Selector
from replayproxy.core.rights import Registry
from replayproxy.wire.limits import Limits

Moves = Literal["now", "episode", "fixed", "signed"]
MOVES: tuple[Moves, ...] = get_args(Moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRule:
    """A field of a provider's answers that holds a time, and how it follows the episode's clock."""

    at: Selector
    moves: Moves


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A call that a provider makes after a request: what triggers it, where it goes, how many seconds later."""

    after: str
    to: str
    delay_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An episode that exists from the start, and what leads a client to it; "" and None for what is not stated."""

    name: str
    seed: int | None = None
    clock: str = ""
    listen: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A configuration. Paths are absolute, or relative to the current folder where the configuration's path was.

    `file` is None where there is no configuration. `times` and `webhooks` hold the rules of the providers that have
    any, by the provider's name; they, `episodes` and `policy` are checked and kept for features to come.
    """

    file: Path | None = None
    cassettes: tuple[Path, ...] = ()
    providers: Providers = field(default_factory=Providers)
    policy: Path | None = None
    registry_files: tuple[Path, ...] = ()
    registry: Registry = field(default_factory=Registry)
    limits: Limits = field(default_factory=Limits)
    episodes: tuple[Episode, ...] = ()
    times: tuple[tuple[str, tuple[TimeRule, ...]], ...] = ()
    webhooks: tuple[tuple[str, tuple[Webhook, ...]], ...] = ()
