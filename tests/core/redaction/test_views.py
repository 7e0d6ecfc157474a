"""Text under an escape: read as what it spells, changed in its own spelling."""

from __future__ import annotations

import json
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replayproxy.core.redaction.views import ANY, FORM, HTML, JSON, PERCENT, Escape, view

CASES: dict[str, tuple[Escape, str, str]] = {
    "percent": (PERCENT, "a%2Fb%3d+c%zz%", "a/b=+c%zz%"),
    "form": (FORM, "a+b%2Bc", "a b+c"),
    "json": (JSON, r"a\/b\n\u0041\"\\\x", 'a/b\nA"\\\\x'),
    "json, wide": (JSON, r"\u00e9\ud83d\ude00\ud800", "é😀".encode().decode("latin-1") + "\xed\xa0\x80"),
    "html": (HTML, "a&amp;b&#39;c&#x2F;&nbsp;&", "a&b'c/&nbsp;&"),
    "any": (ANY, r"%41\u0042&#67;", "ABC"),
}


@pytest.mark.parametrize(("escape", "source", "text"), CASES.values(), ids=CASES)
def test_what_is_spelled(escape: Escape, source: str, text: str) -> None:
    """Each escape says its characters; the rest says itself, and the whole spells the source again."""
    seen = view(source, escape)
    assert seen is not None
    assert seen.text == text
    assert seen.spell(0, len(text), text) == source
    assert seen.span(0, len(text)) == (0, len(source))


@pytest.mark.parametrize("escape", [PERCENT, FORM, JSON, HTML, ANY])
def test_text_without_escapes_has_no_view(escape: Escape) -> None:
    """It says itself."""
    assert view("plain % & text", escape) is None
    assert view("", escape) is None


@pytest.mark.parametrize(
    ("escape", "source", "old", "new", "result"),
    [
        (PERCENT, "x%41%4ay", "AJ", "BK", "x%42%4by"),
        (PERCENT, "%2F%4A", "J", "K", "%2F%4B"),
        (FORM, "a+b%20", "a b", "c d", "c+d%20"),
        (JSON, r"\/ab\/", "/ab", "/cd", r"\/cd\/"),
        (JSON, r"x\u0041\u004Ay", "AJ", "BZ", r"x\u0042\u005Ay"),
        (JSON, r"\u004aB", "JB", "KC", r"\u004bC"),
        (JSON, r"\"a", '"', "b", "ba"),
        (JSON, r"a\nb", "\n", "\\", r"a\u005cb"),
        (JSON, r"\u0430", "\xd0\xb0", "\xd0\xb1", r"\u0431"),
        (JSON, r"\ud83d\ude00", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81", r"\ud83d\ude01"),
        (JSON, r"a\/é".encode().decode("latin-1"), "/", "\xe9", "a\xe9\xc3\xa9"),
        (HTML, "a&amp;b", "a&b", "c&d", "c&amp;d"),
        (HTML, "a&amp;b", "&", "<", "a&lt;b"),
        (ANY, r"%41\u0042&#67;", "AB", "CD", r"%43\u0044&#67;"),
    ],
)
def test_an_edit_is_spelled_as_its_place_was(escape: Escape, source: str, old: str, new: str, result: str) -> None:
    """The manner, and the case, of each escape stay; what is not touched stays octet for octet."""
    seen = view(source, escape)
    assert seen is not None
    at = seen.text.index(old)
    start, end = seen.span(at, at + len(old))
    assert source[:start] + seen.spell(at, at + len(old), new) + source[end:] == result


def test_an_escape_of_several_octets_is_changed_as_one() -> None:
    """An edit of a part of what an escape says spells the whole escape anew."""
    seen = view(r"\u0430x", JSON)
    assert seen is not None
    assert seen.span(1, 2) == (0, 6)
    assert seen.spell(1, 2, "\xb1") == r"\u0431"
    assert seen.span(0, 1) == (0, 6)
    assert seen.spell(0, 1, "\xd1") == r"\u0470"
    assert seen.span(1, 1) == (0, 0)
    assert seen.span(3, 3) == (7, 7)


@given(st.text(max_size=20), st.integers(0, 60), st.integers(0, 60), st.sampled_from(["%", "json"]))
def test_only_the_span_is_changed(text: str, first: int, second: int, kind: str) -> None:
    """What is spelled after an edit is what was spelled, edited."""
    source = urllib.parse.quote(text, safe="") if kind == "%" else json.dumps(text)[1:-1]
    seen = view(source, PERCENT if kind == "%" else JSON)
    if seen is None:
        return
    start, end = sorted((min(first, len(seen.text)), min(second, len(seen.text))))
    if not seen.text[start:end].isascii() or start == end:
        return
    new = "z" * (end - start)
    left, right = seen.span(start, end)
    edited = source[:left] + seen.spell(start, end, new) + source[right:]
    again = view(edited, seen.escape)
    assert (again.text if again else edited) == seen.text[:start] + new + seen.text[end:]
