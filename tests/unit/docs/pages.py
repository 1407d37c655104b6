"""The pages of the documentation: their text, their blocks of code, their headings and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.paths import ROOT

DOCS: Final = ROOT / "docs"
PAGES: Final = tuple(sorted(DOCS.glob("*.md")))
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)


class Block(NamedTuple):
    """A block of code: its language, its text, the heading of level 2 that it stands under, and the nearest of all."""

    language: str
    text: str
    section: str
    heading: str


def blocks(page: Path, language: str) -> Iterator[Block]:
    """The blocks of one language in a page."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        before = _BLOCK.sub("", text[: found.start()])
        sections, headings = re.findall(r"^## (.+)$", before, re.MULTILINE), _HEADING.findall(before)
        if found[1] == language:
            yield Block(found[1], found[2], *(names[-1] if names else "" for names in (sections, headings)))


def links(page: Path) -> list[str]:
    """Targets of links, code left out."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", text))


def anchors(page: Path) -> set[str]:
    """What may stand behind ``#`` for a page: its headings, as GitHub and MkDocs write them."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return {_slug(heading) for heading in _HEADING.findall(text)}


def _slug(heading: str) -> str:
    """Letters, digits, dashes; the rule that both have in common for plain words."""
    plain = re.sub(r"[^\w\s-]", "", re.sub(r"[`*]", "", heading)).strip().lower()
    return re.sub(r"\s+", "-", plain)
