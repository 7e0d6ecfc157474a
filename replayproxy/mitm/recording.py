"""Puts a recording together: rights, masking, log and session, for the command line and for mitmdump alike."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from replayproxy import __version__
from replayproxy.core.admission import Admission
from replayproxy.core.errors import ReplayproxyError
from replayproxy.core.exchange import Cassette
from replayproxy.core.provider import Providers
from replayproxy.core.recorder import Recorder
from replayproxy.core.redaction import Redactor
from replayproxy.core.rights import Registry, Tag, resolve
from replayproxy.mitm.session import Known, Session, Sockets
from replayproxy.store import Loaded, OnExisting, Recording
from replayproxy.store.names import stem
from replayproxy.wire.limits import Limits

SALT_OCTETS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a user wants recorded. `rights` is the tag of --rights, None where only providers have tags."""

    output: Path
    on_existing: OnExisting = "fail"
    rights: Tag | None = None
    providers: Providers = field(default_factory=Providers)
    registry: Registry = field(default_factory=Registry)
    allow_hosts: tuple[str, ...] = ()
    connect_to: Mapping[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    note: str = ""


def clock_us() -> int:
    """The wall clock in microseconds since 1970; recordings are dated by it."""
    return time.time_ns() // 1000


def begin(
    wanted: Wanted,
    sockets: Sockets,
    on_failure: Callable[[ReplayproxyError], None],
    known: Callable[[Loaded], Known],
) -> tuple[Recording, Session]:
    """The log of a new recording, locked, and the session that writes to it.

    `known` makes the answers for `--on-existing new` from the cassette that exists. Raises as `Recording.start` does.
    """
    head = Cassette(
        name=stem(wanted.output),
        rights=wanted.rights or Tag(),
        recorded_us=clock_us(),
        tool=f"replayproxy {__version__}",
        salt=secrets.token_hex(SALT_OCTETS),
        note=wanted.note,
    )
    recording = Recording.start(wanted.output, head, wanted.on_existing)
    existing = recording.existing
    try:
        if existing is not None and wanted.rights is not None:
            wanted.rights.over(existing.cassette.rights)  # the head's tag holds for what is added to it
    except ReplayproxyError:
        recording.abandon()
        raise
    redactor = Redactor(
        recording.salt, lambda host: wanted.providers.of(host).redact, placeholders=_placeholders(existing)
    )
    session = Session(
        admission=Admission(rights_of=rights_of(wanted), allow=tuple(glob.lower() for glob in wanted.allow_hosts)),
        recorder=Recorder(redactor),
        log=recording,
        sockets=sockets,
        clock_us=clock_us,
        on_failure=on_failure,
        connect_to=wanted.connect_to,
        limits=wanted.limits,
        next_order=recording.first_order,
        known=known(existing) if existing is not None and wanted.on_existing == "new" else None,
        shared_rights=existing.cassette.rights if existing is not None else wanted.rights,
    )
    for note in recording.notes:
        session.warn(note)
    return recording, session


def rights_of(wanted: Wanted) -> Callable[[str, str], Tag | None]:
    """What was said of a host and path, on the command line, in the configuration and in the registry."""

    def tag(host: str, path: str) -> Tag | None:
        provider = wanted.providers.of(host).rights
        return resolve(host, path, cli=wanted.rights, provider=provider, registry=wanted.registry)

    return tag


def _placeholders(existing: Loaded | None) -> tuple[str, ...]:
    if existing is None:
        return ()
    interactions = existing.cassette.interactions
    return tuple(mask.placeholder for one in interactions for mask in one.redactions)


def unknown_to_all(existing: Loaded) -> Known:
    """Nothing is known beforehand: every request goes to the upstream."""
    del existing
    return lambda request: None  # noqa: ARG005 - the signature is the session's
