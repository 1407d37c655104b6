"""What the checks look at: samples of the present nodes, and what else is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.node import Node
from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import NodeSamples
from rescheduler.model.usage import FloatArray
from rescheduler.policy.usage import UsageTrust
from rescheduler.usage.checks.cadence import cadence, seconds_between_changes
from rescheduler.usage.checks.capacities import capacities

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
