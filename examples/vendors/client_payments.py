"""Makes a payment, polls it until it is authorized, captures it, and looks at what has changed.

python examples/vendors/client_payments.py [BASE]
"""

from __future__ import annotations

import json
import secrets
import sys
import urllib.error
import urllib.request
from http.client import HTTPResponse
from typing import Any, cast

BASE = "https://payments.vendors.example"
KEY = "payments-key-51d0c8b7aa"
TIMEOUT_SECONDS = 30.0
MOST_POLLS = 10


def send(method: str, url: str, value: Any = None, idempotency_key: str = "") -> Any:
    """The JSON of the answer, whatever its status."""
    headers = {"X-API-Key": KEY, "Content-Type": "application/json"}
    if idempotency_key:
        headers["Idempotency-Key"] = idempotency_key
    body = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        answer = cast("HTTPResponse", urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS))
    except urllib.error.HTTPError as error:
        answer = cast("HTTPResponse", error)
    with answer:
        return json.load(answer)


def main(base: str) -> int:
    """Print each state of the payment and the balance on both sides of the capture; 1 if it never settles."""
    key = secrets.token_hex(16)  # new for each run, as it should be
    wanted = {"amount": 4200, "currency": "EUR", "reference": "order 17"}
    payment = send("POST", f"{base}/v1/payments", wanted, key)
    print("created", payment["id"], payment["status"], payment["created_at"])
    print("same key, same payment", send("POST", f"{base}/v1/payments", wanted, key)["id"] == payment["id"])
    url = f"{base}/v1/payments/{payment['id']}"
    for _ in range(MOST_POLLS):
        payment = send("GET", url)
        print("polled", payment["status"])
        if payment["status"] == "authorized":
            break
    else:
        return 1
    print("balance", send("GET", f"{base}/v1/balance")["captured"])
    print("noted", send("PATCH", url, {"note": "gift wrap"})["note"], send("GET", url)["note"])
    captured = send("POST", f"{url}/capture", {})
    print("captured", captured["status"], captured["captured_at"])
    print("after", send("GET", url)["status"], "balance", send("GET", f"{base}/v1/balance")["captured"])
    print("captured twice", send("POST", f"{url}/capture", {})["error"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else BASE))
