"""The glossary and the code agree: each word has its name there, and words that went have none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.unit.docs.pages import DOCS, ROOT

_NAME = re.compile(r"`([^`]+)`")
SOURCES = tuple(sorted((ROOT / "rescheduler").rglob("*.py")))


def tables() -> tuple[list[list[str]], list[list[str]]]:
    """Rows of the words in use and of those that went, as cells."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    found = [
        [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    ]
    used, gone = found
    return used, gone


@cache
def modules_and_classes() -> frozenset[str]:
    """What a reader looks for by name first."""
    modules = {path.parent.name if path.name == "__init__.py" else path.stem for path in SOURCES}
    return frozenset(modules | set(re.findall(r"^ *class (\w+)", sources(), re.MULTILINE)))


@cache
def names() -> frozenset[str]:
    """Modules, classes, functions and fields of the code, and fields of policies and plans."""
    defined = set(re.findall(r"^ *(?:def +)?(\w+)(?:: \w|\()", sources(), re.MULTILINE))
    documents = [json.loads((DOCS / name).read_text()) for name in ("policy.schema.json", "plan.schema.json")]
    return modules_and_classes() | defined | {name for document in documents for name in _fields(document)}


@cache
def sources() -> str:
    """The text of the whole package."""
    return "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


def _fields(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        yield from document.get("properties", ())
        document = list(document.values())
    if isinstance(document, list):
        for part in document:
            yield from _fields(part)


@pytest.mark.parametrize("row", tables()[0], ids=lambda row: row[0])
def test_each_word_has_its_name_in_the_code(row: list[str]) -> None:
    """Under a name that the glossary gives; a word without one is no word of this project."""
    word, meaning, called = row
    assert word
    assert meaning
    assert _NAME.findall(called)
    assert set(_NAME.findall(called)) - names() == set()


@pytest.mark.parametrize("row", tables()[1], ids=lambda row: row[0])
def test_words_that_went_are_gone(row: list[str]) -> None:
    """From modules and classes; what stands for them is there."""
    was, now = (set(_NAME.findall(cell)) for cell in row)
    assert was & modules_and_classes() == set()
    assert now
    assert now - names() == set()


def test_words_of_a_table_stand_once() -> None:
    """A word with two meanings has none."""
    words = [word for row in tables()[0] for word in row[0].split(", ")]
    assert len(words) == len(set(words))
