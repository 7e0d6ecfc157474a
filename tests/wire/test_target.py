"""Which origin a request names."""

from __future__ import annotations

import pytest

from replayproxy.core.exchange import Origin
from replayproxy.wire.events import Via
from replayproxy.wire.fault import ClientError
from replayproxy.wire.target import authority, destination, host_for, is_address, tunnel_of, tunnel_target


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("A.Test.", "a.test", None),
        ("a:80", "a", 80),
        ("a:", "a", None),
        ("[::1]", "::1", None),
        ("[0:0:0:0:0:0:0:1]:443", "::1", 443),
        ("192.0.2.1:1", "192.0.2.1", 1),
        ("my_host", "my_host", None),
        ("b%C3%BCcher.test", "xn--bcher-kva.test", None),
        ("bücher.test".encode().decode("latin-1"), "xn--bcher-kva.test", None),
    ],
)
def test_spellings_of_one_authority_are_one(text: str, host: str, port: int | None) -> None:
    """RFC 3986 section 3.2; names outside ASCII are A-labels."""
    assert authority(text) == (host, port)


@pytest.mark.parametrize(
    "text",
    ["", ":80", "a b", "a/b", "u@a", "a:b", "a:0", "a:65536", "a:0000080", "::1", "[::1", "[a]", "[::1%25eth0]", "\xff",
     "%ff", "a?b", "a\\b", "%2f", "a%00b"],
)  # fmt: skip
def test_what_is_no_authority_is_refused(text: str) -> None:
    """400, whatever is wrong with it."""
    with pytest.raises(ClientError) as caught:
        authority(text)
    assert caught.value.status == 400


def test_addresses_are_told_from_names() -> None:
    """A tunnel to an address takes the Host."""
    assert [is_address(text) for text in ("192.0.2.1", "::1", "a.test", "1.2.3", "a:b")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_tunnels() -> None:
    """Authority-form with a port (RFC 9112 section 3.2.3)."""
    assert tunnel_target("A.test:443") == ("a.test", 443)
    with pytest.raises(ClientError):
        tunnel_target("a.test")
    assert tunnel_of(Via("https", "[::1]", 0)) == tunnel_of(Via("https", "::1", 443)) == ("::1", 443)


def test_a_tunnel_without_tls_has_its_own_scheme() -> None:
    """CONNECT to port 80, plain HTTP inside."""
    via = Via("http", "a.test", 80)
    assert destination("GET", "/x", "a.test", via) == (Origin("http", "a.test", 80), "/x")
    assert destination("GET", "http://a.test/x", "z", via) == (Origin("http", "a.test", 80), "/x")


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("A.test.", "A.test."),
        ("a.test:8443", "a.test:8443"),
        ("a.test:443", "a.test:8443"),
        ("b.test", "a.test:8443"),
        ("", "a.test:8443"),
    ],
)
def test_the_host_that_is_forwarded_names_the_origin(host: str, sent: str) -> None:
    """RFC 9112 section 3.2.2."""
    assert host_for(Origin.of("https", "a.test", 8443), host) == sent
