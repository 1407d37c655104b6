"""One writer a usage store."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore
from rescheduler.extension_points import StoreError
from tests.builders import NOW
from tests.unit.adapters.usage_stores import ALL, opened, times_of
from tests.unit.usage.sampling import tick


def test_a_second_writer_is_told_who_is_there(path: Path, store: SqliteUsageStore) -> None:
    """And may write once the first has let go."""
    with pytest.raises(
        StoreError, match=rf"usage\.sqlite: found in use by another process \({os.getpid()}\); stop that"
    ):
        opened(path)
    store.append(tick(NOW, {"a": 0.5}))
    store.close()
    second = opened(path)
    assert times_of(second.restore(ALL)) == [0]
    second.close()


def test_a_link_to_the_file_is_the_file(path: Path, store: SqliteUsageStore, tmp_path: Path) -> None:
    """Two names do not make two writers."""
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    with pytest.raises(StoreError, match="in use by another process"):
        opened(link)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """With what was wanted."""
    with pytest.raises(
        StoreError, match=r"nowhere/usage\.sqlite.*No such file or directory; wanted a folder that exists"
    ):
        opened(tmp_path / "nowhere" / "usage.sqlite")


def test_the_lock_of_a_killed_process_is_free(path: Path) -> None:
    """Its file stays, but nobody holds it."""
    path.with_name("usage.sqlite.lock").write_text("99999\n")
    opened(path).close()
    with path.with_name("usage.sqlite.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
