"""The identity of a made-up vendor."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path

import pytest

from replayproxy.demo.certificate import make


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Complete a TLS handshake in memory, or raise what the client says."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(3):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].version() is not None


@pytest.mark.parametrize("host", ["api.teashop.example", "other.example"])
def test_a_verifying_client_accepts_each_host(tmp_path: Path, host: str) -> None:
    """A client that trusts the CA accepts every host the identity was made for, under X.509 strict checks."""
    identity = make(tmp_path, ("api.teashop.example", "other.example"))
    client = ssl.create_default_context(cafile=str(identity.authority))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    shake_hands(identity.context(), client, host)


def test_a_name_it_was_not_made_for_is_refused(tmp_path: Path) -> None:
    """The certificate is good for its hosts only."""
    identity = make(tmp_path, ("api.teashop.example",))
    client = ssl.create_default_context(cafile=str(identity.authority))
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(identity.context(), client, "elsewhere.example")


def test_the_key_is_private(tmp_path: Path) -> None:
    """Nobody but the owner may read the key, and it is nobody else's: a second identity is another one."""
    identity = make(tmp_path, ("api.teashop.example",))
    assert stat.S_IMODE(identity.key.stat().st_mode) == 0o600
    first = identity.authority.read_bytes()
    assert make(tmp_path, ("api.teashop.example",)).authority.read_bytes() != first
