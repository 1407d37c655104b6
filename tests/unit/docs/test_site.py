"""The documentation as a site: it builds without a warning, holds every page, and fetches nothing from anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.unit.docs.pages import DOCS, PAGES


def named(entry: object) -> list[str]:
    """Files in a navigation, whatever its depth."""
    if isinstance(entry, str):
        return [entry]
    items = entry.values() if isinstance(entry, dict) else entry
    assert items is not None
    return [name for item in items for name in named(item)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation_once() -> None:
    """And nothing that is no page."""
    found = named(yaml.safe_load((DOCS / "site" / "mkdocs.yml").read_text())["nav"])
    decisions = [f"decisions/{page.name}" for page in (DOCS / "decisions").glob("*.md")]
    assert sorted(found) == sorted([*(page.name for page in PAGES), *decisions])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning fails it."""
    pytest.importorskip("material", reason="the site needs mkdocs-material (the group docs of pyproject.toml)")
    from docs.build import build

    folder: Path = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


def test_every_page_is_built(site: Path) -> None:
    """With its examples beside it, and without our programs."""
    built = {page.relative_to(site).with_suffix(".md").as_posix() for page in site.rglob("*.html")}
    assert {page.name for page in PAGES} <= built
    assert (site / "examples" / "small.json").exists()
    assert not list(site.rglob("*.py"))
    assert not list(site.rglob("*.yml"))


def test_nothing_is_fetched_from_anywhere(site: Path) -> None:
    """No script, style, font or picture of another host: a reader without a network sees the same page."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//[^"'> ]+""", text) == []


def test_a_link_that_leads_nowhere_fails_the_build(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strict means strict."""
    from shutil import copytree

    from mkdocs.exceptions import Abort

    from docs import build as building

    assert site.exists()
    copied = tmp_path / "docs"
    copytree(DOCS, copied)
    with (copied / "index.md").open("a") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    monkeypatch.setattr(building, "CONFIGURATION", copied / "site" / "mkdocs.yml")
    with pytest.raises(Abort):
        building.build(tmp_path / "site")
