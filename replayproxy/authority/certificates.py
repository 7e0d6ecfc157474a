"""The certificates themselves: the CA's own, one per host, and a server's TLS context for each."""

from __future__ import annotations

import ipaddress
import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from replayproxy.authority.files import pem, private_pem

VALID_FROM = datetime(1990, 1, 1, tzinfo=UTC)
VALID_UNTIL = datetime(2099, 12, 31, 23, 59, 59, tzinfo=UTC)
COMMON_NAME_LIMIT = 64  # RFC 5280 appendix A.1, ub-common-name-length


@dataclass(frozen=True, slots=True)
class Leaf:
    """A certificate for one host and the key it certifies."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def pem(self) -> tuple[bytes, bytes]:
        """Certificate and private key as PEM."""
        return pem(self.certificate), private_pem(self.key)


def new_key() -> ec.EllipticCurvePrivateKey:
    """A fresh P-256 key."""
    return ec.generate_private_key(ec.SECP256R1())


def sign(
    host: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Certificate,
    issuer_key: ec.EllipticCurvePrivateKey,
) -> Leaf:
    """A server certificate for HOST (normalised) and KEY, signed by ISSUER."""
    short = len(host) <= COMMON_NAME_LIMIT
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)] if short else [])
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    authority_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    certificate = (
        _builder(subject, issuer.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(usage, critical=False)
        # RFC 5280 section 4.2.1.6: critical where the subject is empty
        .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=not short)
        .add_extension(authority_key, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    return Leaf(certificate, key)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    """What every certificate here has: names, validity, a random serial number, a subject key identifier."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(VALID_FROM)
        .not_valid_after(VALID_UNTIL)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def new_authority() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A fresh self-signed CA and its key."""
    key = new_key()
    # The name carries a piece of the key, so that the CAs of two machines stay apart in one trust store.
    fingerprint = x509.SubjectKeyIdentifier.from_public_key(key.public_key()).digest[:4].hex()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "replayproxy"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"replayproxy interception CA {fingerprint}"),
        ]
    )
    certificate = (
        _builder(name, name, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate, key


def server_context(leaf: Leaf, alpn: tuple[str, ...]) -> ssl.SSLContext:
    """A server's context that shows LEAF and takes the first protocol of ALPN that a client offers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 1  # clients resume with the last one they got; a second only costs
    if alpn:
        context.set_alpn_protocols(list(alpn))
    with _file_of(b"".join(leaf.pem())) as path:
        context.load_cert_chain(path)
    return context


@contextmanager
def _file_of(content: bytes) -> Iterator[str]:
    """A path under which CONTENT can be read meanwhile; on Linux it never touches a disk.

    SSLContext takes key material from files only.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("leaf", os.MFD_CLOEXEC), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
        return
    descriptor, name = tempfile.mkstemp(suffix=".pem")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        yield name
    finally:
        Path(name).unlink()
