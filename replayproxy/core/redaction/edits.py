"""Changes to a text: found first, made at once, so that every octet outside them stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Mask:
    """A secret that an edit hides: the rule that found it and what stands for it. Never the secret."""

    rule: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Edit:
    """The text from `start` to `end` becomes `new`. `at` is where in the message that is; `masks` what it hides."""

    start: int
    end: int
    new: str
    masks: tuple[Mask, ...]
    at: str = ""

    def moved(self, by: int) -> Edit:
        """The same edit of a text that has BY more characters before it."""
        return replace(self, start=self.start + by, end=self.end + by)


def settle(edits: Iterable[Edit]) -> list[Edit]:
    """EDITS in order, none overlapping: of two that overlap the one that begins first, then the longer, stays."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def is_settled(edits: Iterable[Edit], kept: Iterable[Edit]) -> bool:
    """Whether the edits that were KEPT do all that EDITS would: none was left out that does something else.

    An edit within a longer one counts too, as the longer one may leave what the shorter one changes.
    """
    done = {(edit.start, edit.end, edit.new) for edit in kept}
    return all((edit.start, edit.end, edit.new) in done for edit in edits)


def apply(text: str, edits: Iterable[Edit]) -> str:
    """TEXT after EDITS, which are in order and do not overlap."""
    parts: list[str] = []
    position = 0
    for edit in edits:
        parts += (text[position : edit.start], edit.new)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)
