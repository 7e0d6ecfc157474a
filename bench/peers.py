"""WireMock and mountebank, where npm is present: installed once into a folder of the caller's, and measured beside.

Neither is given a CONNECT: mountebank knows none, and WireMock's is for forwarding. TLS ends at them directly.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.client import Door
from bench.process import free_port
from bench.recordings import HOST, Recordings, write_imposters, write_mappings
from bench.servers import NOT_FOUND, Kind, Missing, Server, serving
from replayproxy.demo import certificate

INSTALL_SECONDS = 300
PASSWORD = "bench-keystore"  # noqa: S105 - of a key that lives as long as the run


@dataclass(frozen=True)
class Peer:
    """A program that npm installs; `folder` None: it was not asked for."""

    name: str
    folder: Path | None
    needs: tuple[str, ...] = ("npm", "node")
    methods: frozenset[str] = frozenset({"GET", "POST"})
    missing: Missing = NOT_FOUND

    def lacking(self) -> str:
        """Why it cannot be started here, or empty; installs it where it is not there yet."""
        if self.folder is None:
            return "give --peers-dir to have npm install it"
        absent = [program for program in self.needs if not shutil.which(program)]
        if absent:
            return f"there is no {', '.join(absent)}"
        if (self.folder / "node_modules" / self.name).is_dir():
            return ""
        self.folder.mkdir(parents=True, exist_ok=True)
        line = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(self.folder), self.name]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"npm did not install it within {INSTALL_SECONDS} s"
        return f"npm could not install it: {done.stderr.strip()[-200:]}" if done.returncode else ""

    def program(self, name: str) -> Path:
        """The program NAME that npm put there."""
        return (self.folder or Path()) / "node_modules" / ".bin" / name

    def identity(self, folder: Path) -> certificate.Identity:
        """A certificate of an EC key on P-256, new in FOLDER."""
        tls = folder / "tls"
        tls.mkdir()
        return certificate.make(tls, (HOST,))


def doors(http: int, https: int, folder: Path) -> dict[str, Door]:
    """Origin-form, and TLS that ends at the server."""
    ca = folder / "tls" / "ca.pem"
    return {
        "http": Door(port=http, form="origin"),
        "https": Door(port=https, form="origin", tls=True, name=HOST, ca=ca),
    }


@dataclass(frozen=True)
class WireMock(Peer):
    """WireMock, without its request journal, coding and templates, which cost it most."""

    name: str = "wiremock"
    folder: Path | None = None
    needs: tuple[str, ...] = ("npm", "node", "java", "openssl")

    def prepare(self, recordings: Recordings, folder: Path) -> None:
        """Stubs, and a key store, which is how Java takes a certificate."""
        write_mappings(recordings, folder)
        identity = self.identity(folder)
        line = [
            "openssl", "pkcs12", "-export", "-in", str(identity.chain), "-inkey", str(identity.key),
            "-out", str(folder / "tls" / "server.p12"), "-passout", f"pass:{PASSWORD}",
        ]  # fmt: skip
        subprocess.run(line, check=True, capture_output=True)

    @contextmanager
    def start(self, recordings: Recordings, folder: Path, core: int | None) -> Iterator[Server]:
        """It, ready."""
        found = doors(free_port(), free_port(), folder)
        line = [
            str(self.program("wiremock")), "--port", str(found["http"].port), "--bind-address", "127.0.0.1",
            "--https-port", str(found["https"].port), "--https-keystore", str(folder / "tls" / "server.p12"),
            "--keystore-type", "PKCS12", "--keystore-password", PASSWORD, "--key-manager-password", PASSWORD,
            "--root-dir", str(folder), "--no-request-journal", "--disable-gzip", "--disable-request-logging",
            "--use-chunked-encoding", "never", "--disable-banner", "--container-threads", "25",
        ]  # fmt: skip
        with serving(line, folder, core, found[recordings.scheme], recordings) as (group, seconds, cpu):
            yield Server(name=self.name, group=group, doors=found, ready_seconds=seconds, ready_cpu=cpu)


@dataclass(frozen=True)
class Mountebank(Peer):
    """mountebank, one imposter, without recording requests."""

    name: str = "mountebank"
    folder: Path | None = None

    def prepare(self, _recordings: Recordings, folder: Path) -> None:
        """A certificate; the configuration names a port, so it is written at each start."""
        self.identity(folder)

    @contextmanager
    def start(self, recordings: Recordings, folder: Path, core: int | None) -> Iterator[Server]:
        """It, ready."""
        port, tls = free_port(), folder / "tls"
        secure = recordings.scheme == "https"
        pair = {"key": (tls / "server.key").read_text("ascii"), "cert": (tls / "server.pem").read_text("ascii")}
        write_imposters(recordings, folder / "imposters.json", port, pair if secure else {})
        found = doors(port, port, folder)
        line = [
            str(self.program("mb")), "start", "--port", str(free_port()), "--host", "127.0.0.1", "--nologfile",
            "--loglevel", "error", "--configfile", "imposters.json", "--pidfile", str(folder / "mb.pid"),
        ]  # fmt: skip
        path = os.environ.get("PATH", "")
        with serving(line, folder, core, found[recordings.scheme], recordings, PATH=path) as (group, seconds, cpu):
            yield Server(name=self.name, group=group, doors=found, ready_seconds=seconds, ready_cpu=cpu)


def peers(folder: Path | None) -> list[Kind]:
    """Both; installed in FOLDER, or not to be measured where that is None."""
    return [
        WireMock(folder=folder.resolve() if folder else None),
        Mountebank(folder=folder.resolve() if folder else None),
    ]
