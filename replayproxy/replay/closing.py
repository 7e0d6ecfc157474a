"""Ending a connection so that the client sees the end that was meant."""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from functools import partial

from replayproxy.replay.delivery import Timers

LINGER_SECONDS = 1.0
"""How long a client that was sent its last octet may go on sending before it is cut off."""
RESET_WAIT_SECONDS = 0.005
RESET_WAITS = 200


def reset_when_sent(loop: Timers, transport: asyncio.Transport, waits: int = RESET_WAITS) -> None:
    """Reset the connection (RST) once what was written is on its way; a client that does not read is not waited for."""
    if transport.is_closing():
        return
    if waits and (transport.get_write_buffer_size() or _unsent(transport)):
        loop.call_later(RESET_WAIT_SECONDS, partial(reset_when_sent, loop, transport, waits - 1))
        return
    found = transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _unsent(transport: asyncio.Transport) -> int:
    """Octets that the kernel has not had acknowledged; they would be lost by a reset."""
    found = transport.get_extra_info("socket")
    if found is None:
        return 0
    try:
        answer = fcntl.ioctl(found.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
    except OSError:
        return 0  # this system cannot tell
    return int(struct.unpack("i", answer)[0])
