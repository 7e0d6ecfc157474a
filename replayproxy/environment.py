"""The environment that leads a client to the proxy and makes it trust the interception CA.

Each variable is read by some client and by no other. Nothing here changes the environment of this process.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from replayproxy.authority import TRUSTSTORE_PASSWORD
from replayproxy.core.errors import UsageError

SCHEMA = "replayproxy.env/1"
PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
"""Set in upper and lower case: curl reads http_proxy in lower case only, grpc all of them."""
BUNDLE_NAMES = (
    "SSL_CERT_FILE",  # OpenSSL, Go, httpx
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "DENO_CERT",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "HTTPLIB2_CA_CERTS",
)
DIVERTING_NAMES = frozenset(
    {"ws_proxy", "ftp_proxy", "socks_proxy", "grpc_proxy", "no_grpc_proxy", "ssl_cert_dir"}
    | {"npm_config_proxy", "npm_config_https_proxy", "npm_config_noproxy", "npm_config_cafile"}
    | {"cargo_http_proxy", "pip_proxy", "git_proxy_command", "deno_tls_ca_store"}
)
"""Variables of the caller, in lower case, that some client prefers to those set here."""

type Format = Literal["shell", "dotenv", "json", "docker"]


def proxy_url(host: str, port: int, episode: str = "") -> str:
    """The URL of the proxy for a client on this machine, given the address it listens on.

    An address that stands for all of the machine becomes loopback, IPv6 gets its brackets, and EPISODE
    goes in as the user name (its password is of no account).
    """
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        name = host
    else:
        if address.is_unspecified:
            address = ip_address("127.0.0.1" if address.version == 4 else "::1")
        name = f"[{address}]" if address.version == 6 else str(address)
    user = f"{quote(episode, safe='')}:x@" if episode else ""
    return f"http://{user}{name}:{port}"


def variables(url: str, *, ca: Path, bundle: Path, truststore: Path, java_options: str = "") -> dict[str, str]:
    """The variables that lead a client to the proxy at URL; see the contract for which client reads which.

    CA is the file with the interception CA alone, BUNDLE the one with the public roots too, TRUSTSTORE
    the same for Java. JAVA_OPTIONS is what JAVA_TOOL_OPTIONS holds already; it stays in front, so that
    ours decide.
    """
    found: dict[str, str] = {}
    for name in PROXY_NAMES:
        found[name] = found[name.lower()] = url
    found["WSS_PROXY"] = url
    found["NO_PROXY"] = found["no_proxy"] = ""
    found |= dict.fromkeys(BUNDLE_NAMES, str(bundle))
    found["NODE_USE_ENV_PROXY"] = "1"
    found["JAVA_TOOL_OPTIONS"] = " ".join(filter(None, [java_options.strip(), *_java(url, truststore)]))
    found["REPLAYPROXY_URL"] = url
    found["REPLAYPROXY_CA"] = str(ca)
    return found


def child_environment(
    caller: Mapping[str, str], ours: Mapping[str, str], *, secrets: Iterable[str] = ()
) -> dict[str, str]:
    """CALLER's environment with OURS in it, for the program after `--`.

    Variables of the caller that differ from ours in case only, or that some client prefers to ours, are
    gone, and so is any whose value holds one of SECRETS (the control token).
    """
    withheld = [secret for secret in secrets if secret]
    taken = {name.lower() for name in ours} | DIVERTING_NAMES
    kept = {
        name: value
        for name, value in caller.items()
        if name.lower() not in taken and not any(secret in value for secret in withheld)
    }
    return {**kept, **ours}


def render(found: Mapping[str, str], form: Format) -> str:
    """FOUND as text that the tool named by FORM reads, one variable a line, in the given order.

    `shell`: `export` lines for a POSIX shell. `dotenv`: as Compose, python-dotenv and Node read it,
    without interpolation. `json`: an object with `schema` and `variables`. `docker`: a file for `docker
    run --env-file`, which knows no quotes. Raises UsageError for a value that the form has no way to say.
    """
    if form == "json":
        return json.dumps({"schema": SCHEMA, "variables": dict(found)}, indent=2, ensure_ascii=False) + "\n"
    line = _LINES[form]
    return "".join(f"{line(name, value)}\n" for name, value in found.items())


# -- Java -------------------------------------------------------------------------------------------


def _java(url: str, truststore: Path) -> list[str]:
    """Options for JAVA_TOOL_OPTIONS; no host is exempt, where Java by default exempts loopback."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", str(parts.port or 80)
    properties = {
        "javax.net.ssl.trustStore": str(truststore),
        "javax.net.ssl.trustStorePassword": TRUSTSTORE_PASSWORD,
        "javax.net.ssl.trustStoreType": "PKCS12",
        "http.proxyHost": host,
        "http.proxyPort": port,
        "https.proxyHost": host,
        "https.proxyPort": port,
        "http.nonProxyHosts": "",
    }
    return [f"-D{name}={_java_quoted(value)}" for name, value in properties.items()]


def _java_quoted(value: str) -> str:
    """VALUE as the JVM reads it from a variable: split at white space outside quotes, no escapes."""
    pieces = re.findall(r"[^\s'\"]+|[\s\"]+|'+", value)
    return "".join(_java_piece(piece) for piece in pieces)


def _java_piece(piece: str) -> str:
    if "'" in piece:
        return f'"{piece}"'
    return f"'{piece}'" if re.search(r"[\s\"]", piece) else piece


# -- forms ------------------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def _shell(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _dotenv(name: str, value: str) -> str:
    if _BARE.fullmatch(value):
        return f"{name}={value}"
    if "'" not in value and "\n" not in value:
        return f"{name}='{value}'"
    escaped = re.sub(r'([\\"$])', r"\\\1", value).replace("\n", r"\n")
    return f'{name}="{escaped}"'


def _docker(name: str, value: str) -> str:
    if "\n" in value or "\r" in value:
        raise UsageError(
            f"{name} cannot be written for docker: an env-file has no way to say a line break",
            hint="use `--format json`, or take the line break out of the value",
        )
    return f"{name}={value}"


_LINES: dict[str, Callable[[str, str], str]] = {"shell": _shell, "dotenv": _dotenv, "docker": _docker}
