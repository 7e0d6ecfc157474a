"""multipart bodies (RFC 2046 section 5.1, RFC 7578) taken apart, so that the boundary can be left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PARAMETER = re.compile(r""";\s*([^=;\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))""")
BOUNDARY = re.compile(r""";\s*boundary\s*=\s*(?:"[^"]*"|[^;\s]*)""", re.IGNORECASE)
"""The boundary parameter of a Content-Type."""
_PADDING = re.compile(rb"[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its header fields (names lower case, in their order) and its octets."""

    headers: tuple[tuple[str, str], ...]
    content: bytes

    def header(self, name: str) -> str:
        """The first value of the field NAME, "" where there is none."""
        return next((value for field, value in self.headers if field == name), "")


def media_type(value: str) -> tuple[str, dict[str, str]]:
    """The media type in lower case and its parameters (names lower case, quotes undone) of a Content-Type."""
    kind, semicolon, rest = value.partition(";")
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(semicolon + rest):
        parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) if quoted else bare)
    return kind.strip().lower(), parameters


def take_apart(body: bytes, boundary: str) -> list[Part] | None:
    """The parts of BODY; None where it is malformed: no part, no closing delimiter, a field without colon.

    Lines may end in a bare LF, which Python's email package writes for some clients.
    """
    pieces = _pieces(body, b"--" + boundary.encode("latin-1", "replace"))
    if not pieces:
        return None
    parts = [_part(piece) for piece in pieces]
    return None if any(part is None for part in parts) else [part for part in parts if part is not None]


def _pieces(body: bytes, delimiter: bytes) -> list[bytes] | None:
    pieces: list[bytes] = []
    start = -1
    at = body.find(delimiter)
    while at >= 0:
        end = at + len(delimiter)
        closing = body.startswith(b"--", end)
        padding = _PADDING.match(body, end + 2 if closing else end)
        if padding is not None and (at == 0 or body[at - 1] == 0x0A):
            if start >= 0:
                pieces.append(_without_line_end(body[start:at]))
            if closing:
                return pieces
            start = padding.end()
        at = body.find(delimiter, end)
    return None


def _without_line_end(piece: bytes) -> bytes:
    return piece.removesuffix(b"\r\n") if piece.endswith(b"\r\n") else piece.removesuffix(b"\n")


def _part(piece: bytes) -> Part | None:
    if piece.startswith((b"\r\n", b"\n")):
        return Part((), piece[2:] if piece.startswith(b"\r\n") else piece[1:])
    found = re.search(rb"\r?\n\r?\n", piece)
    head, content = (piece[: found.start()], piece[found.end() :]) if found else (piece, b"")
    headers = _fields(head)
    return None if headers is None else Part(headers, content)


def _fields(head: bytes) -> tuple[tuple[str, str], ...] | None:
    unfolded = re.sub(r"\r?\n[ \t]+", " ", head.decode("utf-8", "surrogateescape"))
    fields: list[tuple[str, str]] = []
    for line in unfolded.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            return None
        fields.append((name.strip().lower(), value.strip()))
    return tuple(fields)
