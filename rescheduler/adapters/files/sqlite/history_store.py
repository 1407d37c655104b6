"""What this machine knows of evictions: a record of each, and the whole ledger where the cluster keeps none."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from rescheduler.adapters.files.sqlite.sqlite_guard import FAILURES, SqliteForm, SqliteGuard, identity
from rescheduler.extension_points import AuditLog, Clock, LedgerReading, LedgerStore, StoreError
from rescheduler.model.daemon.known_ledger import NOTHING_KNOWN, KnownLedger
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger, LedgerEntry
from rescheduler.model.plan.plan import Plan
from rescheduler.model.printable import shortened

_FORM: Final = SqliteForm(
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
GUARD: Final = SqliteGuard(
    _FORM,
    "history",
    {
        sqlite3.SQLITE_FULL: "free some room on that disk",
        sqlite3.SQLITE_CANTOPEN: "wanted a folder that may be written to; XDG_STATE_HOME names another",
        sqlite3.SQLITE_READONLY: "wanted a file and a folder that may be written to; XDG_STATE_HOME names another",
        sqlite3.SQLITE_BUSY: "another process holds a lock on it",
    },
    ("journal_mode = DELETE", "synchronous = FULL"),
    busy_seconds=5.0,
    keeps_log=False,
    os_hint="XDG_STATE_HOME names another place",
)
"""Without a write-ahead log, and with a wait for the disk at each commit: a line is there when its eviction is sent,
whatever happens to the process or to the machine, and a file that is copied or restored is whole by itself. Processes
hold the file for one line only, so that five seconds are enough to wait."""
KEPT_SECONDS: Final = 90 * 86400.0
"""Lines are kept for so long."""
_KNOWN: Final = """CREATE TABLE IF NOT EXISTS known
(cluster TEXT NOT NULL, name TEXT NOT NULL, known TEXT NOT NULL, PRIMARY KEY (cluster, name))"""
"""Made where it is needed: files of older versions have none, and are of this form all the same."""
_PLANS: Final = """CREATE TABLE IF NOT EXISTS plans
(cluster TEXT NOT NULL, number INTEGER NOT NULL, plan BLOB NOT NULL, PRIMARY KEY (cluster, number))"""
KEPT_PLANS: Final = 50
"""Of a cluster, the newest."""
_NEWEST: Final = """SELECT entry, checksum FROM lines WHERE id IN
(SELECT max(id) FROM lines WHERE cluster = ? OR ? = '' GROUP BY cluster, uid, time) AND time >= ? ORDER BY time, id"""


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


class Place(NamedTuple):
    """Which cluster a history is about: the uid of its kube-system namespace, and its address."""

    cluster: str
    server: str = ""


class HistoryStore(AuditLog, LedgerStore):
    """The history of one cluster on this machine. Several processes may use the file at the same time.

    As an AuditLog it only adds lines. As a LedgerStore it is for runs that may write nothing on the cluster but
    evictions: then it is all that is known of earlier ones.
    """

    def __init__(self, where: Callable[[], Path], place: Place, clock: Clock, tell: Callable[[str], None]) -> None:
        """``where``: the file, asked for when it is needed (may raise StoreError). Nothing is opened yet.

        ``tell`` is called with what was found wrong with the file, and what was done about it.
        """
        self._where = where
        self._place = place
        self._clock = clock
        self._tell = tell
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Add a line for each entry as it stands; on return they are on the disk. Raises StoreError."""
        cluster, server = self._place
        lines = [(cluster, entry.pod.uid, entry.at, *_line(entry)) for entry in entries]
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO clusters VALUES (?1, ?2, NULL, 0) ON CONFLICT (cluster) DO UPDATE SET server = ?2",
                (cluster, server),
            )
            connection.executemany(
                "INSERT INTO lines (cluster, uid, time, entry, checksum) VALUES (?, ?, ?, ?, ?)", lines
            )
            connection.execute("DELETE FROM lines WHERE time < ?", (self._clock.now() - KEPT_SECONDS,))

    def read(self) -> LedgerReading:
        """The ledger as it was written last. Raises StoreError."""
        with self._transaction() as connection:
            text, version = _row(connection, self._place.cluster)
        if text is None:
            return LedgerReading(EMPTY_LEDGER, str(version))
        try:
            return LedgerReading(msgspec.json.decode(text, type=Ledger), str(version))
        except msgspec.DecodeError as error:
            raise GUARD.failure(self._where(), "holds a ledger that cannot be read", error) from error

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if it still is at ``version``. Raises StoreError."""
        cluster, server = self._place
        with self._transaction() as connection:
            _, found = _row(connection, cluster)
            if str(found) != version:
                return None
            connection.execute(
                "INSERT INTO clusters VALUES (?1, ?2, ?3, ?4) ON CONFLICT (cluster) DO UPDATE "
                "SET server = ?2, ledger = ?3, version = ?4",
                (cluster, server, msgspec.json.encode(ledger).decode(), found + 1),
            )
        return str(found + 1)

    def known(self, name: str) -> KnownLedger:
        """What was remembered last of the cluster's ledger of that name. Raises StoreError."""
        with self._transaction() as connection:
            connection.execute(_KNOWN)
            found = connection.execute(
                "SELECT known FROM known WHERE cluster = ? AND name = ?", (self._place.cluster, name)
            )
            row = found.fetchone()
        try:
            return NOTHING_KNOWN if row is None else msgspec.json.decode(row[0], type=KnownLedger)
        except msgspec.DecodeError as error:
            raise GUARD.failure(self._where(), "holds a memory of the ledger that cannot be read", error) from error

    def remember(self, name: str, known: KnownLedger) -> None:
        """Remember this of it from now on. Raises StoreError."""
        with self._transaction() as connection:
            connection.execute(_KNOWN)
            connection.execute(
                "INSERT OR REPLACE INTO known VALUES (?, ?, ?)",
                (self._place.cluster, name, msgspec.json.encode(known).decode()),
            )

    def keep_plan(self, number: int, plan: Plan) -> None:
        """Keep it beside the newest others. Raises StoreError."""
        cluster = self._place.cluster
        with self._transaction() as connection:
            connection.execute(_PLANS)
            kept = zlib.compress(msgspec.json.encode(plan))
            connection.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", (cluster, number, kept))
            connection.execute(
                "DELETE FROM plans WHERE cluster = ?1 AND number NOT IN "
                "(SELECT number FROM plans WHERE cluster = ?1 ORDER BY number DESC LIMIT ?2)",
                (cluster, KEPT_PLANS),
            )

    def close(self) -> None:
        """Let go of the file; never raises."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _transaction(self) -> _Transaction:
        path = self._where()
        if self._connection is not None and identity(path) != self._identity:
            self.close()  # it was removed or replaced: a line in a file that nobody finds is none
        if self._connection is None:
            self._connection = _open_for_writing(path, self._clock.now(), self._tell)
            self._identity = identity(path)
        return _Transaction(self._connection, path)


def _open_for_writing(path: Path, now: float, tell: Callable[[str], None]) -> sqlite3.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise GUARD.failure(path, "cannot be opened", error) from error
    return GUARD.open_for_writing(path, now, tell)


def _open_for_reading(path: Path) -> sqlite3.Connection | None:
    """None where there is no file yet, or an empty one. Raises StoreError."""
    try:
        return GUARD.open_for_reading(path) if path.exists() else None
    except OSError as error:
        raise GUARD.failure(path, "cannot be read", error) from error


class _Transaction:
    """One change of the file, whole or not at all; sqlite's failures become StoreErrors."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except FAILURES as error:
            raise GUARD.failure(self._path, "cannot be written", error) from error
        return self._connection

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
                return
        except FAILURES as failed:
            error = failed
        with suppress(sqlite3.Error):  # a full disk ends the transaction by itself
            self._connection.execute("ROLLBACK")
        if isinstance(error, FAILURES):
            raise GUARD.failure(self._path, "cannot be written", error) from error


