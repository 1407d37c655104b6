"""Whatever the documentation points at is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.unit.docs.pages import DOCS, PAGES, ROOT, anchors, links

READ: Final = (*PAGES, *sorted((DOCS / "decisions").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md")
_PATH: Final = re.compile(
    r"(?<![\w./-])(?:docs|deploy|policies|rescheduler|tests|benchmarks)/[\w./-]*\w\.(?:md|ya?ml|json|py|sh)\b"
)
"""A file of this repository as text names it, from the root on."""


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """To a file that there is, and to a heading that it has."""
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}; there are {sorted(anchors(target))}"


def test_every_page_is_linked_from_another() -> None:
    """Nobody finds a page by its file's name."""
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in (*PAGES, ROOT / "README.md")
        for link in links(page)
        if not re.match(r"https?://|#", link) and (page.parent / link.partition("#")[0]).resolve() != page
    }
    assert set(PAGES) - linked == {DOCS / "index.md"}  # the site's own beginning


def texts() -> Iterator[Path]:
    """Whatever tells people of files: documentation, manifests, policies, and our own sources."""
    yield from READ
    for folder, ends in (("deploy", ("yaml", "tpl", "md")), ("policies", ("yaml",)), ("rescheduler", ("py",))):
        for end in ends:
            yield from sorted((ROOT / folder).rglob(f"*.{end}"))


def test_files_that_are_named_exist() -> None:
    """In comments of manifests and in messages to users too."""
    missing = {
        f"{text.relative_to(ROOT)}: {path}"
        for text in texts()
        for path in _PATH.findall(text.read_text(encoding="utf-8"))
        if not (ROOT / path).exists()
    }
    assert missing == set()


_IN_THE_PACKAGE: Final = re.compile(r"`((?:\w+/)+(?:\w+\.py)?)`")
"""A file or folder as a page names it, from the package on."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rooms_that_are_named_exist(page: Path) -> None:
    """A path that begins with a room of the package, or with the package or another folder of the project."""
    rooms = {folder.name for folder in (ROOT / "rescheduler").iterdir() if folder.is_dir()}
    folders = {folder.name for folder in ROOT.iterdir() if folder.is_dir()}
    missing = {
        path
        for path in _IN_THE_PACKAGE.findall(page.read_text(encoding="utf-8"))
        if path.partition("/")[0] in rooms | folders
        and not any((start / path).exists() for start in (ROOT, ROOT / "rescheduler"))
    }
    assert missing == set()


def test_the_test_would_notice() -> None:
    """A link in text counts, one in code does not; headings become what browsers jump to."""
    assert _PATH.findall("see docs/nowhere.md, (deploy/x.yaml) and my/docs/other.md") == [
        "docs/nowhere.md",
        "deploy/x.yaml",
    ]
    assert "what-the-eviction-api-answers-and-what-follows" in anchors(DOCS / "safety.md")
    assert "what-we-write.md" in links(DOCS / "rights.md")
