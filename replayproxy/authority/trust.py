"""What clients are told to trust: the public roots as PEM, and a trust store as Java reads it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import NameOID

PASSWORD = "changeit"  # noqa: S105 - Java's customary password; the store holds nothing secret
PEM_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")


def public_roots() -> bytes:
    """The public roots as PEM."""
    roots = Path(certifi.where()).read_bytes()
    return roots if roots.endswith(b"\n") else roots + b"\n"


def certificates_of(bundle: bytes) -> list[x509.Certificate]:
    """The certificates of a PEM file; those that the library no longer loads are left out.

    Some public roots have a serial number that is not positive, against RFC 5280 section 4.1.2.2.
    """
    found = []
    with _old_roots_allowed():
        for block in PEM_CERTIFICATE.findall(bundle):
            with suppress(ValueError):
                found.append(x509.load_pem_x509_certificate(block))
    return found


@contextmanager
def _old_roots_allowed() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        yield


def java_truststore(roots: list[x509.Certificate]) -> bytes:
    """A PKCS#12 file that marks each of ROOTS as trusted, which Java asks for."""
    named = [pkcs12.PKCS12Certificate(root, f"{index:03}-{_label(root)}".encode()) for index, root in enumerate(roots)]
    encryption = (
        serialization.PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(10_000)  # as keytool does; Java reads this form since 8u301
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC)
        .hmac_hash(hashes.SHA256())
        .build(PASSWORD.encode())
    )
    return pkcs12.serialize_java_truststore(named, encryption)


def _label(certificate: x509.Certificate) -> str:
    """A short alias in printable ASCII, since keytool folds case and shows little else."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    text = str(names[0].value) if names else certificate.subject.rfc4514_string()
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in text.lower())[:48]


def holds(path: Path, roots: list[x509.Certificate]) -> bool:
    """Whether PATH is a trust store of exactly ROOTS; its octets differ from one writing to the next."""
    try:
        with _old_roots_allowed():
            store = pkcs12.load_pkcs12(path.read_bytes(), PASSWORD.encode())
    except (FileNotFoundError, ValueError):
        return False
    return {entry.certificate for entry in store.additional_certs} == set(roots)
