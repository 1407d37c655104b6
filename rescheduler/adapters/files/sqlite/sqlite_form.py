"""What a sqlite file of ours holds: how it is told from those of others, checked for damage, and moved aside."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Final, NamedTuple

from rescheduler.model.printable import shortened

FAILURES: Final = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What the work on a file may fail with; sqlite's own message may quote damaged bytes that are no text."""
_NOT_USABLE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class NotUsableError(Exception):
    """A file that is not of the wanted form; ``kind``: corrupt, foreign or newer."""

    def __init__(self, kind: str, found: str) -> None:
        super().__init__(found)
        self.kind = kind


class SqliteForm(NamedTuple):
    """A form of file by its name and version: statements that make its tables, and queries that ask for all columns."""

    name: str
    version: int
    tables: tuple[str, ...]
    columns: tuple[str, ...]

    def examine(self, connection: sqlite3.Connection, *, thoroughly: bool = False) -> bool:
        """Whether the file is ours (True) or empty; ``thoroughly``: with every page. Raises NotUsableError."""
        try:
            return self._examine(connection, thoroughly=thoroughly)
        except UnicodeDecodeError as error:
            raise NotUsableError("corrupt", "it is damaged (found bytes that are no text)") from error
        except sqlite3.DatabaseError as error:
            code = primary_code(error)
            if code in _NOT_USABLE:
                raise NotUsableError("corrupt", f"it is damaged, or no sqlite file ({error})") from error
            if code == sqlite3.SQLITE_ERROR:
                raise NotUsableError("foreign", f"its tables are not ours ({error})") from error
            raise

    def make_tables(self, connection: sqlite3.Connection) -> None:
        """Make the tables in an empty file; the caller holds the transaction."""
        connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        for statement in self.tables:
            connection.execute(statement)
        meta = [("format", self.name), ("version", str(self.version))]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta)

    def _examine(self, connection: sqlite3.Connection, *, thoroughly: bool) -> bool:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if thoroughly:
            [verdict] = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise NotUsableError("corrupt", f"it is damaged ({shortened(str(verdict), 200)})")
        if not tables:
            return False
        meta = dict(connection.execute("SELECT key, value FROM meta")) if "meta" in tables else {}
        if meta.get("format") != self.name:
            raise NotUsableError("foreign", "it is a sqlite file of something else")
        version = str(meta.get("version"))
        if version != str(self.version):
            kind = "newer" if version.isdigit() and int(version) > self.version else "foreign"
            raise NotUsableError(kind, f"found version {shortened(version, 20)} of its form, wanted {self.version}")
        for query in self.columns:
            connection.execute(query)
        return True


def primary_code(error: Exception) -> int:
    """Sqlite's own number for what went wrong, without its details; 0 for an error of somebody else."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def words_of(error: Exception) -> str:
    """An error's own words, safe to show."""
    text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return shortened(text, 300)


def free_name(path: Path, kind: str, now: float) -> Path:
    """A name beside a file that is not taken yet, with the reason and the time in it."""
    time = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"{path.name}.{kind}-{time}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(found for item in names if not (found := path.with_name(item)).exists())
