"""The sqlite file of a usage store: whose it is, in what state, and out of the way with what cannot be used."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

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

Connect: TypeAlias = Callable[..., sqlite3.Connection]

FORM: Final = SqliteForm(
    "rescheduler usage samples",
    1,
    (
        "CREATE TABLE columns (epoch INTEGER PRIMARY KEY, layout TEXT NOT NULL)",
        """CREATE TABLE ticks (id INTEGER PRIMARY KEY, time REAL NOT NULL, epoch INTEGER NOT NULL REFERENCES columns,
        samples BLOB NOT NULL, checksum INTEGER NOT NULL)""",
        "CREATE INDEX ticks_by_time ON ticks (time)",
    ),
    (
        "SELECT epoch, layout FROM columns LIMIT 0",
        "SELECT id, time, epoch, samples, checksum FROM ticks LIMIT 0",
    ),
)
BUSY_SECONDS: Final = 2.0
"""How long to wait for a lock that somebody else holds on the file."""


def open_for_writing(path: Path, now: float, tell: Callable[[str], None], connect: Connect) -> sqlite3.Connection:
    """A connection to the file, made if there is none; a file that cannot be used is moved aside and told of.

    Raises StoreError.
    """
    try:
        _make_way(path, now, tell, connect)
        connection = connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    except (*FAILURES, NotUsableError) as error:
        raise StoreError(f"usage store {shown(path)}: cannot be opened: {reason(error)}") from error
    return connection


def open_for_reading(path: Path, connect: Connect = sqlite3.connect) -> sqlite3.Connection:
    """A connection that cannot write, beside a writer or after it. Raises StoreError."""
    try:
        if not path.is_file():
            raise StoreError(f"usage store {shown(path)}: found no such file; wanted the one that a load watcher keeps")
        # A writer has its log beside the file. Without one the file is read as it stands: sqlite would make a log of
        # its own, which it may not be able to in this folder, or which the next writer could not use.
        mode = "?mode=ro" if path.with_name(path.name + "-wal").exists() else "?mode=ro&immutable=1"
        return _open_ours(path.absolute().as_uri() + mode, connect)
    except (*FAILURES, NotUsableError) as error:
        raise StoreError(f"usage store {shown(path)}: cannot be read: {reason(error)}") from error


def shown(path: Path) -> str:
    """A path, safe to show."""
    return shortened(str(path), 1000)


def reason(error: Exception) -> str:
    """An error's own words, with what would help where we know it."""
    code = primary_code(error)
    hints = {
        sqlite3.SQLITE_FULL: "free some room, or name a file elsewhere in usage.store.path",
        sqlite3.SQLITE_CANTOPEN: "wanted a file in a folder that exists and may be written to",
        sqlite3.SQLITE_READONLY: "wanted a file and a folder that may be written to",
        sqlite3.SQLITE_BUSY: "another process holds a lock on it",
    }
    return f"{words_of(error)}; {hints[code]}" if code in hints else words_of(error)


def _open_ours(address: str, connect: Connect) -> sqlite3.Connection:
    connection = connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        is_ours = FORM.examine(connection)
    except BaseException:
        connection.close()
        raise
    if not is_ours:
        connection.close()
        raise NotUsableError("foreign", "it holds nothing yet")
    return connection


def _make_way(path: Path, now: float, tell: Callable[[str], None], connect: Connect) -> None:
    if not path.exists():
        return
    if not path.is_file():
        raise StoreError(f"usage store {shown(path)}: found a folder or device, wanted a file")
    try:
        _examine_untouched(path, connect)
    except NotUsableError as error:
        aside = _move_aside(path, error.kind, now)
        tell(f"usage store {shown(path)}: {error}; it was moved to {shown(aside)}, and an empty one takes its place")


def _examine_untouched(path: Path, connect: Connect) -> None:
    """Look at every page without writing, so that what is moved aside is as it was found, its log included.

    Only if sqlite cannot do that (it must first take back what another program left half done), with writing.
    """
    address = path.absolute().as_uri()
    for mode in ("?mode=ro", "?mode=rw"):
        try:
            with closing(connect(address + mode, uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
                FORM.examine(connection, thoroughly=True)
        except sqlite3.OperationalError:
            if mode == "?mode=rw":
                raise
        else:
            return


def _move_aside(path: Path, kind: str, now: float) -> Path:
    """Rename the file and sqlite's files beside it; never over another file."""
    free = free_name(path, kind, now)
    # The file itself goes last: a write-ahead log left alone would be played into the new file.
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(free.with_name(free.name + suffix))
    return free


def _prepare(connection: sqlite3.Connection) -> None:
    """Set the connection up, and make the tables if there are none.

    With a write-ahead log and ``synchronous = NORMAL`` a commit is in the operating system's hands when it returns: it
    survives our being killed, and costs no wait for the disk. After a loss of power the newest ticks may be missing
    (never the file), which no more than shortens the first windows.
    """
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 8388608")
    if FORM.examine(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    FORM.make_tables(connection)
    connection.execute("COMMIT")
