"""Which request is which: the canonical form of requests, one pure function and a table of rules.

`docs/matching.md` says what takes part in the key and why the rest does not.
"""

from replayproxy.core.canonical.compare import Difference, differences, distance
from replayproxy.core.canonical.key import Canonical, canonical, is_conditional
from replayproxy.core.canonical.rules import RULES, Rule

__all__ = [
    "RULES",
    "Canonical",
    "Difference",
    "Rule",
    "canonical",
    "differences",
    "distance",
    "is_conditional",
]
