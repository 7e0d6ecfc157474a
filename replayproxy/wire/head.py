"""One HTTP/1 request head, or trailer section, out of octets that arrive in any pieces.

httptools (llhttp, strict) judges every octet; this module only finds where the head ends, so that what follows stays
out of the parser. Faults come at the octet that makes them sure, however the input is cut.
"""

from __future__ import annotations

import httptools

from replayproxy.wire.fault import ClientError
from replayproxy.wire.limits import Limits
from replayproxy.wire.names import TOKEN

type RawFields = list[tuple[bytes, bytes]]

END = b"\r\n\r\n"
METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"CONNECT", b"TRACE"})
"""Methods that the parser is shown as they are; any other token is shown to it as POST (RFC 9110 section 16.1)."""
LONGEST_METHOD = 64
TRAILER_START = b"GET / HTTP/1.1\r\n"


class _Collector:
    """What the parser calls; apart from the reader so that reader and parser form no cycle."""

    __slots__ = ("complete", "fields", "most_fields", "target")

    def __init__(self, most_fields: int) -> None:
        self.target = b""
        self.fields: RawFields = []
        self.complete = False
        self.most_fields = most_fields

    def on_url(self, piece: bytes) -> None:
        """The target, or a piece of it where the input was cut."""
        self.target += piece

    def on_header(self, name: bytes, value: bytes) -> None:
        """One whole field line; the parser joins pieces itself."""
        if len(self.fields) >= self.most_fields:
            raise ClientError(431, f"there are more than {self.most_fields} fields")
        self.fields.append((name, value))

    def on_headers_complete(self) -> None:
        """The empty line was read."""
        self.complete = True


class HeadReader:
    """Reads heads one after the other; `method`, `target`, `version` and `fields` are those of the last whole one.

    Values of `fields` have leading white space stripped, trailing white space not.
    """

    __slots__ = (
        "_buffer", "_collector", "_fed", "_head_octets", "_limits", "_parser", "_quick", "_start", "_target_end",
        "fields", "method", "target", "version",
    )  # fmt: skip

    def __init__(self, limits: Limits, start: bytes = b"", head_octets: int | None = None) -> None:
        """START is what to read before the first octet that arrives (`TRAILER_START` for a trailer section)."""
        self._limits = limits
        self._head_octets = len(start) + (limits.head_octets if head_octets is None else head_octets)
        self._quick = min(self._head_octets, limits.target_octets)
        self._start = start
        self.method = self.target = b""
        self.version = ""
        self.fields: RawFields = []
        self._buffer = bytearray()
        self._renew()

    def _renew(self) -> None:
        self._buffer = bytearray(self._start)
        self._fed = 0
        self._target_end = 0
        self._collector = _Collector(self._limits.fields)
        self._parser = httptools.HttpRequestParser(self._collector)

    @property
    def begun(self) -> bool:
        """Whether octets of a head have arrived that is not whole."""
        return len(self._buffer) > len(self._start)

    def feed(self, data: bytes) -> bytes | None:
        """The octets behind the head once it is whole, else None; raises ClientError."""
        if not self._buffer:
            stop = data.find(END) + 4
            space = data.find(b" ")
            method = data[:space]
            if 4 <= stop <= self._quick and method in METHODS and data[space + 1] != 32:
                self._parse(data if stop == len(data) else data[:stop])
                self.method = method
                return self._finish(data[stop:])
        return self._resume(data)

    def _resume(self, data: bytes) -> bytes | None:
        buffer = self._buffer
        buffer += data
        if not self._target_end and not self._read_method():
            return None
        end = buffer.find(END, max(0, self._fed - 3))
        stop = end + 4 if end >= 0 else len(buffer)
        self._advance(min(stop, self._target_end, self._head_octets))
        if stop >= self._target_end and buffer.find(b" ", len(self.method) + 1, self._target_end) < 0:
            raise ClientError(414, f"the request target is longer than {self._limits.target_octets} octets")
        self._advance(min(stop, self._head_octets))
        if stop > self._head_octets:
            raise ClientError(431, f"the fields are longer than {self._head_octets - len(self._start)} octets")
        return self._finish(bytes(buffer[stop:])) if end >= 0 else None

    def _read_method(self) -> bool:
        """Whether the method is known: a token, one space, and the first octet of the target have arrived."""
        buffer = self._buffer
        while buffer.startswith(b"\r\n"):  # RFC 9112 section 2.2: empty lines before a request are ignored
            del buffer[:2]
        space = buffer.find(b" ")
        method = bytes(buffer if space < 0 else buffer[:space])
        if buffer in (bytearray(), bytearray(b"\r")):
            return False
        if len(method) > LONGEST_METHOD or not TOKEN.fullmatch(method.decode("latin-1")):
            raise ClientError(400, "the request does not begin with a method")
        if not 0 <= space < len(buffer) - 1:
            return False
        if buffer[space + 1] == 32:
            raise ClientError(400, "there is more than one space after the method")
        self.method = method
        self._target_end = space + 2 + self._limits.target_octets
        if method not in METHODS:
            self._parse(b"POST")
            self._fed = space
        return True

    def _advance(self, stop: int) -> None:
        if stop > self._fed:
            piece = bytes(self._buffer[self._fed : stop])
            self._fed = stop
            self._parse(piece)

    def _parse(self, piece: bytes) -> None:
        try:
            self._parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            pass  # CONNECT or `Connection: upgrade`: the head is whole, which is all that is asked here
        except httptools.HttpParserCallbackError as error:
            raise error.__context__ or error from None
        except httptools.HttpParserError as error:
            raise ClientError(*self._judged(str(error))) from None

    def _judged(self, why: str) -> tuple[int, str]:
        major = self._parser.get_http_version()[0]
        if why == "Invalid HTTP version" and major not in "01":
            return 505, "only HTTP/1.0 and HTTP/1.1 are spoken here"
        return 400, f"the request is malformed: {why}"

    def _finish(self, rest: bytes) -> bytes:
        collector = self._collector
        self.version = self._parser.get_http_version()
        if not collector.complete or not collector.target:
            raise ClientError(400, "the request is malformed: its head has no end")
        if self.version not in ("1.1", "1.0"):
            raise ClientError(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
        self.target = collector.target
        self.fields = collector.fields
        self._renew()
        return rest
