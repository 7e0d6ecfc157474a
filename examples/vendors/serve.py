"""Serves made-up vendors on loopback, for recording examples against.

    python examples/vendors/serve.py directory payments chat [--port 0] [--tls FOLDER]

When all serve, one line of JSON goes to stdout: `{"ca": PATH or null, "vendors": {NAME: {"host", "port",
"url"}}}`. `host` is the name their clients know them by; with --tls it is also the name in the certificate,
whose CA is made anew in FOLDER. SIGTERM and SIGINT stop it.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from chat import Chat
from directory import Directory
from payments import Payments

from replayproxy.demo.certificate import make
from replayproxy.demo.server import Dispatch, serving

VENDORS: dict[str, Callable[[], Dispatch]] = {"directory": Directory, "payments": Payments, "chat": Chat}


def host_of(name: str) -> str:
    """The name that the clients of vendor NAME use (RFC 2606: nobody's)."""
    return f"{name}.vendors.example"


def arguments(words: list[str]) -> argparse.Namespace:
    """The command line, read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=sorted(VENDORS), metavar="NAME", help=", ".join(VENDORS))
    parser.add_argument("--port", type=int, default=0, help="of the first; the others follow (default: any)")
    parser.add_argument("--tls", type=Path, metavar="FOLDER", help="speak TLS; write ca.pem and the key there")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """Serve until a signal comes; 0."""
    asked = arguments(words)
    # Blocked before any thread starts, so that the signal waits for sigwait below.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    identity = make(asked.tls, tuple(host_of(name) for name in asked.names)) if asked.tls else None
    with ExitStack() as stack:
        told = {}
        for index, name in enumerate(asked.names):
            tls = identity.context() if identity else None
            server = stack.enter_context(serving(VENDORS[name](), tls=tls, port=asked.port and asked.port + index))
            told[name] = {"host": host_of(name), "port": server.port, "url": server.url}
        authority = str(identity.authority.resolve()) if identity else None
        print(json.dumps({"ca": authority, "vendors": told}), flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
