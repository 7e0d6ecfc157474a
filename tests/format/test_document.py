"""YAML is read safely: what may be dangerous is refused with its line, and nothing is ever executed."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from replayproxy.core.errors import CassetteError, SettingsError
from replayproxy.format.document import MOST_ALIASED, MisfitError, line_of, parse


def bomb() -> str:
    """Nine levels of ten aliases each."""
    levels = ["&a0 [x,x,x,x,x,x,x,x,x,x]"]
    levels += [f"&a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "[" + ",\n".join(levels) + "]"


REFUSED = {
    "python object": ('a: 1\nb: !!python/object/apply:os.system ["true"]', 2, "tag !!python/object/apply:os.system"),
    "python name": ("!!python/name:os.system", 1, "tag"),
    "own tag": ("a: !mine 1", 1, "tag !mine"),
    "tag on a mapping": ("a: !!set {x}", 1, "tag !!set"),
    "tag on a key": ("!!binary YQ==: 1", 1, "a key must be text"),
    "timestamp tag": ("a: !!timestamp 2026-01-01", 1, "tag !!timestamp"),
    "alias bomb": (bomb(), None, "aliases"),
    "alias of nothing": ("a: *b", 1, "*b"),
    "alias of itself": ("a: &b [*b]", 1, "*b"),
    "depth": ("[" * 2000 + "]" * 2000, 1, "nesting"),
    "depth below libyaml's own limit": ("[" * 65 + "]" * 65, 1, "deeper than 64"),
    "depth of mappings": ("{a: " * 100 + "}" * 100, 1, "deeper than 64"),
    "key twice": ("a: 1\nb: 2\na: 3\n", 3, "'a' stands twice"),
    "mapping as key": ("{a: 1}: 2", 1, "a key must be text"),
    "list as key": ("? [a]\n: 2", 1, "a key must be text"),
    "alias as key": ("a: &x b\n*x : c", 2, "a key must be text"),
    "second document": ("a: 1\n---\nb: 2\n", 2, "second document"),
    "empty": ("", 1, "is empty"),
    "only a comment": ("# nothing\n", 1, "is empty"),
    "cut off": ("a: [1, 2\n", None, "not valid YAML"),
    "tab": ("a:\n\t- b\n", 2, "not valid YAML"),
    "control character": ("a: 1\nb: \x01\n", 2, "not YAML text"),
    "bad base64": ("a: !!binary '%%%'", 1, "base64"),
    "unfinished base64": ("a: !!binary YQ", 1, "base64"),
}


@pytest.mark.parametrize(("text", "line", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(text: str, line: int | None, why: str) -> None:
    """Each of these is an error of the kind asked for, that names file and line."""
    with pytest.raises(SettingsError) as caught:
        parse(text.encode(), "x.yaml", kind=SettingsError)
    assert caught.value.what.startswith(f"x.yaml:{line}:" if line else "x.yaml:")
    assert why in caught.value.what


def test_text_that_is_not_utf8_is_refused() -> None:
    """The line of the bad octet is named."""
    with pytest.raises(CassetteError, match=r"^x\.yaml:2: is not YAML text"):
        parse(b"a: 1\nb: \xff\xfe\xfa\n", "x.yaml")


def test_a_huge_file_is_refused_before_it_is_read() -> None:
    """The limit is on octets, so that reading costs nothing."""

    class Huge(bytes):
        def __len__(self) -> int:
            return 1 << 31

    with pytest.raises(CassetteError, match="larger than 1024 MiB"):
        parse(Huge(b"a: 1"), "x.yaml")


VALUES: dict[str, tuple[str, Any]] = {
    "text": ("abc", "abc"),
    "quoted number": ("'12'", "12"),
    "double-quoted true": ('"true"', "true"),
    "explicit text": ("!!str 12", "12"),
    "bare exclamation": ("! 12", "12"),
    "python 2's unicode": ("!!python/unicode 'hi'", "hi"),
    "python 2's str": ("!!python/str 'hi'", "hi"),
    "explicit int": ("!!int 12", 12),
    "explicit null": ("!!null ''", None),
    "binary": ("!!binary |\n  AAEC\n  Aw==", b"\x00\x01\x02\x03"),
    "empty": ("", None),
    "time stays text": ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    "date stays text": ("2026-01-01", "2026-01-01"),
    "sexagesimal stays text": ("1:30", "1:30"),
    "hex digits with e stay text": ("12e4567", "12e4567"),
    "underscores": ("1_000", 1000),
    "octal": ("010", 8),
    "hexadecimal": ("0x1F", 31),
    "binary number": ("0b11", 3),
    "negative": ("-5", -5),
    "plus": ("+5", 5),
    "too long for a number": ("1" * 60, "1" * 60),
    "no digits": ("0b_", "0b_"),
    "float": ("1.5", 1.5),
    "float with exponent": ("1.5e+3", 1500.0),
    "infinity": ("-.inf", float("-inf")),
    "dot": (".", "."),
    "minus": ("-x", "-x"),
    "mapping": ("{a: [1, {b: 2}], c: {}}", {"a": [1, {"b": 2}], "c": {}}),
    "keys are always text": ("{on: 1, 200: 2, null: 3}", {"on": 1, "200": 2, "null": 3}),
    "alias": ("[&x {a: 1}, *x, &y b, *y]", [{"a": 1}, {"a": 1}, "b", "b"]),
    "json": ('{"a": ["\\u00e9", null, true]}', {"a": ["é", None, True]}),
    "directive": ("%YAML 1.1\n---\na: 1\n...\n", {"a": 1}),
}


@pytest.mark.parametrize(("text", "value"), VALUES.values(), ids=VALUES.keys())
def test_values(text: str, value: Any) -> None:
    """Scalars mean what they mean to PyYAML, save that times and 1:30 stay text and keys are always text."""
    found = parse(b"v: " + text.encode() if not text.startswith("%") else text.encode(), "x.yaml").value
    assert found == (value if text.startswith("%") else {"v": value})


def test_nan() -> None:
    """Not a number is a float that is not itself."""
    value = parse(b".nan", "x.yaml").value
    assert value != value  # noqa: PLR0124


def test_aliases_may_be_used_in_measure() -> None:
    """What VCR.py writes is read; one alias too many is not."""
    rows = "\n".join("- *x" for _ in range(MOST_ALIASED // 10 + 1))
    with pytest.raises(CassetteError, match=r"x\.yaml:\d+: its aliases"):
        parse(f"- &x [1,2,3,4,5,6,7,8,9]\n{rows}\n".encode(), "x.yaml")
    assert len(parse(f"- &x [1,2]\n{'- *x' + chr(10)}".encode(), "x.yaml").value) == 2


leaves = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12) | st.binary(max_size=12)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=150, deadline=None)
@given(trees)
def test_what_pyyaml_writes_is_read_alike(value: Any) -> None:
    """For every value that PyYAML's safe dumper writes, we read what libyaml's safe loader reads, aliases included."""
    text = yaml.safe_dump([value, value], allow_unicode=True)
    assert parse(text.encode(), "x.yaml").value == yaml.load(text, Loader=yaml.CSafeLoader)  # noqa: TID251


LINES = "top:\n- one\n- two:\n    a: 1\n    b:\n    - x\n    - y\nlast: {c: 1,\n  d: 2}\n"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("top",), 1),
        (("top", 0), 2),
        (("top", 1, "two", "a"), 4),
        (("top", 1, "two", "b", 1), 7),
        (("last", "d"), 9),
        (("last", "missing"), 8),
        (("top", 7), 2),
        (("nowhere",), 1),
    ],
)
def test_line_of(path: tuple[str | int, ...], line: int) -> None:
    """The line of a value's key, or of a list's item, or that of the nearest value around what is missing."""
    assert line_of(LINES.encode(), path) == line


def test_line_of_survives_what_follows() -> None:
    """A fault further down does not hide the line of what stands before it, and of nothing it makes none."""
    assert line_of(b"a: 1\nb: 2\nc: [", ("b",)) == 2
    assert line_of(b"a: 1\nb: 2\nc: [", ("x",)) == 1


def test_error_names_line_and_path() -> None:
    """FILE:LINE: path: why, and the hint behind it."""
    document = parse(LINES.encode(), "x.yaml")
    error = document.error(MisfitError("is odd", ("top", 1, "two"), hint="mend it"))
    assert str(error) == "x.yaml:3: top[1].two: is odd\n\nhint: mend it"
