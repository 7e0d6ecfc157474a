"""`replayproxy.yaml`: one table of settings, from which come the reader, the JSON schema, the template and the manual.

Every value is checked when the file is read, never when it is first needed, and every fault is told with file, line
and path.
"""

from __future__ import annotations

from replayproxy.settings.loading import CONFIG_NAME, load, rights_from
from replayproxy.settings.manual import manual
from replayproxy.settings.model import Episode, Settings, TimeRule, Webhook
from replayproxy.settings.schema import SCHEMA_FILE, schema
from replayproxy.settings.template import template

__all__ = [
    "CONFIG_NAME",
    "SCHEMA_FILE",
    "Episode",
    "Settings",
    "TimeRule",
    "Webhook",
    "load",
    "manual",
    "rights_from",
    "schema",
    "template",
]
