"""A usage store on a disk that fails."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.files.sqlite.usage_store import GUARD, SqliteUsageStore
from rescheduler.extension_points import StoreError
from rescheduler.model.usage.samples import NodeSamples
from tests.builders import NOW
from tests.unit.usage.sampling import tick


class FaultyConnection(sqlite3.Connection):
    """Fails from the ``fails_at``-th statement on, for ``failures`` statements."""

    fails_at: int | None = None
    failures = 1
    statements = 0

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """As sqlite, or an error."""
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        """As sqlite, or an error."""
        self._count()
        return super().executemany(*arguments)

    def _count(self) -> None:
        at = type(self).statements
        type(self).statements += 1
        if self.fails_at is not None and self.fails_at <= at < self.fails_at + self.failures:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error


@pytest.fixture
def faulty() -> type[FaultyConnection]:
    """A kind of connection of this test alone."""
    return type("Faulty", (FaultyConnection,), {})


def opened(path: Path, connect: Any = sqlite3.connect) -> SqliteUsageStore:
    """A store that keeps four ticks, so that appending also prunes."""
    return SqliteUsageStore(path, keep_seconds=45.0, interval_seconds=15.0, now=NOW, tell=[].append, connect=connect)


def through(kind: type[FaultyConnection]) -> Any:
    """``sqlite3.connect`` with this kind of connection."""
    return lambda *arguments, **options: sqlite3.connect(*arguments, **options, factory=kind)


def many(at: int) -> NodeSamples:
    """A tick of two nodes, others in every tick."""
    return tick(NOW + 15 * at, {"stays": 0.5, f"n{at}": 0.25})


def kept(store: SqliteUsageStore) -> list[int]:
    """Numbers of the ticks that a store gives back."""
    return [round((float(time) - NOW) / 15) for samples in store.restore(float("-inf")) for time in samples.times]


@pytest.mark.parametrize("statement", range(7))
def test_an_append_that_fails_changes_nothing(tmp_path: Path, faulty: type[FaultyConnection], statement: int) -> None:
    """At whichever statement; what was kept before stays, and the next append works."""
    store = opened(tmp_path / "usage.sqlite", through(faulty))
    for at in range(4):
        store.append(many(at))
    faulty.fails_at = faulty.statements + statement
    with pytest.raises(StoreError, match=r"usage\.sqlite: cannot be written: disk I/O error"):
        store.append(many(4))
    assert kept(store) == [0, 1, 2, 3]
    store.append(many(5))
    assert kept(store) == [1, 2, 3, 5]
    store.close()


def test_those_were_all_the_statements_of_an_append(tmp_path: Path, faulty: type[FaultyConnection]) -> None:
    """Or the test above would miss one."""
    store = opened(tmp_path / "usage.sqlite", through(faulty))
    for at in range(4):
        store.append(many(at))
    before = faulty.statements
    store.append(many(4))
    assert faulty.statements - before == 7
    store.close()


def test_opening_that_fails_leaves_a_file_that_can_be_opened(tmp_path: Path, faulty: type[FaultyConnection]) -> None:
    """At whichever statement, of a new store and of one that has ticks; the lock is free again."""
    for name, ticks in (("new", 0), ("used", 3)):
        path, statement = tmp_path / name, 0
        while True:
            if ticks:
                store = opened(path)
                store.append(many(0))
                store.close()
            faulty.statements, faulty.fails_at = 0, statement
            try:
                opened(path, through(faulty)).close()
                if faulty.statements <= statement:
                    break
            except StoreError as error:
                assert "cannot be opened: disk I/O error" in str(error)  # noqa: PT017
            statement += 1
        assert statement > 4
        store = opened(path)
        assert (set(kept(store)) == {0}) == bool(ticks)
        store.close()
        assert [found.name for found in tmp_path.glob("*-20*")] == []


def test_reading_that_fails_is_said(tmp_path: Path, faulty: type[FaultyConnection]) -> None:
    """As an error of the store, not of sqlite."""
    store = opened(tmp_path / "usage.sqlite", through(faulty))
    faulty.fails_at = faulty.statements + 1
    with pytest.raises(StoreError, match="cannot be read: disk I/O error"):
        store.restore(0)
    assert kept(store) == []
    store.close()


def test_a_full_disk_is_named_and_what_was_kept_stays(tmp_path: Path) -> None:
    """As soon as there is room again, the same store goes on."""
    store = opened(tmp_path / "usage.sqlite")
    store.append(many(0))
    connection = store._connection
    [pages] = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    big = tick(NOW + 15, {f"node-{number}": 0.5 for number in range(500)})
    with pytest.raises(StoreError, match=r"full; free some room, or name a file elsewhere in usage\.store\.path"):
        store.append(big)
    assert kept(store) == [0]
    connection.execute("PRAGMA max_page_count = 1000000").fetchone()
    store.append(big)
    assert kept(store) == [0, 1]
    store.close()


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The operating system refuses to let any file of this process grow beyond this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_writes_that_the_system_refuses_lose_nothing(tmp_path: Path) -> None:
    """The operating system's own error, in the midst of a tick; after a restart all is there."""
    path = tmp_path / "usage.sqlite"
    store = opened(path)
    for at in range(3):
        store.append(many(at))
    limit, big = path.with_name("usage.sqlite-wal").stat().st_size + 5000, {f"node-{at}": 0.5 for at in range(2000)}
    with files_no_larger_than(limit), pytest.raises(StoreError, match="cannot be written"):
        store.append(tick(NOW + 45, big))
    store.append(many(3))
    store.close()
    again = opened(path)
    assert kept(again) == [0, 1, 2, 3]
    again.close()


def test_a_lock_of_another_program_is_waited_for_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody looks at the file with a tool of sqlite and has it locked."""
    monkeypatch.setattr("rescheduler.adapters.files.sqlite.usage_store.GUARD", GUARD._replace(busy_seconds=0.01))
    path = tmp_path / "usage.sqlite"
    store = opened(path)
    store.append(many(0))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="database is locked; another process holds a lock on it"):
        store.append(many(1))
    other.execute("ROLLBACK")
    other.close()
    store.append(many(2))
    assert kept(store) == [0, 2]
    store.close()
