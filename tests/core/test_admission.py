"""Admission: what may be recorded is decided on the name, before a byte leaves."""

import pytest

from replayproxy.core.admission import Admission, Refusal, is_local
from replayproxy.core.exchange import Origin
from replayproxy.core.rights import Permission, Tag, WideningError, preset
from replayproxy.core.rights.findings import Finding

OWN = preset("own-synthetic")


def admission(tag: Tag | None = OWN, *allow: str) -> Admission:
    """Rules under which every host has TAG."""
    return Admission(rights_of=lambda _host, _path: tag, allow=allow)


@pytest.mark.parametrize(
    ("host", "allow", "code"),
    [
        ("api.example.test", (), None),
        ("api.example.test", ("*.example.test",), None),
        ("other.example.org", ("*.example.test",), "host-not-allowed"),
        ("127.0.0.1", (), "local-address"),
        ("127.0.0.1", ("127.0.0.1",), None),
        ("127.0.0.1", ("*.example.test",), "host-not-allowed"),
        ("localhost", (), "local-address"),
        ("169.254.169.254", (), "local-address"),
    ],
)
def test_hosts(host: str, allow: tuple[str, ...], code: str | None) -> None:
    """A glob admits what it names and nothing else; local addresses only where they are named."""
    decision = admission(OWN, *allow).decide(Origin.of("http", host), "/")
    if code is None:
        assert decision == OWN
    else:
        assert isinstance(decision, Refusal)
        assert decision.code == code
        assert host in decision.message
        assert decision.hint == f"--allow-host {host}"


def test_a_host_nobody_has_spoken_of_is_refused() -> None:
    """No tag, no recording."""
    decision = admission(None).decide(Origin.of("https", "api.example.test"), "/")
    assert isinstance(decision, Refusal)
    assert decision.code == "RP010"


def test_rights_that_forbid_to_store_refuse() -> None:
    """A tag that forbids `store` keeps the exchange from being made at all."""
    tag = Tag(permissions=(("store", Permission("forbidden")),))
    decision = admission(tag).decide(Origin.of("https", "api.example.test"), "/")
    assert isinstance(decision, Refusal)
    assert decision.code == "RP030"


def test_a_widening_refuses() -> None:
    """Rights that may not be claimed are not a reason to record."""
    finding = Finding(code="RP011", level="deny", message="claims too much", hint="do not")

    def widening(host: str, path: str) -> Tag | None:
        raise WideningError((finding,))

    decision = Admission(rights_of=widening).decide(Origin.of("https", "api.example.test"), "/")
    assert isinstance(decision, Refusal)
    assert (decision.code, decision.hint) == ("RP011", "do not")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.1", True),
        ("2130706433", True),
        ("0x7f000001", True),
        ("0.0.0.0", True),
        ("::1", True),
        ("::", True),
        ("::ffff:127.0.0.1", True),
        ("fe80::1%eth0", True),
        ("fd00:ec2::254", True),
        ("169.254.0.7", True),
        ("db.localhost", True),
        ("metadata.google.internal", True),
        ("10.0.0.1", False),
        ("8.8.8.8", False),
        ("2001:db8::1", False),
        ("localhost.example.test", False),
        ("127.0.0.1.example.test", False),
        ("1e100.net", False),
    ],
)
def test_local_names(host: str, local: bool) -> None:
    """Every spelling of loopback, link-local and metadata addresses is known as one."""
    assert is_local(host) is local
