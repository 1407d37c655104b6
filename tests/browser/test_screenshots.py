"""The pictures in the docs are those of today's pages."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.browser.browser import Browser
from tests.browser.palette import pixels, with_palette
from tests.browser.screenshots import FOLDER, HEIGHT, SCREENSHOTS, taken
from tests.paths import ROOT

LARGEST_BYTES = 200_000
ELSEWHERE = ("dashboard.png", "openb-month.png")
"""Of a run on a real control plane (``make dashboard-picture``; tests/cluster/telemetry/test_dashboard.py holds its
size), and of what a benchmark measured, which nobody can take again without its data."""


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


def test_a_picture_with_a_palette_looks_the_same(browser: Browser, pages: Path) -> None:
    """Each colour that is frequent is kept as it is, and the bytes are fewer by far."""
    (pages / "page.html").write_text(
        "<body style='background: #fed'><h1 style='color: #036'>Grey &amp; blue</h1><p>Text"
    )
    browser.open(pages / "page.html", width=600)
    picture = browser.picture()
    small = with_palette(picture)
    before, after = pixels(picture), pixels(small)
    assert size(small) == size(picture)
    assert len(small) < len(picture) * 0.7
    assert np.mean(np.any(before != after, axis=2)) < 0.001
    assert np.abs(before.astype(int) - after).max() < 40


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
    names = sorted([*(one.name for one in SCREENSHOTS), *ELSEWHERE])
    assert sorted(path.name for path in FOLDER.iterdir()) == names
    assert all(f"images/{name}" in text for name in names)
    assert all(path.stat().st_size < LARGEST_BYTES or path.name == "openb-month.png" for path in FOLDER.iterdir())
