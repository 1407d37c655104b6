"""Pods of one workload spread first, and among nodes of equal spread pack up to a target of cpu load."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.model.spread import SpreadRules
from rescheduler.model.usage import Usage
from rescheduler.plugins.scores.pod_topology_spread import PodTopologySpread
from rescheduler.plugins.scores.target_load_packing import TargetLoadPacking, TargetLoadPackingArguments
from rescheduler.plugins.scores.usage_arguments import TargetPercent

# Large enough that one point of spread outweighs any difference of packing.
_SPREAD_FACTOR = 1000


class BestFitBinPackArguments(TargetLoadPackingArguments):
    """Arguments of BestFitBinPack."""

    target_utilization: TargetPercent = 50.0
    """Cpu load to pack up to, in percent."""
    form: Literal["General", "Simple"] = "Simple"
    """General: for targets other than 50."""
    combine_with_spread: bool = True
    """Let the spread of the pod's workload go first; without constraints of spread packing alone counts."""


@dataclass(frozen=True)
class BestFitBinPack(Score):
    """Packing score times the node's PodTopologySpread score, added to a thousand times the latter, as 0 to 100.

    ``spread``: as the scheduler's profile configures it.
    """

    usage: Usage
    arguments: BestFitBinPackArguments = field(default_factory=BestFitBinPackArguments)
    spread: PodTopologySpread = field(default_factory=PodTopologySpread)
    name = "BestFitBinPack"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node, in proportion to the best feasible one."""
        packing = self._packing.score(pod, placement, feasible)
        if not self._combines(pod, placement):
            return packing
        return scaled(combined(self.spread.score(pod, placement, feasible), packing), feasible)

    def explain(self, pod: int, node: int, placement: Placement, feasible: BoolArray | None = None) -> str:
        """One node's score in words and numbers; ``feasible`` None: all nodes are."""
        among = np.ones(placement.columns.node_count, dtype=np.bool_) if feasible is None else feasible
        score, packing = self.score(pod, placement, among), self._packing.score(pod, placement, among)
        told = self._packing.explain(pod, node, placement)
        if not self._combines(pod, placement):
            return f"{self.name} {score[node]}: nothing to spread by; {told}"
        spread = self.spread.score(pod, placement, among)
        both = combined(spread, packing)
        return (
            f"{self.name} {score[node]}: {both[node]} of at most {both[among].max(initial=0)} "
            f"= {_SPREAD_FACTOR} x spread {spread[node]} + spread {spread[node]} x packing {packing[node]}; {told}"
        )

    @property
    def _packing(self) -> TargetLoadPacking:
        return TargetLoadPacking(self.usage, self.arguments)

    def _combines(self, pod: int, placement: Placement) -> bool:
        if not self.arguments.combine_with_spread:
            return False
        rules = placement.columns.facts(SpreadRules)
        soft = tuple(rule for rule in self.spread.defaults if rule.when_unsatisfiable == "ScheduleAnyway")
        return bool(rules.own(pod, "ScheduleAnyway") or rules.defaults(pod, soft))


def combined(spread: IntArray, packing: IntArray) -> IntArray:
    """``1000 * spread + spread * packing`` of each node, int64[N]."""
    return spread * (_SPREAD_FACTOR + packing)


def scaled(points: IntArray, feasible: BoolArray) -> IntArray:
    """Percent of the most points of a feasible node, to the nearest, int64[N]; all 0 where no node has any."""
    most = int(points[feasible].max(initial=0))
    if most == 0:
        return np.zeros_like(points)
    return np.minimum((200 * points + most) // (2 * most), 100)
