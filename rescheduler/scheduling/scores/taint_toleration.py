"""Nodes with fewer PreferNoSchedule taints that the pod does not tolerate score higher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import SCORE_POINTS, NodeOrder, Priority, SchedulerScore
from rescheduler.scheduling.scoring.normalization import by_largest
from rescheduler.scheduling.scoring.wording import share_of_largest


@dataclass(frozen=True)
class TaintToleration(SchedulerScore):
    """All nodes score 100 when none has such a taint."""

    name = "TaintToleration"
    stands_at = SCORE_POINTS
    default_weight = 3
    inverts = True
    priorities = (Priority("TaintTolerationPriority"),)
    node_order = (NodeOrder("tainttoleration.weight", "TaintToleration", 3),)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """100 less the share of the largest number of unwelcoming taints."""
        return by_largest(self.raw(pod, placement.columns), feasible, is_reversed=True)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Unwelcoming taints of the node and their largest number."""
        scores, counts = self.score(pod, placement, feasible), self.raw(pod, placement.columns)
        largest = int(counts[feasible].max(initial=0))
        if not largest:
            none = "no feasible node has a PreferNoSchedule taint that the pod does not tolerate"
            return [f"{none}: {scores[node]}" for node in nodes]
        return [
            "PreferNoSchedule taints that the pod does not tolerate: "
            + share_of_largest(int(counts[node]), largest, int(scores[node]), is_reversed=True)
            for node in nodes
        ]

    def raw(self, pod: int, columns: Columns) -> IntArray:
        """Unwelcoming taints of each node."""
        return columns.taint_table.unwelcome(columns.shapes[columns.shape_of[pod]].tolerations)
