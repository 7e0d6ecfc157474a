"""Fields that came before are not read again, and that makes no difference."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.exchange import Headers, Origin, Request
from replayproxy.core.provider import RedactRule
from replayproxy.core.redaction.memory import HELD, LONGEST, Memory
from replayproxy.core.redaction.message import Notes, read_headers
from replayproxy.core.redaction.placeholder import placeholder
from replayproxy.core.redaction.text import Search
from replayproxy.core.redaction.vault import Vault

SALT = "b7" * 16
SECRET = "AT-live-0001"
STANDS = placeholder(SALT, SECRET)
RULES = (RedactRule(pattern="acme-[0-9]+"),)


def request(headers: Headers, host: str = "api.test") -> Request:
    """A GET with these fields."""
    return Request(method="GET", origin=Origin.of("https", host), target="/", headers=headers)


def read(memory: Memory, vault: Vault, headers: Headers, host: str = "api.test") -> tuple[Headers, Notes, Vault]:
    """The fields masked, what was noted, and what the request taught."""
    inner, notes = vault.inner(), Notes()
    rules = RULES if host == "api.test" else ()
    return memory.headers(request(headers, host), Search(inner, rules), notes), notes, inner


def test_what_a_field_teaches_is_taught_each_time() -> None:
    """A request learns from a field that was remembered; the vault around it learns nothing."""
    vault = Vault(SALT)
    memory = Memory(vault)
    for _ in range(3):
        made, notes, inner = read(memory, vault, (("X-Api-Key", SECRET),))
        assert made == (("X-Api-Key", STANDS),)
        assert [(at, mask.rule) for at, mask in notes] == [("request.header:x-api-key", "key")]
        assert [edit.new for edit in inner.find(SECRET)] == [STANDS]
    assert (len(vault), list(vault.find(SECRET))) == (0, [])
    other, _, quiet = read(memory, vault, (("X-Note", SECRET),))
    assert other == (("X-Note", SECRET),)
    assert len(quiet) == 0


def test_one_field_teaches_the_others() -> None:
    """Wherever they stand; words of the protocol are let be."""
    vault = Vault(SALT)
    memory = Memory(vault)
    headers = (("X-Note", f"a {SECRET}"), ("Vary", SECRET), ("X-Api-Key", SECRET), ("X-More", "b"))
    for _ in range(2):
        made, notes, _ = read(memory, vault, headers)
        assert made == (("X-Note", f"a {STANDS}"), ("Vary", SECRET), ("X-Api-Key", STANDS), ("X-More", "b"))
        assert {at for at, _ in notes} == {"request.header:x-api-key", "request.header:x-note"}


def test_rules_are_those_of_the_host() -> None:
    """What is a secret for one host is none for another."""
    vault = Vault(SALT)
    memory = Memory(vault)
    headers = (("X-Tenant", "acme-0001"),)
    for _ in range(2):
        assert read(memory, vault, headers)[0] == (("X-Tenant", placeholder(SALT, "acme-0001")),)
        assert read(memory, vault, headers, "other.test")[0] == headers


def test_more_knowledge_forgets_what_was_read_without_it() -> None:
    """A secret that the vault learns is masked in a field that was clean before."""
    vault = Vault(SALT)
    memory = Memory(vault)
    headers = (("X-Note", SECRET),)
    assert read(memory, vault, headers)[0] == headers
    vault.conceal(SECRET, "key")
    assert read(memory, vault, headers)[0] == (("X-Note", STANDS),)
    assert read(memory, vault, (("X-Other", "x"),))[0] == (("X-Other", "x"),)
    key = (("X-Api-Key", "OT-live-0002"),)
    assert read(memory, vault, key)[0] != key
    vault.recall(["OT-live-0002"])
    assert read(memory, vault, key)[0] == key


def test_memory_is_bounded() -> None:
    """More fields, and longer ones, than are remembered are read all the same."""
    vault = Vault(SALT)
    memory = Memory(vault)
    many = tuple((f"X-{number}", f"value {number}") for number in range(HELD + 2))
    assert read(memory, vault, many)[0] == many
    long = (("X-Api-Key", SECRET * (LONGEST // len(SECRET) + 1)),)
    made, _, inner = read(memory, vault, long)
    assert made == (("X-Api-Key", placeholder(SALT, long[0][1])),)
    assert len(inner) == 1


FIELDS = st.tuples(
    st.sampled_from(["X-Api-Key", "Authorization", "Cookie", "X-Note", "Content-Length"]),
    st.sampled_from([SECRET, f"Bearer {SECRET}", f"sid={SECRET}; a=1", "quiet", f"%41{SECRET}", "acme-0001", "123456"]),
)


@settings(max_examples=60)
@given(st.lists(st.lists(FIELDS, max_size=4), max_size=4))
def test_it_makes_no_difference(requests: list[list[tuple[str, str]]]) -> None:
    """Every request of any sequence is masked as if it were the first, and as without a memory."""
    vault = Vault(SALT, [placeholder(SALT, "acme-0001")])
    memory = Memory(vault)
    for headers in map(tuple, requests):
        made, _, inner = read(memory, vault, headers)
        once, _, other = read(Memory(vault), vault, headers)
        assert made == once
        assert len(inner) == len(other)
        plain = vault.inner()
        known = -1
        while known != len(plain):
            known = len(plain)
            expected = read_headers(request(headers), Search(plain, RULES), Notes())
        assert made == expected
