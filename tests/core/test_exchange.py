"""The nouns: origins, URLs, header look-up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.exchange import Origin, Request, header, header_values, normal_host, split_url


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ("API.Example.TEST", "api.example.test"),
        ("api.example.test.", "api.example.test"),
        ("bücher.test", "xn--bcher-kva.test"),
        ("XN--Bcher-Kva.test", "xn--bcher-kva.test"),
        ("[::1]", "::1"),
    ],
)
def test_spellings_of_one_host(spelling: str, normal: str) -> None:
    """All spellings of a host have one form."""
    assert normal_host(spelling) == normal


@pytest.mark.parametrize("bad", ["", ".", "[]", "a" * 70 + "é.test"])
def test_what_is_no_host_is_refused(bad: str) -> None:
    """A host that no spelling allows is told."""
    with pytest.raises(ValueError, match="host"):
        normal_host(bad)


@pytest.mark.parametrize(
    ("origin", "netloc"),
    [
        (Origin.of("http", "a.test"), "a.test"),
        (Origin.of("https", "a.test", 443), "a.test"),
        (Origin.of("https", "a.test", 80), "a.test:80"),
        (Origin.of("http", "::1", 8080), "[::1]:8080"),
    ],
)
def test_netloc(origin: Origin, netloc: str) -> None:
    """The default port is left out, IPv6 has brackets."""
    assert origin.netloc == netloc
    assert str(origin) == f"{origin.scheme}://{netloc}"


@pytest.mark.parametrize(
    ("url", "origin", "target"),
    [
        ("http://a.test", "http://a.test", "/"),
        ("http://a.test?x=1", "http://a.test", "/?x=1"),
        ("HTTP://A.test:80/a//b;v=1?q=%2F#f", "http://a.test", "/a//b;v=1?q=%2F"),
        ("https://u:p@a.test:8443/", "https://a.test:8443", "/"),
    ],
)
def test_split_url(url: str, origin: str, target: str) -> None:
    """The target stays octet for octet; fragment and user information are no part of it."""
    found, rest = split_url(url)
    assert (str(found), rest) == (origin, target)


@pytest.mark.parametrize("bad", ["/path", "ftp://a.test/", "http:///x", "http://a.test:x/"])
def test_other_urls_are_refused(bad: str) -> None:
    """Only absolute http and https URLs can be recorded."""
    with pytest.raises(ValueError, match=r"URL|[Pp]ort"):
        split_url(bad)


@given(st.text("abc%2F/;=&?+", max_size=20))
def test_url_and_split_url_are_inverse(rest: str) -> None:
    """A request's URL splits into the request's origin and target."""
    request = Request(method="GET", origin=Origin.of("https", "a.test"), target=f"/{rest}")
    assert split_url(request.url) == (request.origin, request.target)
    assert request.path == request.target.split("?")[0]


def test_asterisk_form_has_no_path() -> None:
    """`OPTIONS *` asks the server as a whole."""
    assert Request(method="OPTIONS", origin=Origin.of("http", "a.test"), target="*").url == "http://a.test"


def test_header_look_up() -> None:
    """Case does not count, order and repeats do."""
    headers = (("Set-Cookie", "a"), ("X", "1"), ("set-cookie", "b"))
    assert list(header_values(headers, "set-cookie")) == ["a", "b"]
    assert header(headers, "set-cookie") == "a"
    assert header(headers, "y") is None
