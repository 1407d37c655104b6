"""Whatever happens to the file of the history: nothing is lost in silence, and nothing is taken for what it is not."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from rescheduler.adapters.files.sqlite.history_store import GUARD, read_history, read_kept_ledger
from rescheduler.extension_points import StoreError
from rescheduler.model.daemon.ledger import EntryState
from tests.builders import NOW
from tests.unit.adapters.history_stores import HERE, read, store
from tests.unit.adapters.usage_stores import ALL, Told
from tests.unit.execution.entries import entry, ledger_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be; its folder is not there yet."""
    return tmp_path / "state" / "history.sqlite"


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"this is no database at all, but long enough to be looked at" * 20, "corrupt"), (None, "foreign")],
)
def test_a_file_that_cannot_be_used_is_moved_aside(path: Path, content: bytes | None, kind: str) -> None:
    """Never overwritten; the person is told where it went, and an empty one takes its place."""
    path.parent.mkdir()
    if content is None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE games (name TEXT)")
        connection.close()
    else:
        path.write_bytes(content)
    before, told = path.read_bytes(), Told()
    store(path, told=told).note([entry()])
    assert len(read(path)) == 1
    [aside] = [found for found in path.parent.iterdir() if kind in found.name]
    assert aside.read_bytes() == before
    assert len(told) == 1
    assert aside.name in told[0]


def test_a_file_that_was_cut_off_is_moved_aside(path: Path) -> None:
    """Half of it may still look like a database."""
    history = store(path)
    history.note([entry(f"web-{number}", reason="r" * 2000) for number in range(40)])
    history.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    told = Told()
    store(path, told=told).note([entry("after")])
    assert read(path) == [("after", EntryState.OPEN)]
    assert len(told) == 1


@pytest.mark.parametrize("content", [b"", None], ids=["empty", "missing"])
def test_an_empty_file_is_rebuilt(path: Path, content: bytes | None) -> None:
    """There is nothing to move aside."""
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    told = Told()
    store(path, told=told).note([entry()])
    assert (len(read(path)), told) == (1, [])


def test_a_stale_log_of_another_program_is_not_played_in(path: Path) -> None:
    """A valid one too: it would put another file's pages over ours."""
    history = store(path)
    history.note([entry("ours")])
    history.close()
    foreign = path.with_name("foreign.sqlite")
    connection = sqlite3.connect(foreign)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE games (name TEXT)")
    log = foreign.with_name("foreign.sqlite-wal").read_bytes()
    path.with_name(path.name + "-wal").write_bytes(log)
    connection.close()
    told = Told()
    store(path, told=told).note([entry("later", at=NOW + 1)])
    assert [name for name, _ in read(path)] == ["ours", "later"]
    assert "a log of another program lay beside it" in told[0]


def test_a_file_that_is_taken_away_in_use_is_made_anew(path: Path) -> None:
    """A line in a file that nobody finds is none."""
    history = store(path)
    history.note([entry("before")])
    path.unlink()
    history.note([entry("after")])
    assert [name for name, _ in read(path)] == ["after"]


def test_a_damaged_line_is_left_out_and_told(path: Path) -> None:
    """The others are as good as before."""
    history = store(path)
    history.note([entry("web-0"), entry("web-1")])
    history.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("""UPDATE lines SET entry = replace(entry, 'web-0', 'evil')""")
    connection.close()
    told = Told()
    assert [found.pod.name for found in read_history(path, HERE, ALL, told)] == ["web-1"]
    assert len(told) == 1


def test_what_cannot_be_written_is_an_error_that_says_where(path: Path) -> None:
    """A folder in place of the file, and one that cannot be made."""
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match="found a folder or device, wanted a file"):
        store(path).note([entry()])
    file = path / "file"
    file.write_text("")
    with pytest.raises(StoreError, match="XDG_STATE_HOME names another place"):
        store(file / "history.sqlite").note([entry()])


def test_a_full_disk_is_an_error_and_what_was_kept_stays(path: Path) -> None:
    """The line is not there, and neither is half of it."""
    history = store(path)
    history.note([entry("web-0")])
    assert history._connection is not None
    [(pages,)] = history._connection.execute("PRAGMA page_count").fetchall()
    history._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="free some room on that disk"):
        history.note([entry(f"web-{number}", reason="r" * 3000) for number in range(1, 9)])
    assert [name for name, _ in read(path)] == ["web-0"]


def test_a_lock_that_is_held_for_long_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process writes one line at a time; one that hangs stops us."""
    monkeypatch.setattr("rescheduler.adapters.files.sqlite.history_store.GUARD", GUARD._replace(busy_seconds=0.05))
    history = store(path)
    history.note([])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process holds a lock on it"):
        history.note([entry()])
    other.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_an_error(path: Path) -> None:
    """With what would help."""
    path.parent.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="XDG_STATE_HOME names another"):
        store(path).note([entry()])


def test_a_kept_ledger_that_is_damaged_is_an_error(path: Path) -> None:
    """It is all that is known: nothing may be evicted without it."""
    history = store(path)
    history.write(ledger_of(entry()), history.read().version)
    history.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE clusters SET ledger = '{'")
    connection.close()
    with pytest.raises(StoreError, match="holds a ledger that cannot be read"):
        store(path).read()
    with pytest.raises(StoreError, match="cannot be read"):
        read_kept_ledger(path, HERE)


def test_a_history_of_a_newer_version_is_not_read_as_ours(path: Path) -> None:
    """Reading it says so, and leaves it where it is."""
    store(path).note([entry()])
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE meta SET value = '2' WHERE key = 'version'")
    connection.close()
    with pytest.raises(StoreError, match="found version 2 of its form, wanted 1"):
        read(path)
