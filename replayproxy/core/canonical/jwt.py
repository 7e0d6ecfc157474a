"""What of a JSON Web Token (RFC 7519) stays the same when it is signed anew."""

from __future__ import annotations

import base64
import binascii
import json

_VARYING = frozenset({"iat", "exp", "nbf", "jti"})


def steady_jwt(token: str) -> str | None:
    """The algorithm and the claims of TOKEN but iat, exp, nbf and jti, as text; None where it is no JWT."""
    if not token.startswith("ey") or token.count(".") != 2:
        return None
    head, claims, _ = token.split(".")
    header, payload = _object(head), _object(claims)
    if header is None or payload is None:
        return None
    steady = {name: value for name, value in payload.items() if name not in _VARYING}
    return json.dumps(["jwt", header.get("alg"), steady], sort_keys=True, separators=(",", ":"))


def _object(part: str) -> dict[str, object] | None:
    try:
        octets = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        value = json.loads(octets, parse_float=str)
    except (binascii.Error, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