def read_kept_ledger(path: Path, place: Place) -> Ledger:
    """The ledger that this machine keeps of a cluster, without making a file. Raises StoreError."""
    connection = _open_for_reading(path)
    if connection is None:
        return EMPTY_LEDGER
    with closing(connection):
        try:
            text, _ = _row(connection, place.cluster)
            return EMPTY_LEDGER if text is None else msgspec.json.decode(text, type=Ledger)
        except (*FAILURES, msgspec.DecodeError) as error:
            raise GUARD.failure(path, "cannot be read", error) from error


def read_kept_plans(path: Path, place: Place) -> dict[int, Callable[[], bytes]]:
    """Plans of a cluster that this machine keeps, by number: each as JSON, asked for when needed. Raises StoreError."""
    connection = _open_for_reading(path)
    if connection is None:
        return {}
    with closing(connection):
        try:
            is_there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'plans'").fetchone()
            asked = "SELECT number, plan FROM plans WHERE cluster = ? ORDER BY number"
            rows = [] if is_there is None else connection.execute(asked, (place.cluster,)).fetchall()
        except FAILURES as error:
            raise GUARD.failure(path, "cannot be read", error) from error

    def unpacked(packed: bytes) -> bytes:
        try:
            return zlib.decompress(packed)
        except zlib.error as error:
            raise GUARD.failure(path, "holds a plan that cannot be read", error) from error

    return {int(number): partial(unpacked, packed) for number, packed in rows}


def read_history(path: Path, place: Place | None, since: float, tell: Callable[[str], None]) -> list[LedgerEntry]:
    """Evictions of one cluster (None: of all) as they were known last, oldest first. Raises StoreError.

    Found by the cluster's uid, or where that is "" by its address. Lines that are damaged are left out and told of.
    """
    connection = _open_for_reading(path)
    if connection is None:
        return []
    with closing(connection):
        try:
            cluster = "" if place is None else _cluster_of(connection, place)
            rows = [] if cluster is None else connection.execute(_NEWEST, (cluster, cluster, since)).fetchall()
        except FAILURES as error:
            raise GUARD.failure(path, "cannot be read", error) from error
    return list(_entries(rows, lambda: tell(f"history {shortened(str(path), 1000)}: a damaged line is left out")))


def _entries(rows: Sequence[tuple[str, int]], damaged: Callable[[], None]) -> Iterator[LedgerEntry]:
    for text, checksum in rows:
        is_whole = zlib.crc32(str(text).encode()) == checksum
        if not is_whole:
            damaged()
            continue
        try:
            yield msgspec.json.decode(text, type=LedgerEntry)
        except (UnicodeDecodeError, msgspec.DecodeError):
            damaged()


def _cluster_of(connection: sqlite3.Connection, place: Place) -> str | None:
    if place.cluster:
        return place.cluster
    found = connection.execute("SELECT cluster FROM clusters WHERE server = ?", (place.server,)).fetchone()
    return None if found is None else str(found[0])


def _row(connection: sqlite3.Connection, cluster: str) -> tuple[str | None, int]:
    found = connection.execute("SELECT ledger, version FROM clusters WHERE cluster = ?", (cluster,)).fetchone()
    return (None, 0) if found is None else (found[0], int(found[1]))


def _line(entry: LedgerEntry) -> tuple[str, int]:
    text = msgspec.json.encode(entry).decode()
    return text, zlib.crc32(text.encode())
