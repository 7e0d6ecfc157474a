"""What the host asks, and what it is answered: the seam between sockets and decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from replayproxy.core.exchange import Blob, Request, Response
from replayproxy.core.replayer import Standing

__all__ = ["Answer", "Service", "Standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it is to be sent.

    `response.body` are the octets of the wire, content coding included. `first_ms` is when its head came, counted
    as chunks are. `open_blob` opens a body that lies in a file; it is only called while that body is sent. `ended` is
    called once, when the answer has been sent or given up. `standing` is given where the same octets of a request get
    the same octets of an answer again for as long as there is the service, if only `again` is called for it.
    """

    response: Response
    first_ms: int = 0
    open_blob: Callable[[Blob], BinaryIO] | None = None
    ended: Callable[[], None] | None = None
    standing: Standing | None = None


class Service(Protocol):
    """What decides. Its calls return at once; `user` is the proxy user name, None where none was given."""

    def protocols(self, host: str, port: int) -> tuple[str, ...]:
        """The ALPN protocols for a TLS client of HOST and PORT, the preferred one first."""

    def tunnel(self, user: str | None, host: str, port: int) -> Answer | None:
        """None where a CONNECT to HOST and PORT is to be ended here, else the answer that refuses it."""

    def early(self, user: str | None, head: Request) -> Answer | None:
        """The answer to a request whose body has not been sent, None where the body is to be read first."""

    def answer(self, user: str | None, request: Request) -> Answer:
        """The answer to a whole request."""

    def again(self, user: str | None, standing: Standing) -> bool:
        """A request is given again what STANDING stands for; False where USER must be answered otherwise."""

    def failed(self, error: Exception) -> Answer:
        """The answer where one of the other calls raised ERROR, or what it answered cannot be sent."""

    def pinned(self, host: str, port: int, why: str) -> None:
        """A client of HOST and PORT refused the certificate that it was shown."""
