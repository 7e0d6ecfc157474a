"""Sockets to listen on. No name is resolved: an address is a literal, or `localhost`."""

from __future__ import annotations

import errno
import os
import socket
import stat
from ipaddress import ip_address
from pathlib import Path

from replayproxy.core.errors import OperationError, UsageError

BACKLOG = 1024


def tcp_socket(host: str, port: int) -> socket.socket:
    """A listening socket on HOST and PORT (0 picks one), which accepted sockets inherit their no-delay from.

    Raises UsageError for a host that is no address, OperationError that names the address where it cannot be had.
    """
    family = _family(host)
    # With protocol 0 asyncio does not take it for TCP, and leaves Nagle's delay on.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # `::` is every address, IPv4 too
        made.bind(("127.0.0.1" if host == "localhost" else host.strip("[]"), port))
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise _not_listening(f"{host}:{port}", error) from error
    return made


def _family(host: str) -> socket.AddressFamily:
    if host == "localhost":
        return socket.AF_INET
    try:
        version = ip_address(host.strip("[]")).version
    except ValueError as error:
        raise UsageError(
            f"cannot listen on {host}: it is not an address, and no name is resolved here",
            hint="give an address such as 127.0.0.1, 0.0.0.0 or [::1]",
        ) from error
    return socket.AF_INET if version == 4 else socket.AF_INET6


def unix_socket(path: Path) -> socket.socket:
    """A listening socket at PATH that only its owner may open; one that nobody listens on any more makes way.

    Raises OperationError where PATH is in use, is no socket, or cannot be made.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _make_way(path)
        mask = os.umask(0o177)
        try:
            made.bind(str(path))
        finally:
            os.umask(mask)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise _not_listening(f"unix:{path}", error) from error
    return made


def _make_way(path: Path) -> None:
    """Remove the socket at PATH if nobody listens on it; raises OSError if it cannot be removed or is in use."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FileExistsError(errno.EEXIST, "there is a file that is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    path.unlink()


def _not_listening(address: str, error: OSError) -> OperationError:
    hints = {
        errno.EADDRINUSE: "another program has it: give another address, or port 0 to pick a free one",
        errno.EADDRNOTAVAIL: "give an address of this machine, such as 127.0.0.1",
        errno.EACCES: "give a port above 1023, or a place that you may write to",
    }
    hint = hints.get(error.errno or 0, "give another address")
    return OperationError(f"cannot listen on {address}: {error.strerror or error}", hint=hint)
