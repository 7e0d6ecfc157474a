"""What of a token stays the same when it is signed anew."""

from __future__ import annotations

import base64
import json

import pytest

from replayproxy.core.canonical.jwt import steady_jwt


def token(header: object, claims: object, signature: str = "c2ln") -> str:
    """A JWT of these parts."""
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims))
    return ".".join([*parts, signature])


CLAIMS = {"iss": "x@y.test", "aud": "https://oauth.test/token", "iat": 1, "exp": 3601, "nbf": 1, "jti": "a"}


def test_signed_anew_it_is_the_same() -> None:
    """Times, token id, key id and signature do not matter; issuer, audience and algorithm do."""
    first = steady_jwt(token({"alg": "RS256", "kid": "1"}, CLAIMS))
    later = CLAIMS | {"iat": 9, "exp": 3609, "nbf": 9, "jti": "b"}
    assert first is not None
    assert steady_jwt(token({"alg": "RS256", "kid": "2"}, later, "b3RoZXI")) == first
    assert steady_jwt(token({"alg": "ES256"}, CLAIMS)) != first
    assert steady_jwt(token({"alg": "RS256"}, CLAIMS | {"iss": "z@y.test"})) != first
    assert steady_jwt(token({"alg": "RS256"}, CLAIMS | {"scope": "more"})) != first


@pytest.mark.parametrize(
    "text",
    [
        "",
        "opaque",
        "eyJ.eyJ",
        "eyJ.eyJ.eyJ",
        "ey!!.ey!!.x",
        token([1], CLAIMS),
        token({"alg": "RS256"}, [1]).replace("ey", "ey", 1),
        "ey" + base64.urlsafe_b64encode(b"[" * 100_000).decode() + "." + "e30.x",
    ],
)
def test_what_is_no_token(text: str) -> None:
    """Other text is no JWT, whatever it looks like."""
    assert steady_jwt(text) is None
