"""replayproxy.authority: one CA per state folder, and certificates that real clients accept."""

from __future__ import annotations

import os
import shutil
import ssl
import stat
import subprocess
import sys
import warnings
from datetime import UTC, datetime
from pathlib import Path

import certifi
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.utils import CryptographyDeprecationWarning

from replayproxy import authority as module
from replayproxy.authority import PRIVATE_FILE, TRUSTSTORE_PASSWORD, Authority
from replayproxy.core.errors import OperationError, SettingsError

HOSTS = {
    "a name": "api.example.test",
    "a name in another spelling": "API.Example.Test.",
    "a Unicode name": "bücher.example",
    "a name too long for a common name": ".".join(["x" * 60, "y" * 60, "example"]),
    "an IPv4 address": "127.0.0.1",
    "an IPv6 address": "2001:db8::1",
    "a bracketed IPv6 address": "[::1]",
    "a name with an underscore": "my_host.example",
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One in a folder that was not there."""
    return Authority.load_or_create(tmp_path_factory.mktemp("state") / "deep" / "er")


def certificates(bundle: bytes) -> list[x509.Certificate]:
    """What a PEM file holds, oddities of old public roots included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        return x509.load_pem_x509_certificates(bundle)


def handshake(authority: Authority, host: str, alpn: tuple[str, ...], offered: list[str]) -> ssl.SSLObject:
    """A client that verifies strictly against the CA alone, after its handshake with a server for HOST."""
    trust = ssl.create_default_context(cafile=str(authority.ca_pem))
    trust.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    if offered:
        trust.set_alpn_protocols(offered)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    name = host.strip("[]").removesuffix(".")
    client = trust.wrap_bio(down, up, server_hostname=name)
    server = authority.context(host, alpn).wrap_bio(up, down, server_side=True)
    waiting = [client, server]
    for _ in range(8):
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    assert not waiting, "the handshake did not end"
    return client


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
def test_a_strict_client_accepts_the_leaf_of_any_host(authority: Authority, host: str) -> None:
    """OpenSSL's strict checks (RFC 5280) find nothing wrong with CA or leaf, whatever the host."""
    assert handshake(authority, host, (), []).version() in ("TLSv1.2", "TLSv1.3")


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS.keys())
def test_leaves_are_valid_under_any_clock_of_an_episode(authority: Authority, host: str) -> None:
    """CA and leaf are valid from 1990 through 2099."""
    for certificate in (authority.certificate, authority.leaf(host).certificate):
        assert certificate.not_valid_before_utc == datetime(1990, 1, 1, tzinfo=UTC)
        assert certificate.not_valid_after_utc >= datetime(2099, 12, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("preferred", "offered", "chosen"),
    [
        (("h2", "http/1.1"), ["http/1.1", "h2"], "h2"),
        (("http/1.1", "h2"), ["h2", "http/1.1"], "http/1.1"),
        (("http/1.1", "h2"), ["h2"], "h2"),
        (("http/1.1", "h2"), [], None),
        (("http/1.1", "h2"), ["spdy/3"], None),
    ],
)
def test_the_first_preferred_protocol_that_is_offered_is_chosen(
    authority: Authority, preferred: tuple[str, ...], offered: list[str], chosen: str | None
) -> None:
    """ALPN follows the server's preference, and a client that offers nothing known is not turned away."""
    assert handshake(authority, "a.test", preferred, offered).selected_alpn_protocol() == chosen


def test_the_name_decides_the_subject_alternative_name(authority: Authority) -> None:
    """A name becomes a DNS name, an address an IP address; without common name the field is critical."""
    named = authority.leaf("A.test").certificate.extensions
    names = named.get_extension_for_class(x509.SubjectAlternativeName)
    assert names.value.get_values_for_type(x509.DNSName) == ["a.test"]
    addressed = authority.leaf("::1").certificate.extensions
    addresses = addressed.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(a) for a in addresses.get_values_for_type(x509.IPAddress)] == ["::1"]
    long = authority.leaf(HOSTS["a name too long for a common name"]).certificate
    assert long.extensions.get_extension_for_class(x509.SubjectAlternativeName).critical
    assert not list(long.subject)


