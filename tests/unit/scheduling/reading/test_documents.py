"""Reading YAML and JSON as Go programs do, and stopping at hostile texts."""

from __future__ import annotations

import math

import pytest

from rescheduler.scheduling.reading.documents import (
    MOST_CHARACTERS,
    MOST_ENTRIES,
    ConfigurationError,
    plain_value,
    read_documents,
)


def data(text: str) -> object:
    """The first document's data."""
    return read_documents("conf", text)[0].data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-3", -3), ("+7", 7), ("0x1F", 31), ("0b101", 5), ("0o17", 15), ("017", 15), ("1_000", 1000),
        ("0", 0), ("0.5", 0.5), (".5", 0.5), ("-1.5e3", -1500.0), ("true", True), ("No", False), ("on", True),
        ("~", None), ("", None), ("null", None), ("30s", "30s"), ("1:30", "1:30"), ("2026-01-01", "2026-01-01"),
        (".inf", math.inf), ("-.Inf", -math.inf), ("host.name", "host.name"), ("1" * 100, "1" * 100), ("0x", "0x"),
    ],
)  # fmt: skip
def test_plain_scalars(text: str, value: object) -> None:
    """An unquoted scalar is a number in any notation, a boolean, nothing, or else a text."""
    found = plain_value(text)
    assert found == value
    assert type(found) is type(value)


def test_no_number() -> None:
    """``.nan`` is read as what it is, so that whoever wants a number can refuse it."""
    assert math.isnan(float(plain_value(".nan") or 0))


def test_quoted_scalars_stay_texts() -> None:
    """Quotes make a text of anything."""
    assert data('{"a": "true", "b": \'5\', c: "null"}') == {"a": "true", "b": "5", "c": "null"}


def test_anchors_and_merge_keys() -> None:
    """Aliases repeat a value, merge keys take fields over unless they are written out."""
    text = "base: &b {weight: 1, name: x}\nsame: *b\nown:\n  <<: *b\n  weight: 2\n"
    base = {"weight": 1, "name": "x"}
    assert data(text) == {"base": base, "same": base, "own": {"weight": 2, "name": "x"}}


def test_json_with_tabs() -> None:
    """JSON may be indented with tabs; tabs within texts stay."""
    assert data('{\n\t"a": [\n\t\t1,\t2],\n\t"b": "x\\ty"\n}') == {"a": [1, 2], "b": "x\ty"}


def test_places_of_values() -> None:
    """A problem is told with the line and column of the value it is about."""
    document = read_documents("conf", "a:\n  b:\n  - c: 1\n")[0]
    assert str(document.problem(("a", "b", 0, "c"), "wrong")) == "conf:3:8: a.b[0].c: wrong"


def test_a_field_twice() -> None:
    """The last of doubled fields counts, and both lines are known."""
    document = read_documents("conf", "a: {x: 1}\nb: 2\na: 3\n")[0]
    assert document.data == {"a": 3, "b": 2}
    assert document.doubled == [(("a",), 1, 3)]
    assert str(document.problem(("a",), "wrong")) == "conf:3:4: a: wrong"


def test_several_documents() -> None:
    """Each document stands for itself; empty ones are left out."""
    assert [one.data for one in read_documents("conf", "---\na: 1\n---\n---\nb: 2\n")] == [{"a": 1}, {"b": 2}]


BILLION = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
TOWER = "a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n" + "".join(f"a{n}: &a{n} [[[[[*a{n - 1}]]]]]\n" for n in range(1, 9))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BILLION, f"more than {MOST_ENTRIES:,} entries"),
        (TOWER, "nested deeper than"),
        ("[" * 5000, "nested deeper than"),
        ("a: [" + "1," * (MOST_ENTRIES + 1) + "]", "entries"),
        ("x" * (MOST_CHARACTERS + 1), "larger than 256 KiB"),
        ("a: *b\n", "*b names nothing that stands before it"),
        ("a: &x [*x]\n", "*x names nothing that stands before it"),
        ("? [a]\n: 1\n", "cannot be a key"),
        ("a: &x 1\n? *x\n: 1\n", "cannot be a key"),
        ("a: 1\n\tb: 2\n", "a tab stands where YAML wants spaces"),
        ("a: {", "neither YAML nor JSON"),
        ("a: \x00", "the character '\\x00' may not stand in YAML"),
        ('a: "\\UFFFFFFFF"', "stands for no character"),
        ("\n".join("a: 1" for _ in range(60)), "fields are written twice"),
    ],
)
def test_hostile_and_broken_texts(text: str, said: str) -> None:
    """A text that cannot be read, or that would grow beyond bounds, is refused with its name."""
    with pytest.raises(ConfigurationError) as caught:
        read_documents("conf", text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("conf")
