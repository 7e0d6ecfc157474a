"""What the value of a credential field becomes: only what is secret in it is masked.

Of `Bearer abc` the token, of `Basic dXNlcjpwdw==` the password inside, of `Digest …, response="…"` the response, of
a PEM block what lies between its lines. All that is given and returned is octet text.
"""

from __future__ import annotations

import base64
import binascii
import re

from replayproxy.core.credentials import is_opaque, names_credential, shapes
from replayproxy.core.redaction.edits import Mask
from replayproxy.core.redaction.vault import Vault

type Concealed = tuple[str, tuple[Mask, ...]]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)( +)(\S.*)", re.DOTALL)
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/|:-]+=*")
_PARAMETER = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)=(\"?)([^\",\s]+)")
_SECRET_PARAMETERS = frozenset({"cnonce", "credential", "mac", "response", "sig", "signature", "token"})
_SCHEMES = frozenset(
    """apikey api-key basic bearer bot digest geniekey hawk hmac jwt key klaviyo-api-key oauth sharedkey signature
    splunk ssws token aws4-hmac-sha256 aws negotiate ntlm""".split()  # noqa: SIM905 - a table
)
_PEM = "private-key"


def conceal_value(vault: Vault, value: str, rule: str, *, words: bool = True) -> Concealed:
    """What VALUE, found by RULE, becomes, and what that hides."""
    scheme = _SCHEME.fullmatch(value)
    if scheme and (rule == "authorization" or scheme[1].lower() in _SCHEMES):
        made, masks = _credentials(vault, scheme[1].lower(), scheme[3], rule)
        return scheme[1] + scheme[2] + made, masks
    block = next((shape for shape in shapes(value) if shape.rule == _PEM), None)
    if block:
        made, masks = vault.conceal(value[block.start : block.end], rule, words=words)
        return value[: block.start] + made + value[block.end :], masks
    return vault.conceal(value, rule, words=words)


def reads_as_authorization(value: str) -> bool:
    """Whether VALUE, outside a header, is the value of an Authorization field and no prose about one."""
    scheme = _SCHEME.fullmatch(value)
    return is_opaque(value) if scheme is None else scheme[1].lower() in _SCHEMES


def _credentials(vault: Vault, scheme: str, rest: str, rule: str) -> Concealed:
    """What follows the name of a scheme (RFC 9110 section 11.4): a token, or parameters."""
    if scheme == "basic":
        return _basic(vault, rest, rule)
    if _TOKEN68.fullmatch(rest):
        return vault.conceal(rest, rule)
    out, position = "", 0
    masks: tuple[Mask, ...] = ()
    for parameter in _PARAMETER.finditer(rest):
        name = parameter[1].lower()
        if name not in _SECRET_PARAMETERS and not names_credential(name, "form") and "token" not in name:
            continue
        start, end = parameter.span(3)
        if name == "credential":
            end = start + len(parameter[3].partition("/")[0])
        made, more = vault.conceal(rest[start:end], rule)
        out, position, masks = out + rest[position:start] + made, end, masks + more
    return (out + rest[position:], masks) if position else vault.conceal(rest, rule)


def _basic(vault: Vault, coded: str, rule: str) -> Concealed:
    """Basic credentials (RFC 7617): the password is masked; where there is none, the user is the secret.

    The coded form is learnt too, for where it comes back as it is.
    """
    try:
        pair = base64.b64decode(coded.strip() + "=" * (-len(coded.strip()) % 4), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return vault.conceal(coded, rule)
    user, colon, password = pair.partition(":")
    masks: tuple[Mask, ...] = ()
    if not password or next(shapes(user), None):
        user, masks = vault.conceal(user, rule)
    password, more = vault.conceal(password, rule)
    masks += more
    if not masks:
        return coded, ()
    made = base64.b64encode(f"{user}{colon}{password}".encode("latin-1")).decode("ascii")
    made = (made.rstrip("=") + "=" * (len(coded) - len(coded.rstrip("=")))).ljust(len(coded), " ")
    vault.learn(coded, made, rule)
    return made, (*masks, Mask(rule, made))
