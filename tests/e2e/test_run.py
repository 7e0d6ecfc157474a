"""What surrounds a run: the environment of CMD, the control API, clients that refuse our certificate."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest

CASSETTES = Path(__file__).parent.parent.parent / "cassettes"
REPLAY = ("replay", str(CASSETTES))
PROXIES = "HTTP_PROXY HTTPS_PROXY ALL_PROXY"
BUNDLES = """SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO
GRPC_DEFAULT_SSL_ROOTS_FILE_PATH DENO_CERT PIP_CERT CARGO_HTTP_CAINFO HTTPLIB2_CA_CERTS"""


def test_the_environment_of_the_command(product: Any, words: tuple[str, ...]) -> None:
    """All variables of the contract; no way round the proxy; the caller's own otherwise; no token."""
    show = "import json, os, sys; print(json.dumps([dict(os.environ), json.load(open('r.json'))['token'], sys.argv]))"
    caller = {"NO_PROXY": "a.test", "no_proxy": "*", "MINE": "kept", "HTTPS_PROXY": "http://elsewhere:1"}
    options = ("--control", "127.0.0.1:0", "--ready-file", "r.json")
    ran = product.run(*words, *options, "--", sys.executable, "-c", show, "-q", "--", "--help", env=caller)
    assert ran.code == 0, ran.err
    found, token, arguments = json.loads(ran.out)
    url = found["REPLAYPROXY_URL"]
    assert url.startswith("http://127.0.0.1:")
    for name in PROXIES.split():
        assert found[name] == found[name.lower()] == url
    assert (found["NO_PROXY"], found["no_proxy"], found["MINE"]) == ("", "", "kept")
    for name in BUNDLES.split():
        text = Path(found[name]).read_text()
        assert Path(found["REPLAYPROXY_CA"]).read_text().strip() in text
        assert text.count("BEGIN CERTIFICATE") > 50
    assert found["NODE_USE_ENV_PROXY"] == "1"
    assert found["WSS_PROXY"] == url
    for word in ("-Djavax.net.ssl.trustStore=", "-Dhttps.proxyHost=127.0.0.1", f"-Dhttps.proxyPort={url[17:]}"):
        assert word in found["JAVA_TOOL_OPTIONS"]
    assert len(token) > 30
    assert token not in json.dumps(found)
    assert arguments == ["-c", "-q", "--", "--help"]
    assert not (product.folder / "r.json").exists()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a socket in the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("control")
        self._path = path

    def connect(self) -> None:
        """A connection to the socket's file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def asked(control: str, method: str, path: str, token: str = "") -> tuple[int, Any]:
    """Status and JSON of a call to the control API."""
    link = UnixConnection(control.removeprefix("unix:"))
    link.request(method, path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = link.getresponse()
    body = answer.read()
    link.close()
    return answer.status, json.loads(body) if body.startswith(b"{") else body


def test_the_control_api_has_a_socket_of_its_own(product: Any, words: tuple[str, ...]) -> None:
    """Only its owner may open it, a token is asked for, and it is no proxy; the proxy is no control API."""
    with product.serving(*words) as running:
        control, token = running.ready["control"], running.ready["token"]
        path = Path(control.removeprefix("unix:"))
        assert path.stat().st_mode & 0o077 == 0
        assert asked(control, "GET", "/healthz")[0] == asked(control, "GET", "/readyz")[0] == 200
        assert asked(control, "GET", "/state")[0] == asked(control, "GET", "/state", "wrong")[0] == 401
        status, state = asked(control, "GET", "/state", token)
        assert status == 200
        assert list(state) == sorted(state)
        assert asked(control, "GET", "/never", token)[0] == 404
        proxy = http.client.HTTPConnection(running.ready["proxy"].removeprefix("http://"), timeout=20)
        proxy.request("GET", "/state", headers={"Authorization": f"Bearer {token}"})
        assert proxy.getresponse().status in (400, 421, 424, 451)
        proxy.close()
        assert running.stop().code == 0
    assert not path.exists()


def test_a_client_that_refuses_our_certificate_is_named(product: Any, words: tuple[str, ...]) -> None:
    """HOST:PORT on stderr and in the report, so that pinning is not looked for in vain."""
    with product.serving(*words, "--report", "report.json") as running:
        link = http.client.HTTPSConnection(
            running.ready["proxy"].removeprefix("http://"), timeout=20, context=ssl.create_default_context()
        )
        link.set_tunnel("chat.vendors.example", 443)
        with pytest.raises(ssl.SSLCertVerificationError):
            link.request("GET", "/")
        link.close()
        ended = running.stop()
    assert "chat.vendors.example:443" in ended.err
    report = json.loads((product.folder / "report.json").read_text())
    assert report["pinned"] == ["chat.vendors.example:443"]
    assert (report["mode"], report["exit"], report["schema"]) == (words[0], 0, "replayproxy/report/1")


@pytest.mark.usefixtures("engine")
def test_a_socket_that_a_killed_run_has_left_makes_way(product: Any) -> None:
    """The next run starts; a file that is no socket is left alone."""
    path = product.folder / "control.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(path))
    with product.serving(*REPLAY) as running:
        assert asked(running.ready["control"], "GET", "/healthz")[0] == 200
        running.stop()
    path.write_text("mine")
    product.run(*REPLAY, "--control", f"unix:{path}", "--", "true").told(3, str(path))
    assert path.read_text() == "mine"
