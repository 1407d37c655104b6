"""Ticks of samples as rows of a usage store: a blob of numbers each, with a checksum."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from rescheduler.model.usage.usage import FloatArray


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
