"""Rights that `--rights` and `rights:` can name."""

from __future__ import annotations

from replayproxy.core.errors import UsageError
from replayproxy.core.rights.records import Owner, Permission
from replayproxy.core.rights.tag import Tag
from replayproxy.core.rights.vocabulary import USES, Use

GENERAL_USES: tuple[Use, ...] = tuple(use for use in USES if use != "benchmark")
"""The uses that every tag is asked about; `benchmark` is only stated where a provider limits it."""

OWN_SYNTHETIC = Tag(
    owner=Owner(id="self", kind="customer"),
    license="LicenseRef-own",
    mode="mock",
    subject="synthetic",
    permissions=tuple((use, Permission("granted")) for use in GENERAL_USES),
)

UNKNOWN = Tag(
    owner=Owner(kind="unknown"),
    license="NOASSERTION",
    permissions=tuple((use, Permission("unknown")) for use in GENERAL_USES),
)

PRESETS: dict[str, Tag] = {"own-synthetic": OWN_SYNTHETIC, "unknown": UNKNOWN}


def preset(name: str) -> Tag:
    """The tag that NAME stands for; raises UsageError that lists the names there are."""
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise UsageError(f"there are no rights called {name!r}", hint=f"a preset ({known}) or a rights file")
    return PRESETS[name]
