"""Keeps the nodes' samples in a sqlite file, so that windows are whole again right after a restart."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rescheduler.adapters.files.sqlite.sqlite_guard import FAILURES, Connect, SqliteForm, SqliteGuard, identity
from rescheduler.adapters.files.sqlite.writer_lock import WriterLock
from rescheduler.extension_points import StoreError, UsageStore
from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from rescheduler.model.usage.usage import FloatArray

_FORM: Final = SqliteForm(
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
GUARD: Final = SqliteGuard(
    _FORM,
    "usage store",
    {
        sqlite3.SQLITE_FULL: "free some room, or name a file elsewhere in usage.store.path",
        sqlite3.SQLITE_CANTOPEN: "wanted a file in a folder that exists and may be written to",
        sqlite3.SQLITE_READONLY: "wanted a file and a folder that may be written to",
        sqlite3.SQLITE_BUSY: "another process holds a lock on it",
    },
    ("journal_mode = WAL", "synchronous = NORMAL", "journal_size_limit = 8388608"),
    busy_seconds=2.0,
    keeps_log=True,
)
"""With a write-ahead log and ``synchronous = NORMAL`` a commit is in the operating system's hands when it returns: it
survives a kill of the process, and costs no wait for the disk. After a loss of power the newest ticks may be missing
(never the file), which no more than shortens the first windows."""
_SELECT = "SELECT epoch, time, samples, checksum FROM ticks WHERE time >= ? ORDER BY time, id"


class SqliteUsageStore(UsageStore):
    """One row a tick, in a file that one process writes and any number may read at the same time.

    What ``append`` has returned from survives a kill of the process. ``keep_seconds`` worth of ticks are kept, counted
    in ticks of ``interval_seconds``, so that a clock that jumps loses nothing. A file that is damaged, foreign or newer
    is renamed, and ``tell`` is called with what was found. To be used by one thread at a time.
    """

    def __init__(
        self,
        path: Path,
        *,
        keep_seconds: float,
        interval_seconds: float,
        now: float,
        tell: Callable[[str], None],
        connect: Connect = sqlite3.connect,
    ) -> None:
        """Open the file, or make it. Raises StoreError."""
        path = path.resolve()
        self._path = path
        self._kept_ticks = ceil(keep_seconds / interval_seconds) + 1
        self._tell = tell
        self._layout: tuple[RowLayout, int] | None = None
        self._lock = WriterLock(path)
        try:
            self._connection = GUARD.open_for_writing(path, now, tell, partial(connect, check_same_thread=False))
            self._identity = identity(path)
        except BaseException:
            self._lock.release()
            raise

    def append(self, samples: NodeSamples) -> None:
        """Keep samples; on return they survive a kill. Raises StoreError; what was kept before stays."""
        layout = layout_of(samples)
        try:
            if identity(self._path) != self._identity:
                raise StoreError(f"{GUARD.about(self._path)}: the file was removed or replaced while in use")
            self._connection.execute("BEGIN IMMEDIATE")
            epoch = self._epoch(layout)
            self._connection.executemany(
                "INSERT INTO ticks (time, epoch, samples, checksum) VALUES (?, ?, ?, ?)",
                ((row.time, epoch, row.blob, row.checksum) for row in rows_of(samples, layout)),
            )
            self._prune()
            self._connection.execute("COMMIT")
        except FAILURES as error:
            self._roll_back()
            raise GUARD.failure(self._path, "cannot be written", error) from error
        self._layout = (layout, epoch)

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """Kept ticks not older than ``since``, oldest first, joined as long as the nodes stay the same.

        Rows that are not as they were written are left out and told of. Raises StoreError.
        """
        return _read(self._connection, self._path, since, self._tell)

    def close(self) -> None:
        """Let go of the file; never raises."""
        with suppress(sqlite3.Error):
            self._connection.close()
        self._lock.release()

    def _epoch(self, layout: RowLayout) -> int:
        """The number of this layout, kept or new."""
        if self._layout is not None and self._layout[0] == layout:
            return self._layout[1]
        found = self._connection.execute("SELECT epoch FROM columns WHERE layout = ?", (layout.text,)).fetchone()
        if found is not None:
            return int(found[0])
        added = self._connection.execute("INSERT INTO columns (layout) VALUES (?)", (layout.text,)).lastrowid
        assert added is not None
        return added

    def _prune(self) -> None:
        """Drop ticks beyond those kept, by the order in which they were written, and layouts that none has."""
        dropped = self._connection.execute(
            "DELETE FROM ticks WHERE id <= (SELECT max(id) FROM ticks) - ?", (self._kept_ticks,)
        )
        if dropped.rowcount > 0:
            self._connection.execute("DELETE FROM columns WHERE epoch NOT IN (SELECT epoch FROM ticks)")

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def read_usage_store(path: Path, since: float, tell: Callable[[str], None]) -> Sequence[NodeSamples]:
    """What a store has kept, as ``restore`` gives it, without disturbing the process that writes. Raises StoreError."""
    if not path.is_file():
        raise StoreError(f"{GUARD.about(path)}: found no such file; wanted the one that a load watcher keeps")
    connection = GUARD.open_for_reading(path)
    if connection is None:
        raise StoreError(f"{GUARD.about(path)}: cannot be read: it holds nothing yet")
    with closing(connection):
        return _read(connection, path, since, tell)


def _read(
    connection: sqlite3.Connection, path: Path, since: float, tell: Callable[[str], None]
) -> Sequence[NodeSamples]:
    kept: list[tuple[RowLayout, TickRow]] = []
    damaged = 0
    try:
        connection.execute("BEGIN")
        try:
            layouts = _layouts(connection)
            for epoch, time, blob, checksum in connection.execute(_SELECT, (since,)):
                row, layout = TickRow(time, blob, checksum), layouts.get(epoch)
                if layout is None or not is_intact(row, layout):
                    damaged += 1
                else:
                    kept.append((layout, row))
        finally:
            connection.execute("ROLLBACK")
    except FAILURES as error:
        raise GUARD.failure(path, "cannot be read", error) from error
    if damaged:
        tell(f"{GUARD.about(path)}: {damaged} ticks are damaged and left out")
    return samples_of(kept)


def _layouts(connection: sqlite3.Connection) -> dict[int, RowLayout]:
    found = {}
    for epoch, text in connection.execute("SELECT epoch, CAST(layout AS BLOB) FROM columns"):
        # Ticks of a layout that cannot be read are told of as damaged.
        with suppress(ValueError):
            found[epoch] = read_layout(text.decode())
    return found


@dataclass(frozen=True)
class RowLayout:
    """What the numbers of a tick stand for: M metrics of N nodes, in this order."""

    metrics: tuple[str, ...]
    nodes: tuple[str, ...]
    uids: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """As the store keeps it; equal layouts have equal texts."""
        return json.dumps({"metrics": self.metrics, "nodes": self.nodes, "uids": self.uids}, separators=(",", ":"))

    @cached_property
    def checksum(self) -> int:
        """Of the text."""
        return zlib.crc32(self.text.encode())

    @property
    def blob_size(self) -> int:
        """Bytes of one tick: float32[M, N] values, then float64[N] own times, both little-endian."""
        return len(self.nodes) * (4 * len(self.metrics) + 8)


class TickRow(NamedTuple):
    """One tick; ``checksum`` covers the layout, the time and the blob, which sqlite itself does not check."""

    time: float
    blob: bytes
    checksum: int


def read_layout(text: str) -> RowLayout:
    """A layout from its text. Raises ValueError if it is none."""
    found: Any = json.loads(text)
    try:
        metrics, nodes, uids = (tuple(map(str, found[name])) for name in ("metrics", "nodes", "uids"))
    except (KeyError, TypeError) as error:
        raise ValueError("no layout of a tick") from error
    if uids and len(uids) != len(nodes):
        raise ValueError(f"found {len(uids)} uids for {len(nodes)} nodes")
    return RowLayout(metrics, nodes, uids)


def layout_of(samples: NodeSamples) -> RowLayout:
    """The layout that samples have as they are."""
    return RowLayout(NODE_METRICS, samples.nodes, samples.uids)


def rows_of(samples: NodeSamples, layout: RowLayout) -> Iterator[TickRow]:
    """Each tick as a row; values that float32 cannot hold become infinite, which is no sample."""
    nothing = np.full(samples.measured_at.shape, np.nan)
    with np.errstate(over="ignore"):
        values = np.stack([samples.values.get(metric, nothing) for metric in layout.metrics], axis=1).astype("<f4")
    for time, tick, measured_at in zip(samples.times.tolist(), values, samples.measured_at, strict=True):
        blob = tick.tobytes() + measured_at.astype("<f8").tobytes()
        yield TickRow(time, blob, _checksum(layout, time, blob))


def is_intact(row: TickRow, layout: RowLayout) -> bool:
    """Whether a row is as it was written."""
    is_row = isinstance(row.time, float) and isinstance(row.blob, bytes)
    return is_row and len(row.blob) == layout.blob_size and row.checksum == _checksum(layout, row.time, row.blob)


def samples_of(rows: Sequence[tuple[RowLayout, TickRow]]) -> list[NodeSamples]:
    """Rows in order of time, joined as long as the layout stays the same."""
    return [_joined(layout, [row for _, row in group]) for layout, group in groupby(rows, key=lambda row: row[0])]


def _joined(layout: RowLayout, rows: Sequence[TickRow]) -> NodeSamples:
    width, metrics = len(layout.nodes), len(layout.metrics)
    values = np.empty((metrics, len(rows), width))
    measured_at: FloatArray = np.empty((len(rows), width))
    for at, row in enumerate(rows):
        values[:, at] = np.frombuffer(row.blob, "<f4", metrics * width).reshape(metrics, width)
        measured_at[at] = np.frombuffer(row.blob, "<f8", width, offset=4 * metrics * width)
    times = np.array([row.time for row in rows], dtype=np.float64)
    return NodeSamples(layout.nodes, times, dict(zip(layout.metrics, values, strict=True)), measured_at, layout.uids)


def _checksum(layout: RowLayout, time: float, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(struct.pack("<d", time), layout.checksum))
