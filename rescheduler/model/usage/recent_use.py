"""What the measured load of each node lacks, because pods came or went too recently or move in a trial."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement, changes
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.predicted_use import MEMORY_SECONDS, UsePredictor, bound_at, is_missing
from rescheduler.model.usage.usage import FloatArray, Usage


@dataclass(frozen=True)
class RecentUse:
    """How to correct a usage; a fact of columns (``columns.facts(RecentUse(usage, predictor))``).

    ``is_upstream``: as the Trimaran scheduler plugins, which add recently bound pods but never take any off.
    """

    usage: Usage
    predictor: UsePredictor = field(default_factory=UsePredictor)
    is_upstream: bool = False

    def __call__(self, columns: Columns) -> NodeCorrections:
        """Look at the snapshot's pods once."""
        return NodeCorrections(self, columns)


class NodeCorrections:
    """Corrections of measured load, cpu (millicores) and memory (bytes), float64[2, N].

    ``is_uncounted``: bool[P], pods on a node that its window cannot show.
    """

    def __init__(self, recent: RecentUse, columns: Columns) -> None:
        """Judge each pod of the snapshot by when it was bound and when its node's window ended."""
        self._columns = columns
        self._is_upstream = recent.is_upstream
        self._predicted = columns.facts(recent.predictor)
        self._ends = window_ends(recent.usage)
        self.is_uncounted = self._find_uncounted()
        self._measured = self._measured_use(recent.usage)
        here = np.flatnonzero(self.is_uncounted)
        self._initial: FloatArray = np.zeros((2, columns.node_count))
        _add(self._initial, columns.initial_node_of[here], self._predicted[:, columns.shape_of[here]])
        if not recent.is_upstream:
            self._take_off_departed(recent)

    def of(self, placement: Placement, without: int = NOWHERE) -> FloatArray:
        """What to add to each node's measured load, negative where pods have gone; ``without`` is on no node."""
        columns = self._columns
        changed = changes(placement, without)
        total = self._initial.copy()
        left = changed.left
        off = np.where(self.is_uncounted[left], self._predicted[:, columns.shape_of[left]], self._measured[:, left])
        _add(total, changed.left_nodes, -off)
        _add(total, changed.arrived_nodes, self._predicted[:, columns.shape_of[changed.arrived]])
        return total

    def _find_uncounted(self) -> BoolArray:
        columns = self._columns
        bound = np.fromiter(map(bound_at, columns.cluster.pods), dtype=np.float64, count=columns.pod_count)
        is_placed = columns.initial_node_of != NOWHERE
        ends = np.full(columns.pod_count, np.nan)
        ends[is_placed] = self._ends[columns.initial_node_of[is_placed]]
        found: BoolArray = is_placed & is_missing(bound, ends)
        if not self._is_upstream:
            found &= columns.cluster.taken_at - bound <= MEMORY_SECONDS
        return found

    def _measured_use(self, usage: Usage) -> FloatArray:
        """What each pod's going takes off a measured load, float64[2, P]: its own measure, else its prediction."""
        if self._is_upstream:
            return np.zeros((2, self._columns.pod_count))
        use = self._predicted[:, self._columns.shape_of]
        for row, resource in enumerate(MEASURED):
            if resource in usage.pod_use:
                own = usage.pod_use[resource]
                use[row] = np.where(np.isfinite(own) & (own >= 0), own, use[row])
        return use

    def _take_off_departed(self, recent: RecentUse) -> None:
        columns = self._columns
        for departure in recent.usage.departures:
            node = columns.node_index.get(departure.node)
            if node is None or columns.cluster.taken_at - departure.left_at > MEMORY_SECONDS:
                continue
            if is_missing(np.array([departure.left_at]), self._ends[[node]])[0]:
                self._initial[0, node] -= recent.predictor.millicores(departure.spec)
                self._initial[1, node] -= dict(departure.spec.requests).get(MEASURED[1], 0)


def window_ends(usage: Usage) -> FloatArray:
    """Each node's window end, where it has none the latest of all; NaN where nobody has one."""
    known = usage.window_end[np.isfinite(usage.window_end)]
    latest = known.max() if known.size else np.nan
    return np.where(np.isfinite(usage.window_end), usage.window_end, latest)


def _add(total: FloatArray, nodes: IntArray | IndexArray, amounts: FloatArray) -> None:
    for row, values in zip(total, amounts, strict=True):
        np.add.at(row, nodes, values)
