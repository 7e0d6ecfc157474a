"""The rights tag: who owns a recording, under which terms it was made, and what it may be used for.

Every part may be left out. What a tag does not state is not granted: it is unknown, unless the tag is a
difference that is laid over another (see `combining`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from replayproxy.core.errors import RightsError
from replayproxy.core.rights import combining
from replayproxy.core.rights import license as spdx
from replayproxy.core.rights.findings import WideningError
from replayproxy.core.rights.records import (
    ACCOUNT,
    ATTESTATION,
    OBLIGATION,
    OWNER,
    PERMISSIONS,
    SERVICE,
    TERMS,
    Account,
    Attestation,
    Obligation,
    Owner,
    Permission,
    Service,
    Terms,
)
from replayproxy.core.rights.vocabulary import MODES, SCHEMA, SUBJECTS, USES, Mode, Subject, Use, Value
from replayproxy.core.shape import (
    FILLED,
    Choice,
    Day,
    Instant,
    Items,
    Key,
    Path,
    Record,
    ShapeError,
    Text,
    spell,
)

NO_SERVICE, NO_OWNER, NO_ACCOUNT = Service(), Owner(), Account()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """The rights to one interaction, or to all of a cassette. `Tag()` states nothing at all.

    Dates and times are text, times in UTC. `permissions` holds what is stated, in the order of the
    vocabulary; ask for one with `permission`. `extensions` holds keys under `x-`, which mean nothing to
    replayproxy.
    """

    provider: Service = NO_SERVICE
    owner: Owner = NO_OWNER
    license: str = ""
    terms: tuple[Terms, ...] = ()
    account: Account = NO_ACCOUNT
    mode: Mode | Literal[""] = ""
    subject: Subject | Literal[""] = ""
    jurisdictions: tuple[str, ...] = ()
    recorded_at: str = ""
    permissions: tuple[tuple[Use, Permission], ...] = ()
    obligations: tuple[Obligation, ...] = ()
    expires: str = ""
    attestations: tuple[Attestation, ...] = ()
    extensions: tuple[tuple[str, object], ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        ordered = sorted(self.permissions, key=lambda pair: USES.index(pair[0]))
        object.__setattr__(self, "permissions", tuple(ordered))

    def stated(self, use: Use) -> Permission | None:
        """What the tag says about USE, or None where it says nothing."""
        return dict(self.permissions).get(use)

    def permission(self, use: Use) -> Value:
        """Whether USE is allowed; what is not stated is unknown."""
        stated = self.stated(use)
        return stated.value if stated else "unknown"

    @classmethod
    def from_dict(cls, data: object, where: str = "") -> Tag:
        """The tag that DATA (plain values, as YAML or JSON gives them) spells.

        Raises RightsError that names the path under WHERE, what was found there, and what is allowed.
        """
        try:
            return TAG.read(data, ())
        except ShapeError as error:
            place = spell(error.path, where) or "the rights tag"
            raise RightsError(f"{place}: {error.problem}", hint=error.hint) from error

    def to_dict(self) -> dict[str, object]:
        """The tag as plain values, without what it does not state; `Tag.from_dict` gives the tag back."""
        plain = _plain(self)
        if self.permissions:
            plain["permissions"] = {use: _short(permission) for use, permission in self.permissions}
        plain.pop("extensions", None)
        return plain | dict(self.extensions)

    def over(self, base: Tag) -> Tag:
        """This tag as a difference laid over BASE, which it may only tighten; raises WideningError else."""
        tag, widenings = combining.lay(self, base)
        if widenings:
            raise WideningError(widenings)
        return tag


def _plain(value: Any) -> dict[str, object]:
    stated = ((part.name, getattr(value, part.name)) for part in fields(value))
    return {name: _leaf(item) for name, item in stated if not _is_empty(item)}


def _is_empty(item: Any) -> bool:
    return item in ("", (), None) or (hasattr(item, "__dataclass_fields__") and not _plain(item))


def _leaf(item: Any) -> object:
    if hasattr(item, "__dataclass_fields__"):
        return _plain(item)
    return [_leaf(part) for part in item] if isinstance(item, tuple) else item


def _short(permission: Permission) -> object:
    plain = _plain(permission)
    return plain if len(plain) > 1 else permission.value


def tag_of(**stated: Any) -> Tag:
    """The tag of the values of TAG_KEYS."""
    stated.pop("schema", None)
    return Tag(**stated)


TAG_KEYS: tuple[Key[Any], ...] = (
    Key("schema", Choice((SCHEMA,)), "the version of this vocabulary", default=SCHEMA),
    Key("provider", SERVICE, "who was called"),
    Key("owner", OWNER, "whose data it is"),
    Key(
        "license",
        Text(
            "SPDX expression",
            spdx.expression,
            hint="LicenseRef-api-PROVIDER-TERMS-DATE names the terms of an API",
        ),
        "SPDX expression; NOASSERTION where nobody says, NONE where there is none",
    ),
    Key("terms", Items(TERMS), "texts that were relied on"),
    Key("account", ACCOUNT, "the account that was used"),
    Key("mode", Choice(MODES), "which side of the provider was called"),
    Key("subject", Choice(SUBJECTS), "whom the data is about"),
    Key("jurisdictions", Items(FILLED), "where the law of the terms applies"),
    Key("recorded_at", Instant(), "when it was recorded"),
    Key("permissions", PERMISSIONS, "what it may be used for; unknown where not stated"),
    Key("obligations", Items(OBLIGATION), "what has to be done by whoever uses it"),
    Key("expires", Day(), "the last day on which anything at all is allowed"),
    Key("attestations", Items(ATTESTATION), "signed statements that widen permissions"),
)


@dataclass(frozen=True, slots=True)
class Coded[T]:
    """A record with a tag's keys, whose errors end in the code of the finding that they are."""

    record: Record[T]

    def read(self, value: object, path: Path) -> T:
        """What the record makes of VALUE."""
        try:
            return self.record.read(value, path)
        except ShapeError as error:
            code = "RP004" if error.path == (*path, "license") else "RP003"
            raise ShapeError(error.path, f"{error.problem} [{code}]", hint=error.hint) from error

    def schema(self) -> dict[str, object]:
        """The schema of the record."""
        return self.record.schema()

    def __str__(self) -> str:
        return str(self.record)


TAG: Coded[Tag] = Coded(Record("rights tag", tag_of, TAG_KEYS, extensible=True))
