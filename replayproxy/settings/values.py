"""How the texts of a configuration are read: hosts, selectors, patterns, requests, addresses, clocks.

Each function takes text and returns what it spells, or raises ValueError that says what is wrong with it.
"""

from __future__ import annotations

import ipaddress
import re
from fnmatch import translate
from urllib.parse import urlsplit

from replayproxy.core.canonical.jsonpath import JsonPath
from replayproxy.core.canonical.rules import RULE_IDS
from replayproxy.core.exchange import normal_host
from replayproxy.core.provider import Selector
from replayproxy.core.shape import nearest

_GLOB = re.compile(r"[\w.*?:\[\]!-]+")
_REQUEST = re.compile(r"[A-Z*?][A-Z0-9*?!#$%&'+.^_`|~-]* [/*]\S*")
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_CLOCK = re.compile(rf"recorded|seed|{_MOMENT}(@[0-9]+(\.[0-9]+)?)?|https?://\S+")


def host_glob(text: str) -> str:
    """A host, or a glob of hosts, in the form in which hosts are compared."""
    if "/" in text:
        raise ValueError(f"found {text!r} where a host belongs: leave scheme and path out")
    if re.fullmatch(r"[^:]*:[0-9]*", text) or "]:" in text:
        raise ValueError(f"found {text!r} where a host belongs: leave the port out, a provider is known by its hosts")
    if not _GLOB.fullmatch(text):
        raise ValueError(f"found {text!r} where a host or a glob of hosts belongs")
    if not re.search(r"[*?]|\[.*[^0-9a-f:.].*\]", text):
        return _address(text) or normal_host(text)
    translate(text)
    return ".".join(label if label.isascii() else normal_host(label) for label in text.lower().split("."))


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        return ""


def selector(text: str) -> Selector:
    """A selector whose JSON path or regular expression can be used."""
    try:
        found = Selector.parse(text)
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is not a regular expression that can be used: {error}") from error
    if found.kind == "json":
        JsonPath.parse(found.name)
    return found


def field_selector(text: str) -> Selector:
    """A selector of a field: anything but `path:`."""
    found = selector(text)
    if found.kind == "path":
        raise ValueError(f"found {text!r}: a path has no place here, only header, query, form and json")
    return found


def rule_taken_back(text: str) -> str:
    """The id of a built-in matching rule, or a selector."""
    if text in RULE_IDS:
        return text
    if ":" not in text:
        close = nearest(text, sorted(RULE_IDS))
        raise ValueError(f"there is no matching rule {text!r}" + (f": {close}" if close.startswith("did") else ""))
    selector(text)
    return text


def expression(text: str) -> str:
    """A regular expression that matches something."""
    try:
        compiled = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from error
    if compiled.search(""):
        raise ValueError(f"{text!r} matches empty text, so it would mask between any two characters")
    return text


def request_glob(text: str) -> str:
    """`METHOD PATH`, both with globs."""
    if not _REQUEST.fullmatch(text):
        raise ValueError(f"found {text!r} where METHOD PATH belongs, such as POST /v1/search/*")
    return text


def file_name(text: str) -> str:
    """The path of a file or folder."""
    if not text.strip() or "\x00" in text:
        raise ValueError(f"found {text!r} where the path of a file belongs")
    return text


def name(text: str) -> str:
    """A name of the user's own: letters, digits, dot, underscore and hyphen."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        raise ValueError(f"found {text!r} where a name (letters, digits, dots, underscores, hyphens) belongs")
    return text


def literal_url(text: str) -> str:
    """An http or https URL whose host is an IP address: nothing else is ever dialled."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _address(parts.hostname):
        raise ValueError(f"found {text!r} where a URL with a literal address belongs, such as http://127.0.0.1:9000/")
    return text


def listen_address(text: str) -> str:
    """`HOST:PORT` with a literal address."""
    host, colon, port = text.rpartition(":")
    if not colon or not _address(host) or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"found {text!r} where ADDRESS:PORT belongs, such as 127.0.0.1:9001")
    return text


def source_address(text: str) -> str:
    """An IP address, in its one spelling."""
    if address := _address(text):
        return address
    raise ValueError(f"found {text!r} where an IP address belongs")


def clock(text: str) -> str:
    """A clock, as `--clock` takes it."""
    if not _CLOCK.fullmatch(text):
        raise ValueError(f"found {text!r} where a clock (recorded, a moment, a moment@RATE, seed or a URL) belongs")
    return text
