"""Asks the chat for a whole answer and for a streamed one, and prints the stream event by event.

python examples/vendors/client_chat.py [BASE]
"""

from __future__ import annotations

import json
import sys
import urllib.request
from http.client import HTTPResponse
from typing import Any, cast

BASE = "https://chat.vendors.example"
KEY = "sk-chat-vendor-0f3e9d6c2b7a4815"
MODEL = "parrot-1"
TIMEOUT_SECONDS = 30.0


def send(url: str, value: Any = None) -> HTTPResponse:
    """The answer, not yet read; an error's status raises HTTPError."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    body = None if value is None else json.dumps(value, ensure_ascii=False).encode()
    request = urllib.request.Request(url, data=body, headers=headers)
    return cast("HTTPResponse", urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS))


def main(base: str) -> int:
    """Print models, a whole completion and the events of a streamed one; 1 if the stream does not end."""
    with send(f"{base}/v1/models") as answer:
        print("models", *(each["id"] for each in json.load(answer)["data"]))
    messages = [{"role": "user", "content": "Tea for two, 謝謝"}]
    with send(f"{base}/v1/chat/completions", {"model": MODEL, "messages": messages}) as answer:
        whole = json.load(answer)
        print(whole["id"], whole["created"], whole["choices"][0]["message"]["content"])
    streamed = {"model": MODEL, "messages": messages, "stream": True}
    with send(f"{base}/v1/chat/completions", streamed) as answer:
        for line in answer:
            data = line.decode().removeprefix("data: ").strip()
            if data == "[DONE]":
                print("done")
                return 0
            if data:
                event = json.loads(data)
                print(
                    event["id"],
                    event["created"],
                    json.dumps(event["choices"][0]["delta"], ensure_ascii=False),
                )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else BASE))
