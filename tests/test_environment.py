"""replayproxy.environment: clients find the proxy and trust it, and nothing leads them past it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.errors import UsageError
from replayproxy.environment import (
    BUNDLE_NAMES,
    PROXY_NAMES,
    child_environment,
    proxy_url,
    render,
    variables,
)

URL = "http://127.0.0.1:8080"
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


def ours(url: str = URL, truststore: str = "/s/trust.p12", java_options: str = "") -> dict[str, str]:
    """The variables for made-up files."""
    ca, bundle = Path("/s/ca.pem"), Path("/s/bundle.pem")
    return variables(url, ca=ca, bundle=bundle, truststore=Path(truststore), java_options=java_options)


@pytest.mark.parametrize(
    ("address", "url"),
    {
        "loopback": (("127.0.0.1", 8080), URL),
        "IPv6": (("::1", 1), "http://[::1]:1"),
        "IPv6 in brackets": (("[2001:DB8::1]", 1), "http://[2001:db8::1]:1"),
        "every IPv4 address": (("0.0.0.0", 1), "http://127.0.0.1:1"),
        "every address": (("::", 1), "http://[::1]:1"),
        "a name": (("proxy", 3128), "http://proxy:3128"),
        "an episode": (("127.0.0.1", 1, "e 1/2"), "http://e%201%2F2:x@127.0.0.1:1"),
    }.values(),
)
def test_the_url_is_one_that_a_client_can_reach(address: tuple[Any, ...], url: str) -> None:
    """Wildcard addresses become loopback, IPv6 is bracketed, the episode is the user."""
    assert proxy_url(*address) == url


def test_every_variable_of_the_contract_is_set() -> None:
    """Proxy in both cases, no exemption, one bundle for all, the CA and the URL for the curious."""
    found = ours()
    for name in PROXY_NAMES:
        assert found[name] == found[name.lower()] == URL
    assert found["WSS_PROXY"] == found["REPLAYPROXY_URL"] == URL
    assert found["NO_PROXY"] == found["no_proxy"] == ""
    assert {found[name] for name in BUNDLE_NAMES} == {"/s/bundle.pem"}
    assert found["NODE_USE_ENV_PROXY"] == "1"
    assert found["REPLAYPROXY_CA"] == "/s/ca.pem"


def test_java_is_told_by_properties_behind_the_users_own() -> None:
    """The JVM takes the last of two equal properties, so ours come last; no host is exempt."""
    options = ours("http://[::1]:9", java_options=" -Xmx1g ")["JAVA_TOOL_OPTIONS"]
    assert options.split() == [
        "-Xmx1g",
        "-Djavax.net.ssl.trustStore=/s/trust.p12",
        "-Djavax.net.ssl.trustStorePassword=changeit",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        "-Dhttp.proxyHost=::1",
        "-Dhttp.proxyPort=9",
        "-Dhttps.proxyHost=::1",
        "-Dhttps.proxyPort=9",
        "-Dhttp.nonProxyHosts=",
    ]


@pytest.mark.skipif(not shutil.which("java"), reason="needs Java")
def test_java_reads_a_path_with_spaces_and_quotes() -> None:
    """The JVM splits the variable at white space, and has quotes but no escapes."""
    path = Path('/a b/it\'s "here"/t.p12')
    found = ours(truststore=str(path))
    shown = subprocess.run(
        ["java", "-XshowSettings:properties", "-version"],
        env={"PATH": os.environ["PATH"], "JAVA_TOOL_OPTIONS": found["JAVA_TOOL_OPTIONS"]},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stderr
    assert f"javax.net.ssl.trustStore = {path}\n" in shown
    assert "http.nonProxyHosts = \n" in shown


def test_nothing_of_the_callers_leads_past_the_proxy() -> None:
    """Other cases of our names, and variables that clients prefer to ours, are gone; the rest stays."""
    caller = {
        "Http_Proxy": "http://other",
        "NO_PROXY": "*",
        "wss_proxy": "http://other",
        "grpc_proxy": "http://other",
        "ssl_cert_file": "/other",
        "SSL_CERT_DIR": "/other",
        "PATH": "/bin",
        "MY_PROXY": "kept",
    }
    child = child_environment(caller, ours())
    assert child == {"PATH": "/bin", "MY_PROXY": "kept", **ours()}


def test_the_control_token_is_withheld() -> None:
    """Whatever variable holds it, and an empty secret withholds nothing."""
    child = child_environment({"A": "x-TOKEN-y", "B": "b"}, {"C": "c"}, secrets=["TOKEN", ""])
    assert child == {"B": "b", "C": "c"}


@given(value=VALUES)
def test_a_shell_reads_back_what_was_written(value: str) -> None:
    """Any value survives the grammar of a POSIX shell."""
    assert shlex.split(render({"A": value}, "shell")) == ["export", f"A={value}"]


@pytest.mark.parametrize("value", ["", "plain", "two words", "it's", '"$HOME" `id` \\', "line\nline", "é"])
def test_a_real_shell_reads_back_what_was_written(value: str) -> None:
    """`eval "$(replayproxy env)"` gives the values and runs nothing."""
    script = render({"A": value}, "shell") + f'exec {sys.executable} -c "import os; print(ascii(os.environ[chr(65)]))"'
    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == ascii(value) + "\n"


@pytest.mark.parametrize(
    ("value", "line"),
    {
        "bare": ("http://127.0.0.1:1", "A=http://127.0.0.1:1"),
        "empty": ("", "A="),
        "with a space": ("a b", "A='a b'"),
        "with a variable": ("a$B", "A='a$B'"),
        "with a single quote": ("it's $5", 'A="it\'s \\$5"'),
        "with a line break": ("a\nb", 'A="a\\nb"'),
    }.values(),
)
def test_dotenv_values_are_quoted_where_they_must_be(value: str, line: str) -> None:
    """Nothing is interpolated by the reader."""
    assert render({"A": value}, "dotenv") == line + "\n"


@given(found=st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), VALUES, max_size=4))
def test_json_reads_back_as_it_was(found: dict[str, str]) -> None:
    """The JSON form holds every value, and says which form it is."""
    document = json.loads(render(found, "json"))
    assert document == {"schema": "replayproxy.env/1", "variables": found}


def test_docker_lines_are_bare_and_refuse_line_breaks() -> None:
    """An env-file takes everything behind `=` as it is, to the end of the line."""
    assert render({"A": "a 'b' $C", "B": ""}, "docker") == "A=a 'b' $C\nB=\n"
    with pytest.raises(UsageError, match="A cannot be written for docker"):
        render({"A": "a\nb"}, "docker")
