"""Which requests only tell a vendor how this run went: traces, metrics, logs, crashes.

Their bodies are full of event ids, times and durations, so that no run sends the same one twice, and no answer depends
on them. `core/effect.py` knows from here that they do not write what a read gives back.
"""

from __future__ import annotations

import json
import re
from typing import Any

from replayproxy.core.canonical.multipart import media_type
from replayproxy.core.exchange import Request, header

_TYPES = frozenset({"application/x-sentry-envelope", "application/csp-report", "application/reports+json"})
_MEMBERS = frozenset({"resourceSpans", "resourceMetrics", "resourceLogs"})
"""What OpenTelemetry's JSON documents hold; they may be sent to any path."""
_PATHS = re.compile(r"/api/\d+/(envelope|store|security|minidump)/?|/v1/traces/ingest")
"""Where Sentry's SDKs send events, and OpenAI's Agents SDK its traces."""
_OTLP = re.compile(r"/v1/(traces|metrics|logs)")


def is_telemetry(request: Request, content: bytes) -> bool:
    """Whether REQUEST tells only how this run went. CONTENT is its body after content coding, b"" if not at hand."""
    if request.method != "POST":
        return False
    kind = media_type(header(request.headers, "content-type") or "")[0]
    if kind in _TYPES or _PATHS.fullmatch(request.path):
        return True
    if kind == "application/x-protobuf":
        return bool(_OTLP.fullmatch(request.path))
    return any(b'"%b"' % member.encode() in content for member in _MEMBERS) and _has_members(content)


def _has_members(content: bytes) -> bool:
    try:
        document: Any = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and not _MEMBERS.isdisjoint(document)
