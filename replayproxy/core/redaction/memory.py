"""Fields that came before: most fields of most requests are the same again and again, and need be read only once.

What a field becomes depends on the field, the rules, and what a vault knows. So what is remembered holds for one host
and one state of one vault; a new state forgets it all. Held in memory only, like the vault.
"""

from __future__ import annotations

from dataclasses import replace

from replayproxy.core.exchange import Headers, Request
from replayproxy.core.redaction import documents, fields
from replayproxy.core.redaction.message import Notes
from replayproxy.core.redaction.text import Search
from replayproxy.core.redaction.vault import Vault

HELD = 4096
"""How many fields are remembered; when there are more, all are forgotten."""
LONGEST = 4096
"""Fields with longer values are read each time."""


class Memory:
    """What fields of requests became, for a VAULT that knows what was recorded."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._state = vault.state
        self._held: dict[tuple[str, str, str], tuple[str, Notes, Vault]] = {}

    def headers(self, request: Request, search: Search, notes: Notes) -> Headers:
        """The fields of REQUEST, masked; SEARCH, within the vault, learns what they teach."""
        if self._state != self._vault.state or len(self._held) > HELD:
            self._held.clear()
            self._state = self._vault.state
        host = request.origin.host
        made = tuple((name, self._header(host, name, value, search, notes)) for name, value in request.headers)
        if len(search.vault) == len(self._vault):
            return made
        together = "\n".join(value for name, value in made if name.lower() not in fields.PLAIN)
        return _masked(made, search, notes) if documents.known(search, together, "") else made

    def _header(self, host: str, name: str, value: str, search: Search, notes: Notes) -> str:
        if len(value) > LONGEST or search.vault.may_hold_new(value):
            return _read(name, value, search, notes)
        key = (host, name, value)
        if key not in self._held:
            alone, found = self._vault.inner(), Notes()
            self._held[key] = (_read(name, value, replace(search, vault=alone), found), found, alone)
        made, found, taught = self._held[key]
        if found:
            notes += found
            search.vault.absorb(taught)
        return made


def _read(name: str, value: str, search: Search, notes: Notes) -> str:
    return notes.mask(value, lambda text: fields.header(search, name, text, "request.header"))


def _masked(headers: Headers, search: Search, notes: Notes) -> Headers:
    """HEADERS, each read by itself, without what other parts of the request have taught."""

    def masked(name: str, value: str) -> str:
        at = f"request.header:{name}"
        return notes.mask(value, lambda text: [] if name in fields.PLAIN else documents.known(search, text, at))

    return tuple((name, masked(name.lower(), value)) for name, value in headers)
