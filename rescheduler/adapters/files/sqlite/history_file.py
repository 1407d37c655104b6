"""The sqlite file of evictions on this machine: where it is, whether it is ours, and out of the way if it is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from rescheduler.adapters.files.sqlite.sqlite_form import (
    FAILURES,
    NotUsableError,
    SqliteForm,
    free_name,
    primary_code,
    words_of,
)
from rescheduler.extension_points import StoreError
from rescheduler.model.printable import shortened

FORM: Final = SqliteForm(
    "rescheduler history",
    1,
    (
        "CREATE TABLE clusters (cluster TEXT PRIMARY KEY, server TEXT NOT NULL, ledger TEXT, version INTEGER NOT NULL)",
        """CREATE TABLE lines (id INTEGER PRIMARY KEY, cluster TEXT NOT NULL, uid TEXT NOT NULL, time REAL NOT NULL,
        entry TEXT NOT NULL, checksum INTEGER NOT NULL)""",
        "CREATE INDEX lines_of_eviction ON lines (cluster, uid, time)",
    ),
    (
        "SELECT cluster, server, ledger, version FROM clusters LIMIT 0",
        "SELECT id, cluster, uid, time, entry, checksum FROM lines LIMIT 0",
    ),
)
BUSY_SECONDS: Final = 5.0
"""How long to wait for another process that writes; each holds the file for one line only."""


def history_path(environment: Mapping[str, str]) -> Path:
    """``$XDG_STATE_HOME/rescheduler/history.sqlite``, by default below ``~/.local/state``. Raises StoreError."""
    given = environment.get("XDG_STATE_HOME", "")
    if given and Path(given).is_absolute():
        folder = Path(given)
    else:
        try:
            folder = Path.home() / ".local" / "state"
        except RuntimeError:
            raise StoreError(
                "history: there is no home folder; set XDG_STATE_HOME to one that may be written"
            ) from None
    return folder / "rescheduler" / "history.sqlite"


def open_for_writing(path: Path, now: float, tell: Callable[[str], None]) -> sqlite3.Connection:
    """A connection to the file, made if there is none; a file that cannot be used is moved aside and told of.

    Raises StoreError.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_way(path, now, tell)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    except (*FAILURES, NotUsableError) as error:
        raise failure(path, "cannot be opened", error) from error
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write; None where there is no file yet. Raises StoreError."""
    try:
        if not path.exists():
            return None
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        try:
            if not FORM.examine(connection):
                connection.close()
                return None
        except BaseException:
            connection.close()
            raise
    except (*FAILURES, NotUsableError) as error:
        raise failure(path, "cannot be read", error) from error
    return connection


def failure(path: Path, what: str, error: Exception) -> StoreError:
    """The error to tell, with what would help where we know it."""
    code = primary_code(error)
    hints = {
        sqlite3.SQLITE_FULL: "free some room on that disk",
        sqlite3.SQLITE_CANTOPEN: "wanted a folder that may be written to; XDG_STATE_HOME names another",
        sqlite3.SQLITE_READONLY: "wanted a file and a folder that may be written to; XDG_STATE_HOME names another",
        sqlite3.SQLITE_BUSY: "another process holds a lock on it",
    }
    hint = hints.get(code, "XDG_STATE_HOME names another place" if isinstance(error, OSError) else "")
    told = f"{words_of(error)}; {hint}" if hint else words_of(error)
    return StoreError(f"history {shortened(str(path), 1000)} {what}: {told}")


def _make_way(path: Path, now: float, tell: Callable[[str], None]) -> None:
    """Move aside what cannot be used, and a write-ahead log: we keep none, so it would play foreign pages into ours."""
    about = f"history {shortened(str(path), 1000)}"
    for suffix in ("-wal", "-shm"):
        log = path.with_name(path.name + suffix)
        if log.exists():
            tell(f"{about}: a log of another program lay beside it and was moved to {_move(log, 'stale', now).name}")
    if not path.exists():
        return
    if not path.is_file():
        raise StoreError(f"{about}: found a folder or device, wanted a file")
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
            FORM.examine(connection, thoroughly=True)
    except NotUsableError as error:
        aside = _move(path, error.kind, now)
        journal = path.with_name(path.name + "-journal")
        with suppress(FileNotFoundError):
            journal.rename(aside.with_name(aside.name + "-journal"))
        tell(f"{about}: {error}; it was moved to {shortened(aside.name)}, and an empty one takes its place")


def _move(path: Path, kind: str, now: float) -> Path:
    """Rename a file; never over another one."""
    return path.rename(free_name(path, kind, now))


def _prepare(connection: sqlite3.Connection) -> None:
    """Set the connection up, and make the tables if there are none.

    Without a write-ahead log, and with a wait for the disk at each commit: a line is there when its eviction is sent,
    whatever happens to us or to the machine, and a file that is copied or restored is whole by itself.
    """
    connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    if not FORM.examine(connection):
        FORM.make_tables(connection)
    connection.execute("COMMIT")


def identity(path: Path) -> tuple[int, int] | None:
    """Which file stands under a name, None if none does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
