"""One browser for all tests of this folder; without one they are skipped, and the reason says how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.browser import Browser, found_browser

SECONDS_PER_TEST = 300


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every test below this folder needs a program that is not installed by default, as those of a control plane do."""
    item.add_marker(pytest.mark.e2e)
    item.add_marker(pytest.mark.timeout(SECONDS_PER_TEST))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with a fresh profile."""
    with found_browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder for the page of a test."""
    return tmp_path
