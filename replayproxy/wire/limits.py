"""How much one client may ask of a connection before it is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one client connection; sizes in octets, times in seconds, None for no bound.

    `head_octets`: request line and fields together, or a decoded HTTP/2 field section (431). `target_octets`: the
    request target (414). `fields`: field lines of one head (431). `body_octets`: a request body (413).
    `trailer_octets`: a trailer section (431). `chunk_extension_octets`: all chunk extensions of one body (400).
    `pipelined_octets`: what arrived behind a request whose answer is owed; more is dropped, and the connection closes
    after that answer, as RFC 9112 section 9.3.2 lets it. `streams`: HTTP/2 exchanges at once. `control_frames`: HTTP/2
    frames that ask for nothing, and resets of requests, that a client may send ahead of finished answers.
    `idle_seconds` and `connections` are kept by the host, which has the clock and the sockets.
    """

    head_octets: int = 65_536
    target_octets: int = 32_768
    fields: int = 256
    body_octets: int | None = None
    trailer_octets: int = 16_384
    chunk_extension_octets: int = 16_384
    pipelined_octets: int = 262_144
    streams: int = 128
    control_frames: int = 1_000
    idle_seconds: float = 300.0
    connections: int = 4_096
