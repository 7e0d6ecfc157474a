"""The environment that `record` and `replay` give to CMD."""

from __future__ import annotations

import os
from collections.abc import Callable

from replayproxy import environment
from replayproxy.authority import Authority


def child_environment(authority: Authority, token: str) -> Callable[[str], dict[str, str]]:
    """CMD's environment, given the proxy's URL: the caller's, with what leads clients to us and without the token."""

    def made(url: str) -> dict[str, str]:
        ours = environment.variables(
            url,
            ca=authority.ca_pem,
            bundle=authority.bundle,
            truststore=authority.truststore,
            java_options=os.environ.get("JAVA_TOOL_OPTIONS", ""),
        )
        return environment.child_environment(os.environ, ours, secrets=[token])

    return made
