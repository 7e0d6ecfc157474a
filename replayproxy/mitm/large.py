"""A body that is too large to be held: masked and written while it passes."""

from __future__ import annotations

from typing import Protocol

from replayproxy.core.exchange import Blob, Redaction
from replayproxy.core.redaction import BodyStream

LARGE_OCTETS = 4 << 20
"""From this size on a body goes to a file while it comes in."""


class Writer(Protocol):
    """What writes one body to a file."""

    def write(self, data: bytes) -> None:
        """Add DATA; raises OperationError on a full disk."""

    def finish(self) -> Blob:
        """The blob of everything that was written."""

    def discard(self) -> None:
        """Forget what was written."""


class LargeBody:
    """The body of one answer on its way to a file."""

    def __init__(self, writer: Writer, stream: BodyStream) -> None:
        self._writer = writer
        self._stream = stream

    def add(self, data: bytes) -> None:
        """DATA has come; raises OperationError on a full disk."""
        self._writer.write(self._stream.feed(data))

    def finish(self) -> tuple[Blob, tuple[Redaction, ...]]:
        """The body is whole, or as whole as it will be: where it lies, and what was masked in it."""
        self._writer.write(self._stream.finish())
        notes = dict.fromkeys(self._stream.notes)
        masks = (Redaction(at=at, rule=mask.rule, placeholder=mask.placeholder) for at, mask in notes)
        return self._writer.finish(), tuple(masks)

    def discard(self) -> None:
        """Nothing of it is kept."""
        self._writer.discard()