def test_leaf_refuses_what_is_no_host(authority: Authority) -> None:
    """An empty host has no certificate."""
    with pytest.raises(ValueError, match="empty"):
        authority.leaf("")


def test_leaves_and_contexts_are_kept_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same host gives the same object until CACHED_HOSTS others were asked for."""
    monkeypatch.setattr(module, "CACHED_HOSTS", 2)
    authority = Authority.load_or_create(tmp_path)
    first, context = authority.leaf("a.test"), authority.context("a.test", ("h2",))
    assert authority.leaf("A.test.") is first
    assert authority.context("a.test", ("h2",)) is context
    assert authority.context("a.test") is not context
    authority.leaf("b.test")
    authority.leaf("a.test")
    authority.leaf("c.test")
    assert authority.leaf("a.test") is first
    authority.leaf("d.test")
    authority.leaf("e.test")
    assert authority.leaf("a.test") is not first


def test_leaf_pem_is_a_certificate_and_its_key(authority: Authority) -> None:
    """The PEM forms load, and belong together."""
    certificate, key = authority.leaf("a.test").pem()
    loaded = serialization.load_pem_private_key(key, None)
    assert x509.load_pem_x509_certificate(certificate).public_key() == loaded.public_key()


def test_contexts_are_made_without_memory_files_too(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the system has no memfd, a private temporary file is used and removed."""
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert handshake(authority, "no-memfd.test", (), []).version()
    assert not list(tmp_path.iterdir())


# -- the files --------------------------------------------------------------------------------------


def test_the_private_part_is_its_owners_alone(tmp_path: Path) -> None:
    """Folder 0700, private file 0600, and no other file holds the key."""
    authority = Authority.load_or_create(tmp_path / "state")
    assert stat.S_IMODE(authority.folder.stat().st_mode) == 0o700
    assert authority.truststore.exists()
    private = authority.folder / PRIVATE_FILE
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    others = [path for path in authority.folder.iterdir() if path != private]
    assert not [path for path in others if b"PRIVATE KEY" in path.read_bytes()]
    assert {path.name for path in others} == {"ca.pem", "ca-bundle.pem", "ca-truststore.p12"}


def test_the_second_load_finds_the_same_authority(tmp_path: Path) -> None:
    """The CA outlives the process, and its files are not written again."""
    first = Authority.load_or_create(tmp_path)
    before = first.bundle.stat().st_ino, first.truststore.stat().st_ino
    second = Authority.load_or_create(tmp_path)
    assert second.certificate == first.certificate
    assert (second.bundle.stat().st_ino, second.truststore.stat().st_ino) == before


def test_the_bundle_holds_the_public_roots_and_the_authority(authority: Authority) -> None:
    """SSL_CERT_FILE takes the place of the roots, so the roots are in it."""
    roots, bundle = Path(certifi.where()).read_bytes(), authority.bundle.read_bytes()
    assert bundle.startswith(roots)
    assert bundle.removeprefix(roots).strip() == authority.ca_pem.read_bytes().strip()
    assert certificates(bundle)[-1] == authority.certificate
    assert x509.load_pem_x509_certificates(authority.ca_pem.read_bytes()) == [authority.certificate]


def test_upstream_certificates_are_verified_without_the_interception_authority(
    authority: Authority, tmp_path: Path
) -> None:
    """The upstream bundle is the public roots, and the user's file added to them."""
    assert authority.upstream_bundle() == Path(certifi.where())
    other = Authority.load_or_create(tmp_path)
    found = certificates(authority.upstream_bundle(other.ca_pem).read_bytes())
    assert other.certificate in found
    assert authority.certificate not in found
    assert len(found) > 50
    assert authority.upstream_bundle(other.ca_pem) == authority.upstream_bundle(other.ca_pem)


