"""Pods of one workload spread first, and among nodes of equal spread pack up to a target of cpu load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import SpreadRules
from rescheduler.scheduling.plugin import SCORE_POINTS, Surroundings
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPacking, TargetLoadPackingArguments
from rescheduler.scheduling.scoring.load_score import LoadScore
from rescheduler.scheduling.scoring.usage_arguments import TargetPercent

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
class BestFitBinPack(LoadScore):
    """Packing score times the node's PodTopologySpread score, added to a thousand times the latter, as 0 to 100.

    ``spread``: as the scheduler's profile configures it.
    """

    arguments: BestFitBinPackArguments = field(default_factory=BestFitBinPackArguments)
    spread: PodTopologySpread = field(default_factory=PodTopologySpread)
    name = "BestFitBinPack"
    stands_at = SCORE_POINTS
    is_upstream = False

    def fitted(self, surroundings: Surroundings) -> Self:
        """With the spread of the profile too."""
        own = PodTopologySpread(surroundings.default_constraints, defaults_need_all_keys=surroundings.has_own_defaults)
        return replace(super().fitted(surroundings), spread=own)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node, in proportion to the best feasible one."""
        packing = self._packing.score(pod, placement, feasible)
        if not self._combines(pod, placement):
            return packing
        return scaled(combined(self.spread.score(pod, placement, feasible), packing), feasible)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Spread and packing, what they make together, and its share of the largest."""
        scores, packing = self.score(pod, placement, feasible), self._packing.score(pod, placement, feasible)
        told = self._packing.explain(pod, nodes, placement, feasible)
        if not self._combines(pod, placement):
            return [f"nothing to spread by; {text}" for text in told]
        spread = self.spread.score(pod, placement, feasible)
        both = combined(spread, packing)
        most = int(both[feasible].max(initial=0))
        texts = []
        for node, text in zip(nodes, told, strict=True):
            points = f"{_SPREAD_FACTOR} x {spread[node]} + {spread[node]} x {packing[node]} = {both[node]}"
            share = f"; 100 x {both[node]} / {most}" if most else ""
            texts.append(
                f"packing: {text}; spread {spread[node]}; {points}, at most {most} on a feasible node{share} = "
                f"{scores[node]}"
            )
        return texts

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
