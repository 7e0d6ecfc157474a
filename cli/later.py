"""Commands of the contract that this version does not have yet: they say so and do nothing."""

from __future__ import annotations

import click

from replayproxy.core.errors import OperationError

LATER = {
    "rights": ("explain, attest and purge rights", "tags in a cassette are shown by `replayproxy show`"),
    "redact": ("remove secrets from cassettes that exist", "record again: masking is on by default; `scan` finds"),
    "pack": ("make one signed file of what a purpose allows", "`replayproxy audit` says what would be left out"),
    "import": ("read other tools' recordings", "cassettes of VCR.py 8 and later are replayed as they are"),
    "export": ("write other tools' recordings", "VCR.py 8 and later loads our cassettes as they are"),
    "drift": ("compare recordings with the live API", "record anew beside it and use `replayproxy diff`"),
    "verify-egress": ("try every known way out of a container", "`replay` opens no connection of its own"),
    "ca": ("manage the interception CA", "its files lie in the state folder; `replayproxy env` names them"),
    "keys": ("manage signing keys", "cassettes carry digests; `replayproxy verify` checks them"),
}


def later(name: str) -> click.Command:
    """A command that ends with code 3 and says what can be done instead."""
    summary, instead = LATER[name]

    @click.command(
        name,
        help=f"Not in this version: {summary}.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "allow_interspersed_args": False},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def command(arguments: tuple[str, ...]) -> None:
        del arguments
        raise OperationError(f"`replayproxy {name}` is not in this version", hint=instead)

    return command
