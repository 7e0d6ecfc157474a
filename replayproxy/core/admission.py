"""Which hosts may be recorded, decided before a byte leaves.

Everything not admitted here is answered with 451 by the recorder. The decision needs no name resolution: it is made
on the name or literal that the client asked for. What a name resolves to is judged by whoever dials it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from replayproxy.core.exchange import Origin
from replayproxy.core.rights import Tag, WideningError

METADATA_NAMES = frozenset({"metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal"})
NUMERIC_HOST = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that may not be made: a stable code, one sentence, and what would change it."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The rules of one recording.

    `allow` holds the globs of --allow-host (lower case), empty for any host that has rights. `rights_of` answers
    with the tag of a host and path, or None where nobody has said anything; it raises WideningError where what was
    said may not be said.
    """

    rights_of: Callable[[str, str], Tag | None]
    allow: tuple[str, ...] = ()

    def decide(self, origin: Origin, path: str) -> Tag | Refusal:
        """The tag under which the exchange is recorded, or why it may not be made."""
        named = any(fnmatchcase(origin.host, glob) for glob in self.allow)
        if self.allow and not named:
            return _not_allowed(origin)
        if not named and is_local(origin.host):
            return _local(origin)
        try:
            tag = self.rights_of(origin.host, path)
        except WideningError as error:
            return Refusal(code=error.findings[0].code, message=error.what, hint=error.hint)
        if tag is None:
            return _untagged(origin)
        if tag.permission("store") == "forbidden":
            return _store_forbidden(origin)
        return tag


def is_local(host: str) -> bool:
    """Whether HOST (normalised) names this machine, its link or its cloud's metadata service.

    Numeric spellings that only inet_aton understands (`127.1`, `0x7f000001`) count as local, since a resolver turns
    them into addresses that nobody looked at.
    """
    if host == "localhost" or host.endswith(".localhost") or host in METADATA_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return bool(NUMERIC_HOST.fullmatch(host))
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return address.is_loopback or address.is_link_local or address.is_unspecified or str(address) == "fd00:ec2::254"


def _not_allowed(origin: Origin) -> Refusal:
    return Refusal(
        code="host-not-allowed",
        message=f"{origin.host} is not among the hosts that this recording may call",
        hint=f"--allow-host {origin.host}",
    )


def _local(origin: Origin) -> Refusal:
    return Refusal(
        code="local-address",
        message=f"{origin.host} is a loopback, link-local or metadata address, which is not recorded unless named",
        hint=f"--allow-host {origin.host}",
    )


def _untagged(origin: Origin) -> Refusal:
    return Refusal(
        code="RP010",
        message=f"nobody has said under which rights answers of {origin.host} may be recorded",
        hint=f"--rights own-synthetic|unknown|FILE, or providers.NAME: {{hosts: [{origin.host}], rights: …}}",
    )


def _store_forbidden(origin: Origin) -> Refusal:
    return Refusal(
        code="RP030",
        message=f"the rights of {origin.host} forbid to store its answers",
        hint="record the provider's sandbox, or have the widening attested",
    )
