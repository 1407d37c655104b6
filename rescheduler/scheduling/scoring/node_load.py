"""The load that usage-based scores reckon with on each node: measured, corrected, or replaced by requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.predicted_use import UsePredictor
from rescheduler.model.usage.recent_use import RecentUse, window_ends
from rescheduler.model.usage.usage import FloatArray, Usage


class NodeLoad(NamedTuple):
    """One resource on all nodes without the pod that is scored.

    ``amount``, ``deviation``: float64[N] in millicores or units; ``base``: int64[N], what a share of them is of
    (capacity for measured load, allocatable for requests). ``recent``: the part of ``amount`` that is predicted.
    ``is_known``: bool[N].
    """

    amount: FloatArray
    deviation: FloatArray
    recent: FloatArray
    base: IntArray
    is_known: BoolArray

    @property
    def share(self) -> FloatArray:
        """Load as a fraction of the base, 0 to 1; 0 where the base is 0."""
        return fraction(self.amount, self.base)

    @property
    def deviation_share(self) -> FloatArray:
        """Standard deviation as a fraction of the base, 0 to 1."""
        return fraction(self.deviation, self.base)


@dataclass(frozen=True)
class LoadSource:
    """Where loads come from; a fact of columns (``columns.facts(source)``).

    ``resources``: those that the plugin scores. A node none of whose resources is known counts as stale; where that
    is more than half of the schedulable nodes, the provider has failed and requests stand in for load everywhere.
    ``is_upstream``: as the Trimaran plugins, which know no age, no failed provider and no departures.
    ``counts_recent``: whether pods too recent for the metrics are added.
    """

    usage: Usage
    resources: tuple[str, ...] = MEASURED
    predictor: UsePredictor = field(default_factory=UsePredictor)
    is_upstream: bool = False
    counts_recent: bool = True

    def __call__(self, columns: Columns) -> NodeLoads:
        """Judge the usage once for these columns."""
        return NodeLoads(self, columns)


class NodeLoads:
    """Loads of one usage over one cluster's columns. ``is_by_requests``: the provider has failed."""

    def __init__(self, source: LoadSource, columns: Columns) -> None:
        """Raise ValueError for a usage of other nodes."""
        if source.usage.node_count != columns.node_count:
            raise ValueError(f"usage covers {source.usage.node_count} nodes, the cluster has {columns.node_count}")
        self._columns = columns
        self._source = source
        self._recent = columns.facts(RecentUse(source.usage, source.predictor, source.is_upstream))
        self._capacities = columns.facts(capacities)
        usable = self._usable_nodes()
        self._percent = {name: np.where(usable, source.usage.percent(name), np.nan) for name in source.resources}
        is_known = np.zeros(columns.node_count, dtype=np.bool_)
        for percent in self._percent.values():
            is_known |= ~np.isnan(percent)
        if not source.is_upstream and source.usage.assessment is None:
            # Whoever has assessed a usage has given its new nodes a load, or has left them out for a reason.
            self._let_new_nodes_be_idle(is_known)
        stale = (~is_known)[_schedulable(columns)]
        self.is_by_requests = not source.is_upstream and 2 * int(stale.sum()) > stale.size

    def of(self, resource: str, pod: int, placement: Placement) -> NodeLoad:
        """Load of one resource as if ``pod`` were on no node."""
        row = self._columns.resource_index.get(resource)
        if self.is_by_requests:
            return self._requested(row, pod, placement)
        percent = self._percent[resource]
        is_known = ~np.isnan(percent)
        capacity = self._capacities.get(resource, np.zeros(self._columns.node_count, dtype=np.int64))
        measured = np.nan_to_num(percent) / 100 * capacity
        recent = np.zeros_like(measured)
        if self._source.counts_recent and resource in MEASURED:
            recent = np.maximum(self._recent.of(placement, pod)[MEASURED.index(resource)], -measured)
        deviation = self._source.usage.deviation(resource) / 100 * capacity
        return NodeLoad(measured + recent, deviation, recent, capacity, is_known)

    def _requested(self, row: int | None, pod: int, placement: Placement) -> NodeLoad:
        none = np.zeros(self._columns.node_count)
        if row is None:
            return NodeLoad(none, none, none, none.astype(np.int64), none.astype(np.bool_))
        used = placement.used[row].copy()
        for node in placement.places(pod):
            used[node] -= placement.held_at(pod, node)[row]
        offered = self._columns.allocatable[row]
        return NodeLoad(used.astype(np.float64), none, none, offered, np.ones(len(none), dtype=np.bool_))

    def _usable_nodes(self) -> BoolArray:
        usage = self._source.usage
        return usage.is_valid if self._source.is_upstream else usage.is_fresh(self._columns.cluster.taken_at)

    def _let_new_nodes_be_idle(self, is_known: BoolArray) -> None:
        """A node younger than the window has no load but that of the pods that it got since."""
        columns, usage = self._columns, self._source.usage
        ends = window_ends(usage)
        lengths = usage.window_seconds[np.isfinite(usage.window_end)]
        if not lengths.size:
            return
        has_old_pods = np.zeros(columns.node_count, dtype=np.bool_)
        placed = np.flatnonzero((columns.initial_node_of >= 0) & ~self._recent.is_uncounted)
        has_old_pods[columns.initial_node_of[placed]] = True
        started = ends.max() - lengths.max()
        for number, node in enumerate(columns.cluster.nodes):
            is_new = node.created_at is not None and node.created_at > started
            if is_new and not is_known[number] and not has_old_pods[number]:
                is_known[number] = True
                for percent in self._percent.values():
                    percent[number] = 0.0


def capacities(columns: Columns) -> dict[str, IntArray]:
    """Capacity of each node by resource, int64[N], for ``Columns.facts``; allocatable where a node lists none."""
    found = {name: np.zeros(columns.node_count, dtype=np.int64) for name in columns.resources}
    for number, node in enumerate(columns.cluster.nodes):
        for name, amount in node.capacity or node.allocatable:
            found.setdefault(name, np.zeros(columns.node_count, dtype=np.int64))[number] = amount
    return found


def fraction(amount: FloatArray | IntArray, base: IntArray) -> FloatArray:
    """``amount / base`` within 0 to 1; 0 where the base is 0."""
    return np.clip(np.divide(amount, base, out=np.zeros(len(base)), where=base > 0), 0.0, 1.0)


def nearest(values: FloatArray) -> IntArray:
    """Nearest whole number, halves up (for values of 0 and more), int64[N]."""
    return np.floor(values + 0.5).astype(np.int64)


def _schedulable(columns: Columns) -> BoolArray:
    nodes = columns.cluster.nodes
    mask = np.fromiter((node.is_ready and not node.is_unschedulable for node in nodes), np.bool_, count=len(nodes))
    return mask if mask.any() else np.ones_like(mask)
