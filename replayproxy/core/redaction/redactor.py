"""The redactor of one cassette: masks what goes into it, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from replayproxy.core.exchange import Headers, Interaction, Redaction, Request
from replayproxy.core.provider import RedactRule
from replayproxy.core.redaction.memory import Memory
from replayproxy.core.redaction.message import Notes, redacted_request, redacted_response
from replayproxy.core.redaction.placeholder import octets_of, text_of
from replayproxy.core.redaction.stream import BodyStream
from replayproxy.core.redaction.text import Search
from replayproxy.core.redaction.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A credential that stands in a stored interaction: where, and by which rule. Never the credential."""

    rule: str
    at: str
    level: Literal["secret"] = "secret"


class Redactor:
    """Masks with one SALT (hex). RULES gives the user's rules for a host; PLACEHOLDERS are left as they are.

    It learns every credential that it masks, in memory only, and masks it wherever it comes back.
    """

    def __init__(
        self,
        salt: str,
        rules: Callable[[str], tuple[RedactRule, ...]] = lambda host: (),  # noqa: ARG005 - no rules of the user's
        placeholders: Iterable[str] = (),
    ) -> None:
        self._salt = salt
        self._rules = rules
        self._vault = Vault(salt, map(octets_of, placeholders))
        self._memory = Memory(self._vault)

    def redact(self, interaction: Interaction) -> Interaction:
        """INTERACTION without a credential in it; what was masked is listed in `redactions`, sorted.

        What it teaches holds for all that comes after. Masking it again changes nothing.
        """
        self._vault.recall(octets_of(one.placeholder) for one in interaction.redactions)
        known = -1
        while known != len(self._vault):  # What is learnt late is masked early too; only parts of it are learnt.
            known = len(self._vault)
            made, notes = self._masked(interaction, self._vault)
        new = (Redaction(at=at, rule=mask.rule, placeholder=text_of(mask.placeholder)) for at, mask in notes)
        ordered = sorted({*interaction.redactions, *new}, key=lambda one: (one.at, one.rule, one.placeholder))
        return replace(made, redactions=tuple(ordered))

    def redact_request(self, request: Request) -> Request:
        """REQUEST as it would have been recorded, for a look-up; the very same object where nothing is masked.

        Nothing that it teaches is kept.
        """
        vault = self._vault.inner()
        rules = self._rules(request.origin.host)
        after_fields = 0

        def read(request: Request, search: Search, notes: Notes) -> Headers:
            nonlocal after_fields
            headers = self._memory.headers(request, search, notes)
            after_fields = len(vault)
            return headers

        made = redacted_request(request, Search(vault, rules), Notes(), read)
        while after_fields != len(vault):  # What the target or the body taught can be in the fields too.
            made = redacted_request(request, Search(vault, rules), Notes(), read)
        return made

    def stream(self, host: str, content_type: str) -> BodyStream:
        """Masks a response body of HOST that is too large to be held; it learns as `redact` does."""
        return BodyStream(Search(self._vault, self._rules(host), sent=False), content_type, "response.body")

    def scan(self, interaction: Interaction) -> tuple[Finding, ...]:
        """The credentials that still stand in INTERACTION, each place and rule once; nothing is learnt."""
        own = (octets_of(one.placeholder) for one in interaction.redactions)
        _, notes = self._masked(interaction, Vault(self._salt, own, within=self._vault))
        return tuple(dict.fromkeys(Finding(rule=mask.rule, at=at) for at, mask in notes))

    def _masked(self, interaction: Interaction, vault: Vault) -> tuple[Interaction, Notes]:
        notes = Notes()
        rules = self._rules(interaction.request.origin.host)
        request = redacted_request(interaction.request, Search(vault, rules), notes)
        response = redacted_response(interaction.response, Search(vault, rules, sent=False), notes)
        return replace(interaction, request=request, response=response), notes
