"""The one YAML reader by itself: what a kind of file says, and nothing of one kind."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.policy.reading.document import Document
from rescheduler.policy.reading.yaml_reader import FAST_LOADER, YamlReader, YamlTextError


class _Fast(YamlReader):
    """As large texts are read."""

    loader = FAST_LOADER
    allows_aliases = True
    deepest = 3
    most_entries = 12
    few_lines = "it is small"


def read(text: str, reader: type[YamlReader] = YamlReader) -> list[Any]:
    """All documents of a text."""
    return list(reader(text, "f").documents())


@pytest.mark.parametrize("reader", [YamlReader, _Fast])
def test_plain_words_and_quoted_ones(reader: type[YamlReader]) -> None:
    """By the core schema of YAML 1.2: neither ``yes`` nor ``0x1F`` is anything but a text."""
    text = "- [1, -2.5, 1e3]\n- [true, ~, '5', yes, 0x1F]\n"
    assert read(text, reader) == [[[1, -2.5, 1000.0], [True, None, "5", "yes", "0x1F"]]]


def test_each_document_is_read() -> None:
    """Empty ones too; a text without any has none."""
    assert read("---\n---\na: 1\n") == [None, {"a": 1}]
    assert read("# nothing\n") == []


def test_places_are_kept_where_they_are_wanted() -> None:
    """Of keys and values, by their path."""
    reader = YamlReader("a:\n- b: 1\n", "f")
    reader.document = Document("f")
    list(reader.documents())
    assert reader.document.values[("a", 0, "b")] == ("f", 2, 6)
    assert reader.document.keys[("a", 0, "b")] == ("f", 2, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1\n", "f:1:4: a: anchors are not allowed"),
        ("a: !t 1\n", "f:1:4: a: the tag !t is not allowed"),
        ("a: {b: 1, b: 2}\n", "f:1:11: a: the field b stands twice in one place"),
        ("a: [0, .nan]\n", "f:1:8: a[1]: .nan is no number that can be used here"),
        ('a: "\\UFFFFFFFF"\n', "f: an escape in a quoted text stands for no character"),
    ],
)
def test_what_is_refused_has_its_place(text: str, said: str) -> None:
    """File, line, column and path."""
    with pytest.raises(YamlTextError) as caught:
        read(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [1]\nb: [[*x]]\n", "f:2:6: b[0][0]: nested deeper than 3 levels"),
        ("a: &x [1, 2, 3, 4]\nb: *x\nc: *x\n", "f:3:4: c: more than 12 entries; it is small"),
        ("a: *x\n", "f:1:4: a: the alias *x names nothing that stands before it"),
        ("a: &x 1\n*x : 2\n", "f:2:1: an alias cannot be a key"),
    ],
)
def test_a_repeated_value_counts_as_if_it_were_written_out(text: str, said: str) -> None:
    """Its levels and entries; nothing can be hidden in an alias."""
    with pytest.raises(YamlTextError) as caught:
        read(text, _Fast)
    assert str(caught.value).startswith(said)
