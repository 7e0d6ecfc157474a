"""Providers and the places their rules name."""

import pytest

from replayproxy.core.provider import DEFAULT, Provider, Providers, Selector


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("header:X-Request-ID", "header", "x-request-id"),
        ("query:Page", "query", "Page"),
        ("form:a:b", "form", "a:b"),
        ("json:$.a['b'][0]", "json", "$.a['b'][0]"),
        (r"path:/bot(\d+)/", "path", r"/bot(\d+)/"),
    ],
)
def test_selectors(text: str, kind: str, name: str) -> None:
    """A selector is a kind and a name; header names are known in lower case."""
    selector = Selector.parse(text)
    assert (selector.kind, selector.name) == (kind, name)
    assert Selector.parse(str(selector)) == selector


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("X-Request-ID", "allowed: header:"),
        ("cookie:a", "allowed: header:"),
        ("header:", "allowed: header:"),
        ("json:a.b", "starts with"),
        ("path:(", "not a regular expression"),
    ],
)
def test_what_is_no_selector_is_told(text: str, told: str) -> None:
    """The error says what would be one."""
    with pytest.raises(ValueError, match=told):
        Selector.parse(text)


def test_the_first_provider_that_serves_a_host_decides() -> None:
    """Order counts; without one, the defaults hold."""
    first = Provider(name="first", hosts=("api.example.test",))
    rest = Provider(name="rest", hosts=("*.example.test",))
    providers = Providers((first, rest))
    assert providers.of("api.example.test") is first
    assert providers.of("www.example.test") is rest
    assert providers.of("example.org") is DEFAULT
