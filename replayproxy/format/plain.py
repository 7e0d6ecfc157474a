"""One interaction as JSON text and back: the values of the cassette file, checked by the same table.

For what is made of cassettes and read again piece by piece. Octets that are no text are `{"!!binary": BASE64}`.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final

from replayproxy.core.exchange import Interaction
from replayproxy.format.bodies import InlineBodies
from replayproxy.format.document import MisfitError
from replayproxy.format.reading import interaction_of
from replayproxy.format.table import INTERACTION
from replayproxy.format.writing import interaction_value

_BINARY: Final = "!!binary"
_BODIES: Final = InlineBodies()
"""It gathers nothing, so that one serves all."""


def to_json(interaction: Interaction) -> str:
    """INTERACTION with all its bodies that are in memory, on one line.

    Raises ValueError for one that JSON text would not give back exactly.
    """
    value = interaction_value(interaction, _BODIES)
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=_octets)
    if from_json(text) != interaction:
        raise ValueError(f"the interaction {interaction.id} cannot be said in JSON")
    return text


def from_json(text: str) -> Interaction:
    """The inverse of `to_json`; raises ValueError for anything that is no interaction of a cassette."""
    try:
        value = json.loads(text, object_hook=_value) if _BINARY in text else json.loads(text)
        INTERACTION.check(value)
        return interaction_of(value, 0)
    except (MisfitError, binascii.Error) as error:
        raise ValueError(f"no interaction: {error}") from error


def _octets(value: Any) -> dict[str, str]:
    if isinstance(value, bytes):
        return {_BINARY: base64.b64encode(value).decode("ascii")}
    raise ValueError(f"a {type(value).__name__} cannot be said in JSON")


def _value(value: dict[str, Any]) -> Any:
    return base64.b64decode(value[_BINARY], validate=True) if value.keys() == {_BINARY} else value
