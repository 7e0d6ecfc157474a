"""replayproxy.engine.tls: a server's TLS on buffers, against the standard library's client."""

from __future__ import annotations

import contextlib
import ssl
from typing import Any

import pytest

from replayproxy.engine.tls import TlsServer


class Client:
    """A client on buffers that trusts the CA of the tests."""

    def __init__(self, authority: Any, name: str | None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> None:
        trust = ssl.create_default_context(cafile=str(authority.ca_pem))
        trust.maximum_version = version
        trust.check_hostname = name is not None
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trust.wrap_bio(self.incoming, self.outgoing, server_hostname=name)

    def shake(self, server: TlsServer) -> None:
        """The handshake, to its end."""
        for _ in range(4):
            with contextlib.suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
            server.receive(self.outgoing.read())
            self.incoming.write(server.take())


def server_for(authority: Any) -> TlsServer:
    """A server whose own name is `default.test`."""
    return TlsServer(authority.context("default.test"), authority.context)


def shown(client: Client) -> Any:
    """The name in the certificate that the client was shown."""
    return dict(client.tls.getpeercert() or {})["subjectAltName"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_octets_go_both_ways_whole_or_one_by_one(authority: Any, version: ssl.TLSVersion) -> None:
    """However they are cut on their way, and however many records they take."""
    client, server = Client(authority, "a.test", version), server_for(authority)
    client.shake(server)
    assert server.established
    assert server.name == "a.test"
    assert shown(client) == (("DNS", "a.test"),)
    text = bytes(range(256)) * 300
    client.tls.write(text)
    coded = client.outgoing.read()
    assert b"".join(server.receive(coded[at : at + 1000]) for at in range(0, len(coded), 1000)) == text
    client.tls.write(text)
    assert server.receive(client.outgoing.read()) == text
    server.write(text)
    client.incoming.write(server.take())
    assert b"".join(client.tls.read(16384) for _ in range(0, len(text), 16384)) == text


def test_a_client_that_names_no_host_gets_the_default(authority: Any) -> None:
    """Without SNI the context that was given is used."""
    client, server = Client(authority, None), server_for(authority)
    client.shake(server)
    assert shown(client) == (("DNS", "default.test"),)
    assert server.name == ""


def test_a_name_without_a_certificate_is_an_alert(authority: Any) -> None:
    """The client is told, by the alert that RFC 6066 has for it."""

    def none_of(name: str) -> ssl.SSLContext:
        raise ValueError(name)

    client, server = Client(authority, "a.test"), TlsServer(authority.context("default.test"), none_of)
    with pytest.raises(ssl.SSLWantReadError):
        client.tls.do_handshake()
    with pytest.raises(ssl.SSLError):
        server.receive(client.outgoing.read())
    client.incoming.write(server.take())
    with pytest.raises(ssl.SSLError, match=r"(?i)unrecognized name"):
        client.tls.do_handshake()


def test_the_certificate_counts_as_shown_until_it_is_taken(authority: Any) -> None:
    """Which tells a client that turns it away from one that never asked."""
    client, server = Client(authority, "a.test"), server_for(authority)
    assert not server.shown
    with pytest.raises(ssl.SSLWantReadError):
        client.tls.do_handshake()
    hello = client.outgoing.read()
    server.receive(hello[:5])
    assert server.shown is False
    server.receive(hello[5:])
    shown_now: bool = server.shown
    assert shown_now
    client.incoming.write(server.take())
    client.shake(server)
    assert not server.shown


def test_either_side_says_that_it_ends(authority: Any) -> None:
    """Ours by close_notify; the client's is told by `ended`."""
    client, server = Client(authority, "a.test"), server_for(authority)
    server.close()
    client.shake(server)
    client.tls.write(b"last")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.tls.unwrap()
    assert server.receive(client.outgoing.read()) == b"last"
    server.receive(b"")
    assert server.ended
    server.close()
    client.incoming.write(server.take())
    client.tls.unwrap()


def test_what_is_no_tls_is_an_error(authority: Any) -> None:
    """And not an answer."""
    with pytest.raises(ssl.SSLError):
        server_for(authority).receive(b"\x16GET / HTTP/1.1\r\n\r\n")
