"""Findings: what rights say against using an interaction, each with a code that never changes meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from replayproxy.core.errors import RightsError
from replayproxy.core.rights.vocabulary import Use

Level = Literal["needs-review", "expired", "deny"]
"""How bad a finding is, from the mildest: nobody has decided, no longer, never."""

LEVELS: tuple[Level, ...] = get_args(Level)

CODES: dict[str, str] = {
    "RP003": "not a rights tag",
    "RP004": "not an SPDX licence expression",
    "RP010": "untagged",
    "RP011": "widening without attestation",
    "RP020": "expired",
    "RP030": "forbidden",
    "RP031": "unknown",
    "RP033": "needs a person",
}
"""Every code that this version gives, with its name; docs/rights.md explains each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reason not to use an interaction.

    `use` is the permission that it is about, "" where it is about the whole tag. `message` is one sentence
    without a full stop, `hint` what would change the finding.
    """

    code: str
    level: Level
    message: str
    use: Use | Literal[""] = ""
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


def worst(found: tuple[Finding, ...]) -> Finding | None:
    """The gravest of FOUND, the first among equals; None where there is none."""
    return max(found, key=lambda finding: LEVELS.index(finding.level), default=None)


class WideningError(RightsError):
    """A closer level allows more than the one under it, without an attestation; `findings` say where."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("; ".join(map(str, findings)), hint=findings[0].hint)
        self.findings = findings
