"""The pictures in the docs are those of today's pages."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.browser.browser import Browser
from tests.browser.screenshots import FOLDER, HEIGHT, SCREENSHOTS, taken
from tests.paths import ROOT

LARGEST_BYTES = 200_000
MEASURED = ("openb-month.png",)
"""Pictures of what a benchmark measured, which nobody can take again without its data."""


def size(picture: bytes) -> tuple[int, ...]:
    """Width and height of a PNG."""
    assert picture.startswith(b"\x89PNG")
    return struct.unpack(">II", picture[16:24])


def test_every_picture_can_be_made_and_is_committed_in_its_size(browser: Browser, pages: Path) -> None:
    """One of another size, or of a page that shows something else by far, was not made anew: ``make screenshots``."""
    for one, picture in taken(browser, pages):
        committed = (FOLDER / one.name).read_bytes()
        assert size(committed) == size(picture) == (one.width, HEIGHT)
        assert len(committed) < LARGEST_BYTES
        assert 0.7 < len(committed) / len(picture) < 1.4


def test_a_page_is_opened_by_a_relative_path_too(
    browser: Browser, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As benchmarks name their results."""
    (pages / "page.html").write_text("<title>here</title>")
    monkeypatch.chdir(pages)
    browser.open(Path("page.html"), width=600)
    assert browser.value("document.title") == "here"


def test_every_picture_is_shown_and_there_is_no_other() -> None:
    """In a page of the docs."""
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    names = sorted([*(one.name for one in SCREENSHOTS), *MEASURED])
    assert sorted(path.name for path in FOLDER.iterdir()) == names
    assert all(f"images/{name}" in text for name in names)
