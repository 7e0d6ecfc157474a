"""The files of the state folder: written whole or not at all, the private one by whoever is first."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from replayproxy.core.errors import OperationError, SettingsError


def pem(certificate: x509.Certificate) -> bytes:
    """CERTIFICATE as PEM."""
    return certificate.public_bytes(serialization.Encoding.PEM)


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """KEY as PEM, not encrypted."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def create_once(private: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    """Put a CA at PRIVATE unless another process was faster; a whole one is there afterwards."""
    content = private_pem(key) + pem(certificate)
    with _temporary_beside(private, content) as temporary, suppress(FileExistsError):
        os.link(temporary, private)  # unlike rename, a link never takes the place of what is there


def replace(path: Path, content: bytes) -> None:
    """PATH holds CONTENT, readable by all; a reader sees the old file or the new one."""
    with suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    with _temporary_beside(path, content) as temporary:
        temporary.chmod(0o644)
        temporary.replace(path)


@contextmanager
def _temporary_beside(path: Path, content: bytes) -> Iterator[Path]:
    """A file of mode 0600 beside PATH with CONTENT on disk; it is gone afterwards unless it was moved."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def read_private(path: Path) -> bytes:
    """What PATH holds, if it is not open to everyone (a group may read it, as cluster volumes have it)."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_mode & stat.S_IRWXO:
            raise SettingsError(
                f"the CA's private key {path} may be read or changed by everyone on this machine",
                hint=f"run `chmod 600 {path}` if you trust it still, else delete it and a new CA is made",
            )
        return file.read()


def parse_private(path: Path, content: bytes) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Certificate and key of a CA file; raises SettingsError that says what is wrong with it."""
    reason = "it does not hold a PEM private key and certificate"
    try:
        key = serialization.load_pem_private_key(content, password=None)
        certificate = x509.load_pem_x509_certificate(content)
        reason = _unfit(certificate, key)
        if not reason and isinstance(key, ec.EllipticCurvePrivateKey):
            return certificate, key
    except (ValueError, TypeError, UnsupportedAlgorithm):
        pass
    raise SettingsError(
        f"the CA file {path} cannot be used: {reason}",
        hint="restore it, or delete it and a new CA is made (clients then have to trust that one)",
    )


def _unfit(certificate: x509.Certificate, key: object) -> str:
    """Why CERTIFICATE and KEY are no CA of ours, "" if they are."""
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return "its key is not an elliptic curve key"
    if certificate.public_key() != key.public_key():
        return "its certificate belongs to another key"
    try:
        certificate.verify_directly_issued_by(certificate)
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (InvalidSignature, x509.ExtensionNotFound):
        return "its certificate is not a self-signed CA certificate"
    return "" if constraints.ca else "its certificate is not a CA certificate"


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """What the operating system refuses in FOLDER is told as an OperationError."""
    try:
        yield
    except OSError as error:
        raise OperationError(
            f"the state folder {folder} cannot be used: {error.strerror or error} ({error.filename})",
            hint="give another one with --state-dir, or mend its permissions",
        ) from error
