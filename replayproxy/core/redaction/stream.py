"""Masking a body that is too large to be held: window by window, each overlapping the next.

What stands within a window is masked as in a body that is held whole. A secret longer than the overlap that stands
across a border is the one thing that can be missed; no credential is that long.
"""

from __future__ import annotations

from replayproxy.core.redaction import documents
from replayproxy.core.redaction.edits import Edit, apply, settle
from replayproxy.core.redaction.message import Notes
from replayproxy.core.redaction.text import Search

WINDOW = 262_144
OVERLAP = 16_384


class BodyStream:
    """Masks the octets that it is fed, in order. `notes` tells what was masked so far."""

    def __init__(self, search: Search, content_type: str, at: str) -> None:
        self._search = search
        self._content_type = content_type
        self._at = at
        self._held = bytearray()
        self.notes = Notes()

    def feed(self, data: bytes) -> bytes:
        """The octets that are certain after DATA, masked; the rest is held back."""
        self._held += data
        if len(self._held) < WINDOW + OVERLAP:
            return b""
        edits = self._edits()
        cut = len(self._held) - OVERLAP
        for edit in reversed(edits):
            if edit.start < cut < edit.end:
                cut = edit.start
        return self._taken(cut, [edit for edit in edits if edit.end <= cut])

    def finish(self) -> bytes:
        """The rest, masked."""
        return self._taken(len(self._held), self._edits())

    def _edits(self) -> list[Edit]:
        text = self._held.decode("latin-1")
        return settle(documents.body(self._search, text, self._content_type, self._at))

    def _taken(self, cut: int, edits: list[Edit]) -> bytes:
        octets = bytes(self._held[:cut])
        del self._held[:cut]
        if not edits:
            return octets
        self.notes += [(edit.at, mask) for edit in edits for mask in edit.masks]
        return apply(octets.decode("latin-1"), edits).encode("latin-1")
