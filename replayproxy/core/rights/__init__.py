"""What may be done with a recording: the rights tag, how tags combine, and whether a purpose may use one.

This is the first part: every interaction carries a tag, recording needs one, and replay refuses what a tag
forbids. Later issues add, beside what is here: signatures of attestations (until then a widening is refused,
attested or not), conditions that are decided by machine (until then each needs a person), policies with
purposes of the user's own, the built-in registry, the audit with its verdict, and `rights
explain|attest|purge`.
"""

from __future__ import annotations

from replayproxy.core.rights.combining import difference, lay, meet
from replayproxy.core.rights.findings import CODES, Finding, Level, WideningError
from replayproxy.core.rights.presets import PRESETS, preset
from replayproxy.core.rights.records import Permission
from replayproxy.core.rights.registry import REGISTRY, Entry, Place, Registry, resolve
from replayproxy.core.rights.tag import TAG, Tag
from replayproxy.core.rights.verdict import PURPOSES, decide, findings, requirements
from replayproxy.core.rights.vocabulary import USES, Use, Value

__all__ = [
    "CODES",
    "PRESETS",
    "PURPOSES",
    "REGISTRY",
    "TAG",
    "USES",
    "Entry",
    "Finding",
    "Level",
    "Permission",
    "Place",
    "Registry",
    "Tag",
    "Use",
    "Value",
    "WideningError",
    "decide",
    "difference",
    "findings",
    "lay",
    "meet",
    "preset",
    "requirements",
    "resolve",
]
