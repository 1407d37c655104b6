"""The yardstick of the watcher benchmark: the same samples as rows of a plain SQL table, asked by SQL."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.watcher.ticks import node_ticks
from rescheduler.model.usage.samples import NodeSamples

WINDOWS, INTERVAL, TICKS = (300.0, 600.0, 900.0), 15.0, 61
_TABLE = "CREATE TABLE samples (measured_at REAL, node TEXT, metric TEXT, value REAL)"
_STATISTICS = """SELECT node, metric, avg(value), avg(value * value), min(value), max(value), count(*), max(measured_at)
    FROM samples WHERE measured_at > ? GROUP BY node, metric"""
_PERCENTILES = """SELECT node, metric, max(CASE WHEN 100 * place >= 50 * total AND 100 * (place - 1) < 50 * total
        THEN value END), max(CASE WHEN 100 * place >= 95 * total AND 100 * (place - 1) < 95 * total THEN value END)
    FROM (SELECT node, metric, value, row_number() OVER (PARTITION BY node, metric ORDER BY value) AS place,
        count(*) OVER (PARTITION BY node, metric) AS total FROM samples WHERE measured_at > ?)
    GROUP BY node, metric"""


def measure_plain_table(path: Path, nodes: int, seed: int) -> dict[str, Any]:
    """A quarter of an hour of ticks in, then each window out once: CPU seconds of a tick and of all windows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_TABLE)
        connection.execute("CREATE INDEX by_time ON samples (measured_at)")
        ticks = []
        for samples in node_ticks(nodes, TICKS, INTERVAL, seed):
            start = time.process_time()
            _insert(connection, samples)
            ticks.append(time.process_time() - start)
        end = float(samples.times[0])
        start = time.process_time()
        for query in (_STATISTICS, _PERCENTILES):
            for seconds in WINDOWS:
                connection.execute(query, (end - seconds,)).fetchall()
        windows = time.process_time() - start
    return {"storeTick": round(median(ticks), 6), "windows": round(windows, 6), "statement": "sqlite, one row a sample",
            "fileMegabytes": round(path.stat().st_size / 1e6, 1)}  # fmt: skip


def _insert(connection: sqlite3.Connection, samples: NodeSamples) -> None:
    connection.execute("BEGIN")
    times = samples.measured_at[0].tolist()
    for metric, values in samples.values.items():
        rows = zip(times, samples.nodes, [metric] * len(times), values[0].tolist(), strict=True)
        connection.executemany("INSERT INTO samples VALUES (?, ?, ?, ?)", (row for row in rows if row[3] == row[3]))
    connection.execute("COMMIT")
