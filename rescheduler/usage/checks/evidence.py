"""What the checks look at: samples of the present nodes, and what else is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.policy.fields.usage import UsageTrust

# Consecutive samples of each node, whatever ticks lie between them without one.


def carried(values: FloatArray) -> FloatArray:
    """Each gap filled with the newest earlier value of its column, float64[T, N]; NaN where there is none."""
    if not values.size:
        return values
    rows = np.where(np.isfinite(values), np.arange(len(values))[:, None], 0)
    filled: FloatArray = np.take_along_axis(values, np.maximum.accumulate(rows, axis=0), axis=0)
    return filled


def steps(values: FloatArray) -> FloatArray:
    """What each sample adds to the one before it, float64[T-1, N]; NaN where there is no sample or none before it."""
    if len(values) < 2:
        return values[:0]
    return np.asarray(values[1:] - carried(values)[:-1])


# How often a source really has something new, told from its own samples.

USUAL_SECONDS: Final = 60.0
"""Between two scrapes, where the samples do not tell: what Prometheus and metrics-server are installed with."""
LONGEST_SECONDS: Final = 100.0
"""A source slower than this is not waited for: three scrapes must fit into the five minutes that a sample is good."""
_RECENT_ROWS: Final = 40


def cadence(samples: NodeSamples, interval: float) -> float:
    """Median seconds between the source's own times of consecutive samples; never below our own interval."""
    found = steps(samples.measured_at[-_RECENT_ROWS:])
    with np.errstate(invalid="ignore"):
        found = found[np.isfinite(found) & (found > 0)]
    seconds = float(np.median(found)) if found.size else USUAL_SECONDS
    return max(interval, min(seconds, LONGEST_SECONDS))


def seconds_between_changes(samples: NodeSamples, cadence_seconds: float) -> float:
    """Mean seconds in which a node's values change, over nodes that change at all; at least the cadence.

    A source may stamp one scrape with several times (a rate evaluated at each of our ticks): such repeats say nothing.
    """
    spent = steps(samples.measured_at[-_RECENT_ROWS:])
    changed = np.zeros(spent.shape, dtype=np.bool_)
    for metric in (CPU, MEMORY):
        if metric in samples.values:
            found = steps(samples.values[metric][-_RECENT_ROWS:])
            changed |= np.isfinite(found) & (found != 0)
    moving = changed.any(axis=0)
    changes = int(changed[:, moving].sum())
    total = float(np.nansum(np.where(spent > 0, spent, 0.0)[:, moving])) if changes else 0.0
    return max(cadence_seconds, min(total / changes if changes else 0.0, LONGEST_SECONDS))


# What each node offers, as arrays.


def capacities(nodes: Sequence[Node]) -> FloatArray:
    """Millicores and bytes, float64[2, N]; allocatable where a node lists no capacity, 0 where it lists neither."""
    rows = [dict(node.capacity or node.allocatable) for node in nodes]
    return np.array([[row.get(metric, 0) for row in rows] for metric in (CPU, MEMORY)], dtype=np.float64)


JUDGED: Final = (CPU, MEMORY)
"""Metrics by which a node is judged; network and disk are kept beside them."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One moment. Arrays are aligned with ``nodes``; N nodes, T times.

    ``samples``: plausible values only, none from before a node existed. ``exists_since``: float64[N], minus infinity
    where unknown. ``oldest_bound``: float64[N], when the first of its present pods was bound, infinity without pods;
    None where pods are unknown. ``pod_totals``: float64[2, N], millicores and bytes its pods use together, NaN where
    unknown. By node name: ``rejected`` (what the newest answer said that cannot be), ``disputed`` (what providers
    contradict each other in), ``touched`` (when a move last left or reached the node).
    """

    nodes: tuple[Node, ...]
    samples: NodeSamples
    now: float
    interval: float
    trust: UsageTrust
    exists_since: FloatArray
    oldest_bound: FloatArray | None = None
    pod_totals: FloatArray | None = None
    rejected: Mapping[str, str] = field(default_factory=dict)
    disputed: Mapping[str, str] = field(default_factory=dict)
    touched: Mapping[str, float] = field(default_factory=dict)
    keeps_history: bool = True
    """Whether the source of the samples has earlier ones."""

    @cached_property
    def expected(self) -> tuple[str, ...]:
        """Judged metrics that most of the nodes have which have any: a source may lack one of them for all."""
        has = {metric: np.isfinite(values).any(axis=0) for metric, values in self._judged.items()}
        if not has:
            return JUDGED
        known = np.any(list(has.values()), axis=0)
        return tuple(metric for metric, found in has.items() if 2 * found.sum() > known.sum()) or JUDGED

    @cached_property
    def cadence(self) -> float:
        """Seconds between samples of one node, as the source gives them."""
        return cadence(self.samples, self.interval)

    @cached_property
    def seconds_between_changes(self) -> float:
        """How often the values of a node really change."""
        return seconds_between_changes(self.samples, self.cadence)

    @cached_property
    def capacities(self) -> FloatArray:
        """Millicores and bytes that each node offers, float64[2, N]."""
        return capacities(self.nodes)

    @cached_property
    def newest(self) -> Mapping[str, FloatArray]:
        """Newest value of each judged metric, float64[N] as a fraction of capacity; NaN where there is none."""
        return {metric: newest_values(values, values) for metric, values in self._judged.items()}

    @cached_property
    def measured_at(self) -> FloatArray:
        """The source's own time of each node's newest sample, of the oldest expected metric, float64[N]; NaN: none."""
        times = [
            newest_values(self.samples.measured_at, self._judged[metric])
            for metric in self.expected
            if metric in self._judged
        ]
        return np.min(times, axis=0) if times else np.full(len(self.nodes), np.nan)

    @cached_property
    def is_whole(self) -> BoolArray:
        """Where a sample has every expected metric, bool[T, N]."""
        rows = [np.isfinite(self._judged[metric]) for metric in self.expected if metric in self._judged]
        shape = self.samples.measured_at.shape
        found: BoolArray = np.logical_and.reduce(rows) if rows else np.zeros(shape, dtype=np.bool_)
        return found

    @property
    def _judged(self) -> Mapping[str, FloatArray]:
        return {metric: self.samples.values[metric] for metric in JUDGED if metric in self.samples.values}


def newest_values(values: FloatArray, where: FloatArray) -> FloatArray:
    """From each column of ``values`` the last one where ``where`` is finite; NaN for columns without."""
    if not len(values):
        return np.full(values.shape[1], np.nan)
    is_known = np.isfinite(where)
    last = len(values) - 1 - np.argmax(is_known[::-1], axis=0)
    return np.where(is_known.any(axis=0), values[last, np.arange(values.shape[1])], np.nan)
