"""The interception authority: the CA that clients are told to trust, and the certificates it signs.

Everything is ECDSA P-256 and valid from 1990 to 2099, so that a client whose clock is set to an episode's
time accepts it. The private part lies in one file of the state folder, readable by its owner alone; what
clients are given (the CA's certificate, a bundle with the public roots, a Java trust store) lies beside it.
Nothing here opens a socket.
"""

from __future__ import annotations

import hashlib
import ssl
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from replayproxy.authority.certificates import Leaf, new_authority, new_key, server_context, sign
from replayproxy.authority.files import create_once, parse_private, pem, read_private, replace, told
from replayproxy.authority.trust import PASSWORD, certificates_of, holds, java_truststore, public_roots
from replayproxy.core.errors import SettingsError
from replayproxy.core.exchange import normal_host

__all__ = ["PRIVATE_FILE", "TRUSTSTORE_PASSWORD", "Authority", "Leaf"]

PRIVATE_FILE = "ca-private.pem"
TRUSTSTORE_PASSWORD = PASSWORD
CACHED_HOSTS = 1024


class Authority:
    """The CA of one state folder, and what it has signed in this process.

    `ca_pem` is the file with the CA's certificate alone, `bundle` the one with the public roots and the CA.
    Build it with `load_or_create`.
    """

    def __init__(self, folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self.folder = folder
        self.certificate = certificate
        self.key = key
        self.ca_pem = folder / "ca.pem"
        self.bundle = folder / "ca-bundle.pem"
        self._leaf_key = new_key()
        self._leaves: OrderedDict[str, Leaf] = OrderedDict()
        self._contexts: OrderedDict[tuple[str, tuple[str, ...]], ssl.SSLContext] = OrderedDict()

    @classmethod
    def load_or_create(cls, state_dir: Path) -> Authority:
        """The authority of STATE_DIR, made anew if there is none, with `ca_pem` and `bundle` in place.

        Two processes that start at once end up with the same CA. Raises SettingsError for a CA file that is
        damaged or open to everyone, OperationError where the folder cannot be used.
        """
        private = state_dir / PRIVATE_FILE
        with told(state_dir):
            state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not private.exists():
                create_once(private, *new_authority())
            content = read_private(private)
            authority = cls(state_dir, *parse_private(private, content))
            certificate = pem(authority.certificate)
            replace(authority.ca_pem, certificate)
            replace(authority.bundle, public_roots() + certificate)
        return authority

    @property
    def truststore(self) -> Path:
        """A PKCS#12 file that Java takes as trusted certificates: the public roots and the CA.

        Its password is TRUSTSTORE_PASSWORD. It is written when first asked for.
        """
        path = self.folder / "ca-truststore.p12"
        with told(self.folder):
            roots = certificates_of(self.bundle.read_bytes())
            if not holds(path, roots):
                replace(path, java_truststore(roots))
        return path

    def upstream_bundle(self, extra: Path | None = None) -> Path:
        """A PEM file with what upstream certificates are verified against: the public roots, and EXTRA's.

        The interception CA is not in it. Raises SettingsError if EXTRA holds no certificate.
        """
        if extra is None:
            return Path(certifi.where())
        try:
            added = extra.read_bytes()
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(extra)
        except OSError as error:
            unread = not isinstance(error, ssl.SSLError)
            reason = error.strerror if unread else "it holds no PEM certificate"
            raise SettingsError(
                f"the upstream CA file {extra} cannot be used: {reason}",
                hint="give --upstream-ca a file of PEM certificates",
            ) from error
        content = public_roots() + added
        path = self.folder / f"upstream-{hashlib.sha256(content).hexdigest()[:16]}.pem"
        with told(self.folder):
            replace(path, content)
        return path

    def leaf(self, host: str) -> Leaf:
        """The certificate for HOST: a name in any spelling, or an address. Raises ValueError for neither.

        All leaves of a process share one key; the most recent CACHED_HOSTS are kept.
        """
        host = normal_host(host)
        return _remembered(self._leaves, host, lambda: sign(host, self._leaf_key, self.certificate, self.key))

    def context(self, host: str, alpn: tuple[str, ...] = ()) -> ssl.SSLContext:
        """A server's TLS context for HOST that takes the first protocol of ALPN that a client offers.

        Cached as leaves are.
        """
        host = normal_host(host)
        return _remembered(self._contexts, (host, alpn), lambda: server_context(self.leaf(host), alpn))


def _remembered[K, V](cache: OrderedDict[K, V], key: K, make: Callable[[], V]) -> V:
    """CACHE's value for KEY, made if there is none; the least recently used one goes when it is full."""
    if key in cache:
        cache.move_to_end(key)
        return cache[key]
    value = cache[key] = make()
    if len(cache) > CACHED_HOSTS:
        cache.popitem(last=False)
    return value
