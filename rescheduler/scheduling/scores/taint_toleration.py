"""Nodes with fewer PreferNoSchedule taints that the pod does not tolerate score higher."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.scoring.normalization import by_largest
from rescheduler.scheduling.scoring.wording import share_of_largest


class TaintToleration(Score):
    """All nodes score 100 when none has such a taint."""

    name = "TaintToleration"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """100 less the share of the largest number of unwelcoming taints."""
        return by_largest(self._counts(pod, placement), feasible, is_reversed=True)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Unwelcoming taints of the node and their largest number."""
        scores, counts = self.score(pod, placement, feasible), self._counts(pod, placement)
        largest = int(counts[feasible].max(initial=0))
        if not largest:
            none = "no feasible node has a PreferNoSchedule taint that the pod does not tolerate"
            return [f"{none}: {scores[node]}" for node in nodes]
        return [
            "PreferNoSchedule taints that the pod does not tolerate: "
            + share_of_largest(int(counts[node]), largest, int(scores[node]), is_reversed=True)
            for node in nodes
        ]

    def _counts(self, pod: int, placement: Placement) -> IntArray:
        columns = placement.columns
        return columns.taint_table.unwelcome(columns.shapes[columns.shape_of[pod]].tolerations)
