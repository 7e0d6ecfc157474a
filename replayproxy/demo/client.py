"""The client of the demo: an ordinary program on urllib, which takes proxy and CA from its environment.

    python client.py BASE            orders tea at BASE and prints what it got, line by line
    python client.py --fetch URL     prints the status of one request and what decided it

It knows nothing of replayproxy. It imports the standard library only, so that it runs by its path.
"""

from __future__ import annotations

import json
import secrets
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPResponse
from typing import Any, cast

TIMEOUT_SECONDS = 30.0
CREDENTIALS = {
    "grant_type": "client_credentials",
    "client_id": "demo",
    "client_secret": "demo-secret-2f6b1c9a7d",
}


def send(method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> HTTPResponse:
    """The answer to one request; answers that are errors are answers too."""
    request = urllib.request.Request(url, data=body, headers=dict(headers or {}), method=method)
    try:
        return cast("HTTPResponse", urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        return cast("HTTPResponse", error)


def say(what: str, answer: HTTPResponse) -> bytes:
    """Print status and body of ANSWER under the heading WHAT, and give the body back."""
    body = answer.read()
    print(f"{what}: {answer.status} {body.decode()}".rstrip())
    return body


def order_tea(base: str) -> None:
    """A token, an order that is written and read, and the stream of its events."""
    form = urllib.parse.urlencode(CREDENTIALS).encode()
    token: Any = json.loads(send("POST", f"{base}/oauth/token", body=form).read())
    # A fresh key for each run, as real clients send it: replay must not depend on it.
    headers = {"Authorization": f"Bearer {token['access_token']}", "Idempotency-Key": secrets.token_hex(16)}
    as_json = {**headers, "Content-Type": "application/json"}
    wanted = json.dumps({"item": "oolong", "quantity": 2}).encode()
    order: Any = json.loads(say("ordered", send("POST", f"{base}/v1/orders", as_json, wanted)))
    path = f"{base}/v1/orders/{order['id']}"
    say("before", send("GET", path, headers))
    say("advanced", send("POST", f"{path}/advance", headers, b""))
    say("after", send("GET", path, headers))
    say("events", send("GET", f"{path}/events", headers))


def fetch(url: str) -> None:
    """One request, of which the status and the deciding header are printed."""
    answer = send("GET", url)
    print(answer.status, answer.headers.get("x-replayproxy-decision", "-"))


def main(arguments: list[str]) -> int:
    """Run as the module says; 2 where the arguments say neither."""
    match arguments:
        case ["--fetch", url]:
            fetch(url)
        case [base] if not base.startswith("-"):
            order_tea(base)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
