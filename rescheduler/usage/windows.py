"""From samples to what is known of each node's load over every window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.node import Node
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import NETWORK, NODE_METRICS
from rescheduler.model.usage import Departure, FloatArray, Statistics, Usage, UsageWindows
from rescheduler.usage.pod_ring import PodUse
from rescheduler.usage.ring import NodeRing
from rescheduler.usage.sample_ring import CLOCK_SKEW_SECONDS, Cells
from rescheduler.usage.window_statistics import Scale, window_statistics

_PERCENT: Final = Scale(100.0, decimals=4)
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
