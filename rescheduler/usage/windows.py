"""From samples to what is known of each node's load over every window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NETWORK, NODE_METRICS
from rescheduler.model.usage.usage import Departure, FloatArray, Statistics, Usage, UsageWindows
from rescheduler.usage.rings import NodeRing, PodUse
from rescheduler.usage.sample_ring import CLOCK_SKEW_SECONDS, Cells

# Statistics of the samples that lie in one window, for all nodes at once.

_PERCENTILES: Final = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}


class ResultScale(NamedTuple):
    """What results are multiplied by, and the decimals that are kept then."""

    factor: float
    decimals: int


def window_statistics(
    values: npt.NDArray[np.floating], measured_at: FloatArray, is_inside: BoolArray, scale: ResultScale | None = None
) -> Statistics:
    """Statistics of each column of ``values``, [T, N], over its samples that are inside.

    NaN is no sample. The deviation is the population's, as of Prometheus' stddev_over_time. A percentile is the
    nearest rank: the smallest sample that at least so many percent of the samples do not exceed. The latest is the one
    measured last; of two measured at once the later row's.
    """
    is_sample = is_inside & ~np.isnan(values)
    count = is_sample.sum(axis=0)
    is_empty = count == 0
    divisor = np.where(is_empty, 1, count)
    exact = np.where(is_sample, values, 0.0).astype(np.float64, copy=False)
    average = exact.sum(axis=0) / divisor
    spread = np.where(is_sample, exact - average, 0.0)
    deviation = np.sqrt(np.square(spread).sum(axis=0) / divisor)
    ordered = _ordered(values, is_sample)
    ranks = {name: -(-percent * count // 100) - 1 for name, percent in _PERCENTILES.items()}
    at, latest = _latest(exact, measured_at, is_sample)
    found = {"average": average, "deviation": deviation, "latest": latest, "minimum": _at_rank(ordered, 0 * count),
             "maximum": _at_rank(ordered, count - 1),
             **{name: _at_rank(ordered, rank) for name, rank in ranks.items()}}  # fmt: skip
    scaled = {name: np.where(is_empty, np.nan, _scaled(row, scale)) for name, row in found.items()}
    return Statistics(**scaled, count=count.astype(np.float64), measured_at=np.where(is_empty, np.nan, at))


def _ordered(values: npt.NDArray[np.floating], is_sample: BoolArray) -> npt.NDArray[np.floating]:
    """Each column's samples in order, gaps last.

    One sort serves all ranks, though nodes have different numbers of samples; numpy sorts short columns several times
    faster than it partitions them at four ranks.
    """
    filled = np.where(is_sample, values, np.array(np.inf, dtype=values.dtype))
    return np.sort(filled, axis=0)


def _at_rank(ordered: npt.NDArray[np.floating], rank: npt.NDArray[np.int64]) -> FloatArray:
    if not len(ordered):
        return np.zeros(len(rank))
    found: FloatArray = np.take_along_axis(ordered, np.maximum(rank, 0)[None], axis=0)[0].astype(np.float64)
    return found


def _latest(exact: FloatArray, measured_at: FloatArray, is_sample: BoolArray) -> tuple[FloatArray, FloatArray]:
    if not len(exact):
        return np.zeros(exact.shape[1]), np.zeros(exact.shape[1])
    times = np.where(is_sample, measured_at, -np.inf)
    newest = (len(times) - 1 - np.argmax(times[::-1], axis=0))[None]
    return np.take_along_axis(times, newest, axis=0)[0], np.take_along_axis(exact, newest, axis=0)[0]


def _scaled(row: FloatArray, scale: ResultScale | None) -> FloatArray:
    return row if scale is None else np.round(row * scale.factor, scale.decimals)


_PERCENT: Final = ResultScale(100.0, decimals=4)
"""Fractions become percent; float32 holds them to 5 millionths of a percent, so that digits beyond these are noise."""


def usage_windows(
    ring: NodeRing,
    windows: Sequence[float],
    nodes: Sequence[Node],
    now: float,
    *,
    pod_use: Mapping[float, PodUse] | None = None,
    departures: tuple[Departure, ...] = (),
) -> UsageWindows:
    """Load of these nodes over windows of these lengths (seconds) that end now.

    A sample belongs to a window by the source's own time, (now - window, now]; the source's clock may be ahead of ours
    by CLOCK_SKEW_SECONDS. What was measured before a node was created is another node's and does not count.
    Every node with samples is valid; see ``judging`` for trust. ``pod_use``: by window, as ``PodRing.use`` gives it.
    """
    starts = {seconds: now - seconds for seconds in windows}
    created = np.array([-np.inf if node.created_at is None else node.created_at for node in nodes], dtype=np.float64)
    cells = ring.cells(ring.find([node.name for node in nodes]), min(starts.values(), default=now))
    by_window = {}
    for seconds, start in starts.items():
        is_inside = (cells.measured_at > np.maximum(start, created)) & (cells.measured_at <= now + CLOCK_SKEW_SECONDS)
        statistics = _by_metric(cells, is_inside)
        ends = _window_ends(statistics, now)
        by_window[seconds] = Usage(
            statistics=statistics,
            window_end=ends,
            window_seconds=np.full(len(nodes), float(seconds)),
            is_valid=np.isfinite(ends),
            pod_use=pod_use[seconds].average if pod_use is not None and seconds in pod_use else {},
            departures=departures,
        )
    return UsageWindows(by_window)


def _by_metric(cells: Cells, is_inside: BoolArray) -> dict[str, Statistics]:
    rows = np.flatnonzero(is_inside.any(axis=1))
    measured_at, is_inside = cells.measured_at[rows], is_inside[rows]
    return {
        metric: window_statistics(values[rows], measured_at, is_inside, None if metric == NETWORK else _PERCENT)
        for metric, values in zip(NODE_METRICS, cells.values, strict=True)
    }


def _window_ends(statistics: Mapping[str, Statistics], now: float) -> FloatArray:
    """When the newest samples were measured; of cpu and memory the older one counts, but not one that has none."""
    newest = np.array([statistics[metric].measured_at for metric in (CPU, MEMORY)])
    ends: FloatArray = np.minimum(np.fmin(newest[0], newest[1]), now)
    return ends
