"""Chat completions in the shape that OpenAI's API has made usual, whole or as a stream of events.

    GET  /v1/models
    POST /v1/chat/completions   {"model", "messages", "stream"?}; streamed: an event for each word, [DONE]

Identifiers, times and the choice of words are new for each run.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

from replayproxy.demo.server import Reply, Request, json_reply, now

KEY = "sk-chat-vendor-0f3e9d6c2b7a4815"
MODEL = "parrot-1"
OPENINGS = ("You said", "I heard", "So it was", "Let me repeat", "As you put it")
PAUSE_SECONDS = 0.01
"""Between two events, so that they arrive apart as a model's do."""


class Chat:
    """`Chat()(request)` is the answer to a request: an opening of its choice and the last message again."""

    def __call__(self, request: Request) -> Reply:
        """The answer to REQUEST."""
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return json_reply({"error": {"type": "invalid_api_key", "message": "Incorrect API key."}}, 401)
        match (request.method, request.path):
            case "GET", "/v1/models":
                return json_reply({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            case "POST", "/v1/chat/completions":
                return _complete(request)
        return json_reply({"error": {"type": "not_found", "message": f"No {request.path} here."}}, 404)


def _complete(request: Request) -> Reply:
    asked = request.json()
    if asked.get("model") != MODEL:
        return json_reply({"error": {"type": "model_not_found", "message": "No such model."}}, 404)
    text = f"{secrets.choice(OPENINGS)}: {asked['messages'][-1]['content']}"
    common = {"id": f"chatcmpl-{secrets.token_hex(12)}", "created": int(now().timestamp()), "model": MODEL}
    named = ("x-request-id", f"req_{secrets.token_hex(12)}")
    if asked.get("stream"):
        headers = (("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache"), named)
        return Reply(headers=headers, body=_events(common, text))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"completion_tokens": len(text.split()), "prompt_tokens": len(asked["messages"])}
    return json_reply({**common, "object": "chat.completion", "choices": [choice], "usage": usage}, 200, named)


def _events(common: dict[str, Any], text: str) -> Iterator[bytes]:
    words = text.split(" ")
    pieces = [words[0], *(f" {word}" for word in words[1:])]
    for piece in pieces:
        yield _event({**common, **_delta({"content": piece}, None)})
        time.sleep(PAUSE_SECONDS)
    yield _event({**common, **_delta({}, "stop")})
    yield b"data: [DONE]\n\n"


def _delta(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()
