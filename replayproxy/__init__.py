"""replayproxy records an application's third-party HTTP calls once and replays them exactly.

Four nouns: an **interaction** is a request and its answer; a **cassette** is a file of them, with a rights **tag**; an
**episode** is one run against cassettes, with cursors, clock and journal of its own.

Three flows, each followed function by function in docs/architecture.md: record (`mitm.layer` → `core.recorder` →
`store`), replay (`engine.native` → `core.replayer`), audit (`store` → `core.rights`).
"""

from importlib import metadata


def __getattr__(name: str) -> str:
    """`__version__`, looked up when asked for: a checkout that is not installed can still be imported."""
    if name == "__version__":
        return metadata.version(__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