@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_an_upstream_file_without_certificates_is_refused(
    authority: Authority, tmp_path: Path, content: bytes | None
) -> None:
    """What --upstream-ca names must hold a certificate."""
    path = tmp_path / "up.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"up\.pem"):
        authority.upstream_bundle(path)


RACE = """
import sys; from pathlib import Path
from replayproxy.authority import Authority
sys.stdin.readline()
print(Authority.load_or_create(Path(sys.argv[1])).certificate.serial_number)
"""


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    """Whoever is first decides, and no process sees half a file."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path / "state")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    found = {process.communicate(timeout=30)[0] for process in started}
    assert len(found) == 1
    assert found != {""}


def damaged(path: Path, kind: str) -> None:
    """Damage the CA file at PATH in the way that KIND names."""
    key, _, certificate = path.read_text().partition("-----BEGIN CERT")
    other = ec.generate_private_key(ec.SECP256R1())
    wrong = rsa.generate_private_key(65537, 2048)
    leaf = Authority.load_or_create(path.parent).leaf("a.test")
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    locked = other.private_bytes(*forms[:2], serialization.BestAvailableEncryption(b"x")).decode()
    texts = {
        "empty": "",
        "cut short": path.read_text()[:100],
        "certificate missing": key,
        "another key": other.private_bytes(*forms).decode() + "-----BEGIN CERT" + certificate,
        "an RSA key": wrong.private_bytes(*forms).decode() + "-----BEGIN CERT" + certificate,
        "a key under a password": locked + "-----BEGIN CERT" + certificate,
        "a leaf": b"".join(leaf.pem()).decode(),
    }
    path.write_text(texts[kind])


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "cut short",
        "certificate missing",
        "another key",
        "an RSA key",
        "a key under a password",
        "a leaf",
    ],
)
def test_a_damaged_authority_is_told_and_never_replaced(tmp_path: Path, kind: str) -> None:
    """A CA that cannot be used is the user's to mend; the file stays as it is."""
    Authority.load_or_create(tmp_path)
    private = tmp_path / PRIVATE_FILE
    damaged(private, kind)
    before = private.read_bytes()
    with pytest.raises(SettingsError, match=r"ca-private\.pem cannot be used") as caught:
        Authority.load_or_create(tmp_path)
    assert caught.value.hint
    assert private.read_bytes() == before


def test_a_key_open_to_everyone_is_refused(tmp_path: Path) -> None:
    """As ssh does; a group may read it."""
    Authority.load_or_create(tmp_path)
    private = tmp_path / PRIVATE_FILE
    private.chmod(0o640)
    Authority.load_or_create(tmp_path)
    private.chmod(0o604)
    with pytest.raises(SettingsError, match="by everyone") as caught:
        Authority.load_or_create(tmp_path)
    assert "chmod 600" in caught.value.hint


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """What the system refuses is an OperationError that names the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationError, match=r"the state folder .*file/state cannot be used") as caught:
        Authority.load_or_create(tmp_path / "file" / "state")
    assert "--state-dir" in caught.value.hint


def test_a_damaged_trust_store_is_written_anew(tmp_path: Path) -> None:
    """It holds nothing of its own, so it is made again when it does not hold what it should."""
    authority = Authority.load_or_create(tmp_path)
    good = authority.truststore.stat().st_size
    authority.truststore.write_bytes(b"nonsense")
    assert authority.truststore.stat().st_size == good


@pytest.mark.skipif(not shutil.which("keytool"), reason="needs Java")
def test_java_takes_the_trust_store_for_trusted_certificates(authority: Authority) -> None:
    """Entries without Java's own attribute would be silently ignored."""
    command = ["keytool", "-list", "-keystore", str(authority.truststore), "-storepass", TRUSTSTORE_PASSWORD]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    count = len(certificates(authority.bundle.read_bytes()))
    assert count > 50
    assert listed.count("trustedCertEntry") == count
    assert "replayproxy-interception-ca" in listed
