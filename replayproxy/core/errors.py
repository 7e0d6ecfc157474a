"""The errors that replayproxy raises on purpose, and the one form in which it prints them.

ReplayproxyError               what is wrong, where, why; a hint; an exit code
├── UsageError         (2)     a command, option or argument that cannot be meant
├── SettingsError      (2)     replayproxy.yaml, a rights file or a policy that cannot be read
├── CassetteError      (2)     a cassette that cannot be read
├── RightsError        (2)     a rights tag or attestation that is not valid
├── OperationError     (3)     the product could not do its job: port in use, disk full, upstream down
└── IntegrityError     (1)     a cassette that is not what was recorded

Rooms that find a fault raise one of these; only the command line turns them into text and a code.
"""

from __future__ import annotations


class ReplayproxyError(Exception):
    """Something a person can mend.

    `what` is one sentence without a full stop: what is wrong, where, and why. `hint` says what to do.
    `str(error)` is the text that is printed: what, an empty line, `hint: …`.
    """

    exit_code = 3

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}\n\nhint: {self.hint}" if self.hint else self.what


class UsageError(ReplayproxyError):
    """A command, option or argument that cannot be meant."""

    exit_code = 2


class SettingsError(ReplayproxyError):
    """A configuration file that cannot be read; `what` names file and path in the document."""

    exit_code = 2


class CassetteError(ReplayproxyError):
    """A cassette that cannot be read; `what` names file, line where known, and path in the document."""

    exit_code = 2


class RightsError(ReplayproxyError):
    """A rights tag or attestation that is not valid; `what` names the path in the document."""

    exit_code = 2


class OperationError(ReplayproxyError):
    """The product could not do its job for a reason outside it: port in use, disk full, upstream down."""

    exit_code = 3


class IntegrityError(ReplayproxyError):
    """A file is not what was written: a digest or signature does not match."""

    exit_code = 1
