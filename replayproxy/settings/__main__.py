"""Prints what is generated from the table of settings: the JSON schema, or with `manual` the table as Markdown."""

from __future__ import annotations

import sys

from replayproxy.settings import manual, schema

sys.stdout.write(manual() if sys.argv[1:] == ["manual"] else schema())
