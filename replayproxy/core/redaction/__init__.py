"""Masking: no credential reaches a cassette, and what stands for one keeps its shape and its identity.

`redactor.Redactor` is the room's door. `message` takes a request or response apart, `fields` and `documents` find
credentials by the names of fields, `text` finds them anywhere, `vault` knows them and what stands for each.
"""

from replayproxy.core.redaction.redactor import Finding, Redactor
from replayproxy.core.redaction.stream import BodyStream

__all__ = ["BodyStream", "Finding", "Redactor"]
