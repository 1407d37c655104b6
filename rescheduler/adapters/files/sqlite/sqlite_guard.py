"""Opens a sqlite file of ours: told from those of others, checked for damage, moved aside where it cannot be used."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from rescheduler.extension_points import StoreError
from rescheduler.model.printable import shortened

Connect: TypeAlias = Callable[..., sqlite3.Connection]

FAILURES: Final = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What the work on a file may fail with; sqlite's own message may quote damaged bytes that are no text."""
_WRITE_VERSION_AT: Final = 18
_NEWEST_WRITE_VERSION: Final = 2
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
            code = _primary_code(error)
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


class SqliteGuard(NamedTuple):
    """How one kind of file is opened. ``title``: its name in messages; ``hints``: what helps, by sqlite's code.

    ``pragmas``: how a connection that writes is set up. ``keeps_log``: whether a write-ahead log beside the file is its
    own; without, such a log would play foreign pages into it. ``busy_seconds``: how long to wait for another process.
    """

    form: SqliteForm
    title: str
    hints: Mapping[int, str]
    pragmas: tuple[str, ...]
    busy_seconds: float
    keeps_log: bool
    os_hint: str = ""

    def about(self, path: Path) -> str:
        """How messages about the file begin."""
        return f"{self.title} {shortened(str(path), 1000)}"

    def failure(self, path: Path, what: str, error: Exception) -> StoreError:
        """The error to tell, in the words of the one that was raised, with what would help where that is known."""
        text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        code = _primary_code(error)
        hint = self.hints.get(code, self.os_hint if isinstance(error, OSError) else "")
        told = "; ".join(filter(None, (shortened(text, 300), hint)))
        return StoreError(f"{self.about(path)}: {what}: {told}")

    def open_for_writing(
        self, path: Path, now: float, tell: Callable[[str], None], connect: Connect = sqlite3.connect
    ) -> sqlite3.Connection:
        """A connection to the file, made if there is none; a file that cannot be used is moved aside and told of.

        Raises StoreError.
        """
        try:
            self._make_way(path, now, tell, connect)
            connection = connect(path, timeout=self.busy_seconds, isolation_level=None)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        except (*FAILURES, NotUsableError) as error:
            raise self.failure(path, "cannot be opened", error) from error
        return connection

    def open_for_reading(self, path: Path, connect: Connect = sqlite3.connect) -> sqlite3.Connection | None:
        """A connection that cannot write, beside a writer or after it; None for an empty file. Raises StoreError."""
        # A writer has its log beside the file. Without one the file is read as it stands: sqlite would make a log of
        # its own, which it may not be able to in this folder, or which the next writer could not use.
        is_at_rest = self.keeps_log and not path.with_name(path.name + "-wal").exists()
        address = path.absolute().as_uri() + ("?mode=ro&immutable=1" if is_at_rest else "?mode=ro")
        try:
            connection = connect(address, uri=True, timeout=self.busy_seconds, isolation_level=None)
            try:
                is_ours = self.form.examine(connection)
            except BaseException:
                connection.close()
                raise
        except (*FAILURES, NotUsableError) as error:
            raise self.failure(path, "cannot be read", error) from error
        if not is_ours:
            connection.close()
            return None
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        for pragma in self.pragmas:
            connection.execute(f"PRAGMA {pragma}").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        if not self.form.examine(connection):
            self.form.make_tables(connection)
        connection.execute("COMMIT")

    def _make_way(self, path: Path, now: float, tell: Callable[[str], None], connect: Connect) -> None:
        for log in () if self.keeps_log else (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")):
            if log.exists():
                moved = log.rename(_free_name(log, "stale", now))
                tell(f"{self.about(path)}: a log of another program lay beside it and was moved to {moved.name}")
        if not path.exists():
            return
        if not path.is_file():
            raise StoreError(f"{self.about(path)}: found a folder or device, wanted a file")
        try:
            self._examine_untouched(path, connect)
        except NotUsableError as error:
            aside = shortened(str(_move_aside(path, error.kind, now)), 1000)
            tell(f"{self.about(path)}: {error}; it was moved to {aside}, and an empty one takes its place")

    def _examine_untouched(self, path: Path, connect: Connect) -> None:
        """Look at every page without writing, so that what is moved aside is as it was found, its log included.

        Only if sqlite cannot do that (it must first take back what another program left half done), with writing.
        """
        _require_writable_form(path)
        address, options = path.absolute().as_uri(), {"timeout": self.busy_seconds, "isolation_level": None}
        for mode in ("?mode=ro", "?mode=rw"):
            try:
                with closing(connect(address + mode, uri=True, **options)) as connection:
                    self.form.examine(connection, thoroughly=True)
            except sqlite3.OperationalError:
                if mode == "?mode=rw":
                    raise
            else:
                return


def _require_writable_form(path: Path) -> None:
    """Raise NotUsableError for a file that sqlite reads, but never writes: its header asks for a newer sqlite.

    Source: "The SQLite database file format", file format version numbers: the byte at 18, at most 2.
    """
    with path.open("rb") as file:
        version = file.read(_WRITE_VERSION_AT + 1)[_WRITE_VERSION_AT:]
    if version > bytes([_NEWEST_WRITE_VERSION]):
        found = f"found write version {version[0]} in its header, wanted {_NEWEST_WRITE_VERSION} at most"
        raise NotUsableError("corrupt", f"it is damaged, or for a newer sqlite alone to write ({found})")


def _primary_code(error: Exception) -> int:
    """Sqlite's own number for what went wrong, without its details; 0 for an error of somebody else."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def identity(path: Path) -> tuple[int, int] | None:
    """Which file stands under a name, None if none does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _move_aside(path: Path, kind: str, now: float) -> Path:
    """Rename the file and sqlite's files beside it; never over another file."""
    free = _free_name(path, kind, now)
    # The file itself goes last: a log or journal left alone would be played into the new file.
    for suffix in ("-wal", "-shm", "-journal", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(free.with_name(free.name + suffix))
    return free


def _free_name(path: Path, kind: str, now: float) -> Path:
    """A name beside a file that is not taken yet, with the reason and the time in it."""
    time = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"{path.name}.{kind}-{time}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(found for item in names if not (found := path.with_name(item)).exists())
