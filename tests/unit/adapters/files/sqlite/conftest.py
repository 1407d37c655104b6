"""A store of usage on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore
from tests.unit.adapters.usage_stores import opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "usage.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteUsageStore]:
    """An open store."""
    found = opened(path)
    yield found
    found.close()
