"""Reference pages speak of the rescheduler, its operator and the cluster, and of nobody else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.docs.pages import PAGES, ROOT

_WHO = re.compile(r"\b(?:we|us|ours?)\b", re.IGNORECASE)
_LINK_OR_CODE = re.compile(r"\]\([^)\s]+\)|`[^`\n]*`|[\w-]+\.md")
TEXTS = (*PAGES, ROOT / "README.md", *sorted((ROOT / "deploy").rglob("*.yaml")), *(ROOT / "deploy").rglob("NOTES.txt"))


def spoken(text: str) -> list[str]:
    """Each line that speaks of us, without targets of links, names of files, and code."""
    return [line for line in _LINK_OR_CODE.sub("", text).splitlines() if _WHO.search(line)]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_no_page_speaks_of_us(page: Path) -> None:
    """Who reads it does not know who that is."""
    assert spoken(page.read_text(encoding="utf-8")) == []


def test_the_test_would_notice() -> None:
    """Whole words only; what a file is called does not count."""
    assert spoken("Ours.\nstatus of your hours, docs/what-we-write.md\n[x](what-we-write.md)\nit dies with us") == [
        "Ours.",
        "it dies with us",
    ]
