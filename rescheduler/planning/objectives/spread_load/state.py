"""The overload of a placement: how much use lies above the target, counted in average nodes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState

TOLERANCE = 1e-9
"""Use above the target by less than this share of an average node is none."""


class Load:
    """Use and targets of the nodes, for the resources (K) that have a target.

    ``use`` (at the start), ``capacity``, ``allowed``: float64[K, N]; ``of_pods``: float64[K, P]; ``unit``: float64[K],
    mean allocatable of a node; ``is_known``: bool[N]. Nodes whose load is not known are neither judged
    nor sent anything.
    """

    def __init__(self, placement: Placement, observed: ObservedUse, target: Mapping[str, float]) -> None:
        """Add up what the pods use where they are; resources that no node offers are left out."""
        means = observed.capacity.mean(axis=1) if observed.capacity.shape[1] else np.zeros(len(observed.resources))
        rows = [row for row, name in enumerate(observed.resources) if name in target and means[row] > 0]
        self.resources = tuple(observed.resources[row] for row in rows)
        self.is_known = observed.is_known
        self.capacity: FloatArray = observed.capacity[rows]
        share = np.array([target[name] for name in self.resources], dtype=np.float64)[:, None]
        self.allowed: FloatArray = share * self.capacity
        self.of_pods: FloatArray = observed.of_pods[rows]
        self.unit: FloatArray = means[rows]
        self.use: FloatArray = observed.of_rest[rows].astype(np.float64)
        placed = np.flatnonzero(placement.node_of != NOWHERE)
        for row in range(len(rows)):
            self.use[row] += np.bincount(
                placement.node_of[placed], self.of_pods[row, placed], minlength=placement.columns.node_count
            )


class LoadState(ObjectiveState):
    """Overload as pods move. ``is_strict``: a node may not rise above its target, nor further above it.

    Rows are the movable pods of ``problem``, at whose start it begins.
    """

    def __init__(
        self, problem: Problem, observed: ObservedUse, target: Mapping[str, float], *, is_strict: bool = False
    ) -> None:
        self.load = Load(problem.start, observed, target)
        self._is_strict = is_strict
        unit = self.load.unit[:, None]
        self.uses: FloatArray = self.load.of_pods[:, problem.movable] / unit
        self.node_of: IntArray = problem.origin.astype(np.int64)
        self._excess: FloatArray = (self.load.use - self.load.allowed) / unit
        self._excess[:, ~self.load.is_known] = -np.inf
        self._over: FloatArray = self._positive(self._excess)
        self._over_before = self._over.copy()
        self._moved: FloatArray = np.zeros_like(self._excess)
        self.cost = float(self._over.sum())

    @property
    def is_allowed(self) -> bool:
        """See StrictState."""
        return not self._is_strict or bool((self._over <= self._over_before + TOLERANCE).all())

    def change(self, row: int) -> FloatArray:
        """See ObjectiveState; infinite for nodes that a strict state forbids."""
        use, origin = self.uses[:, row], int(self.node_of[row])
        rise = self._positive(self._excess + use[:, None]) - self._over
        total: FloatArray = rise.sum(axis=0) - self.relief(row)
        if self._is_strict:
            is_barred = (rise > TOLERANCE).any(axis=0) | ~self.load.is_known
            total[is_barred if self.load.is_known[origin] else slice(None)] = np.inf
        total[origin] = 0.0
        return total

    def instead(self, row: int) -> FloatArray:
        """See ExchangeState."""
        uses = self.uses[:, row][:, None]
        before = self._over[:, self.node_of]
        after = self._positive(self._excess[:, self.node_of] - self.uses + uses)
        total: FloatArray = (after - before).sum(axis=0) - self.relief(row)
        if self._is_strict:
            total[(after > np.maximum(before, TOLERANCE)).any(axis=0) | ~self.load.is_known[self.node_of]] = np.inf
        return total

    def relief(self, row: int) -> float:
        """By how much the overload of its node falls when a pod leaves."""
        origin = int(self.node_of[row])
        before = self._over[:, origin]
        return float((before - self._positive(self._excess[:, origin] - self.uses[:, row])).sum())

    def hopes(self) -> FloatArray:
        """The same for all rows at once, float64[M]; see HopefulState."""
        over = self._over[:, self.node_of]
        left = self._positive(self._excess[:, self.node_of] - self.uses)
        relief: FloatArray = (over - left).sum(axis=0)
        return relief

    def promising(self) -> IntArray:
        """Pods of nodes above their target that use what there is too much of, the largest relief first."""
        relief = self.hopes()
        rows = np.flatnonzero(relief > TOLERANCE)
        found: IntArray = rows[np.argsort(-relief[rows], kind="stable")]
        return found

    def move(self, row: int, node: int) -> None:
        """See ObjectiveState."""
        use, origin = self.uses[:, row], int(self.node_of[row])
        if node == origin:
            return
        for amounts in (self._excess, self._moved):
            amounts[:, origin] -= use
            amounts[:, node] += use
        self.node_of[row] = node
        for changed in (origin, node):
            self._over[:, changed] = self._positive(self._excess[:, changed])
        self.cost = float(self._over.sum())

    def over(self) -> FloatArray:
        """Use above the target in average nodes, float64[K, N]; 0 where load is not known. Not to be written to."""
        return self._over

    def excess(self) -> FloatArray:
        """Use less what is allowed in average nodes, float64[K, N]; minus infinity where load is not known."""
        return self._excess.copy()

    def use(self) -> FloatArray:
        """Use of the nodes as things stand, float64[K, N]."""
        moved = self._moved * self.load.unit[:, None]
        total: FloatArray = self.load.use + moved
        return total

    def hot(self) -> BoolArray:
        """Nodes above their target in any resource, bool[N]."""
        return np.asarray((self._over > 0).any(axis=0))

    @staticmethod
    def _positive(excess: FloatArray) -> FloatArray:
        return np.where(excess > TOLERANCE, excess, 0.0)
