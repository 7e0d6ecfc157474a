"""What both ends of an HTTP/2 connection share: octets in by the frame, bodies out as far as windows allow.

hyper-h2 keeps the state of the protocol. It is fed one frame at a time, so that what came before a fault is told, and
so that a GOAWAY, after which it would refuse to go on, leaves the open streams to end (RFC 9113 section 6.8).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from hpack import HPACKError
from hyperframe.exceptions import HyperframeError

from replayproxy.core.exchange import Headers
from replayproxy.wire.names import TOKEN

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEAD = 9
LONGEST_FRAME = 16_384
"""SETTINGS_MAX_FRAME_SIZE that is announced, the smallest there is; sizes in octets from here on."""
STREAM_WINDOW = 1_048_576
CONNECTION_WINDOW = 16_777_216

type RawHeaders = list[tuple[bytes, bytes]]


class BrokenConnection(Exception):  # noqa: N818 -- not an error of ours: it ends one connection
    """The other end broke HTTP/2; a GOAWAY that says so is among the octets to send. `why` in one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Framed(h2.connection.H2Connection):
    """A connection of hyper-h2 that is fed by the frame and survives a GOAWAY."""

    def __init__(self, *, client_side: bool, streams: int, header_octets: int) -> None:
        super().__init__(
            h2.config.H2Configuration(client_side=client_side, header_encoding=None, normalize_inbound_headers=False)
        )
        codes = h2.settings.SettingCodes
        settings = {
            codes.MAX_CONCURRENT_STREAMS: streams,
            codes.MAX_HEADER_LIST_SIZE: header_octets,
            codes.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
        }
        if client_side:
            settings[codes.ENABLE_PUSH] = 0
        self.local_settings = h2.settings.Settings(client=client_side, initial_values=settings)
        self.decoder.max_header_list_size = header_octets
        self._octets = bytearray()
        self._preface = len(PREFACE) if not client_side else 0
        self.initiate_connection()
        self.increment_flow_control_window(CONNECTION_WINDOW - 65_535)

    @property
    def partial(self) -> bool:
        """Whether part of a frame has arrived."""
        return bool(self._octets)

    def events_in(self, data: bytes) -> Iterator[h2.events.Event]:
        """What the frames that DATA completes say; raises BrokenConnection after the last good one."""
        self._octets += data
        for frame in self._frames():
            try:
                events = self.receive_data(frame)
            except h2.exceptions.ProtocolError as error:
                self._ensure_goaway()
                raise BrokenConnection(str(error) or type(error).__name__) from None
            except (HPACKError, HyperframeError, ValueError) as error:
                self._ensure_goaway()
                raise BrokenConnection(str(error) or type(error).__name__) from None
            yield from events

    def _ensure_goaway(self) -> None:
        """Sends a GOAWAY unless hyper-h2 has, which it does for what it finds wrong in a frame."""
        if self.state_machine.state is not h2.connection.ConnectionState.CLOSED:
            self.terminate(h2.errors.ErrorCodes.PROTOCOL_ERROR)

    def _frames(self) -> Iterator[bytes]:
        octets = self._octets
        if self._preface:
            head = bytes(octets[: self._preface])
            self._preface -= len(head)
            del octets[: len(head)]
            if head:
                yield head
        at = 0
        try:
            while len(octets) - at >= FRAME_HEAD:
                size = FRAME_HEAD + int.from_bytes(octets[at : at + 3])
                if size > FRAME_HEAD + LONGEST_FRAME:  # hyper-h2 would read all of it before it refuses
                    self.terminate(h2.errors.ErrorCodes.FRAME_SIZE_ERROR)
                    raise BrokenConnection(f"a frame is longer than {LONGEST_FRAME} octets")
                if len(octets) - at < size:
                    return
                at += size
                yield bytes(octets[at - size : at])
        finally:
            del octets[:at]

    def go_on(self) -> None:
        """Lets the open streams end after a GOAWAY, sent or received."""
        states = h2.connection.ConnectionState
        self.state_machine.state = states.CLIENT_OPEN if self.config.client_side else states.SERVER_OPEN

    def terminate(self, code: h2.errors.ErrorCodes) -> None:
        """Sends a GOAWAY with CODE; nothing can be sent after it."""
        self.close_connection(code)

    def acknowledge(self, event: h2.events.DataReceived) -> None:
        """Opens the windows again by what EVENT took."""
        if event.flow_controlled_length:
            self.acknowledge_received_data(event.flow_controlled_length, event.stream_id)


class Outgoing:
    """What one stream still has to send."""

    __slots__ = ("ended", "head", "pieces", "reset", "trailers")

    def __init__(self) -> None:
        self.head: RawHeaders | None = None
        """A head that waits to see whether a body follows, so that one without gets END_STREAM."""
        self.pieces: deque[bytes] = deque()
        self.ended = False
        self.trailers: RawHeaders = []
        self.reset: h2.errors.ErrorCodes | None = None
        """The code to reset the stream with once all is sent."""

    def put(self, octets: bytes) -> None:
        """Adds octets to send."""
        if octets:
            self.pieces.append(octets)


def pump(connection: Framed, stream: int, out: Outgoing) -> bool:
    """Sends of OUT what the windows allow; whether all is sent, the end included."""
    last = out.ended and not out.trailers and out.reset is None
    if out.head is not None:
        bare = last and not out.pieces
        connection.send_headers(stream, out.head, end_stream=bare)
        out.head = None
        if bare:
            return True
    while out.pieces:
        room = min(connection.local_flow_control_window(stream), connection.max_outbound_frame_size)
        if room <= 0:
            return False
        piece = out.pieces.popleft()
        if len(piece) > room:
            out.pieces.appendleft(piece[room:])
            piece = piece[:room]
        done = last and not out.pieces
        connection.send_data(stream, piece, end_stream=done)
        if done:
            return True
    if out.reset is not None:
        connection.reset_stream(stream, out.reset)
    elif not out.ended:
        return False
    elif out.trailers:
        connection.send_headers(stream, out.trailers, end_stream=True)
    else:
        connection.end_stream(stream)
    return True


def field_lines(headers: Headers) -> RawHeaders:
    """HEADERS, names lower case, as hyper-h2 takes them; raises ValueError for what cannot be sent."""
    lines = []
    for name, value in headers:
        if not TOKEN.fullmatch(name):
            raise ValueError(f"not a field name: {name!r}")
        if "\r" in value or "\n" in value or "\0" in value:
            raise ValueError("a line end or NUL is in a field value")
        lines.append((name.lower().encode("ascii"), value.encode("latin-1")))
    return lines


def text(headers: RawHeaders) -> Headers:
    """The fields that are no pseudo-fields, as text; crumbs of Cookie joined where the first was (RFC 9113 8.2.3)."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name[:1] != b":"]
    crumbs = [value for name, value in fields if name == "cookie"]
    if len(crumbs) < 2:
        return tuple(fields)
    at = next(index for index, field in enumerate(fields) if field[0] == "cookie")
    kept = [field for field in fields if field[0] != "cookie"]
    kept.insert(at, ("cookie", "; ".join(crumbs)))
    return tuple(kept)
