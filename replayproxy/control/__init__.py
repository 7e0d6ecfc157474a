"""The control API as pure routers: method, path, query, fields and body in; status, fields and body out.

`routes` holds what every API of ours has in common: tokens, errors and the table of calls. `replay.Router` speaks for
the episodes of a replay, `record.RecordRouter` for a recording. Scenarios, webhooks and faster clocks are later work.
"""

from replayproxy.control.record import RecordRouter
from replayproxy.control.replay import Router

__all__ = ["RecordRouter", "Router"]
