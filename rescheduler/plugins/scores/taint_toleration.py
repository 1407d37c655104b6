"""Nodes with fewer PreferNoSchedule taints that the pod does not tolerate score higher."""

from __future__ import annotations

from rescheduler.extension_points import Score
from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores.normalization import by_largest


class TaintToleration(Score):
    """All nodes score 100 when none has such a taint."""

    name = "TaintToleration"

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """100 less the share of the largest number of unwelcoming taints."""
        columns = placement.columns
        tolerations = columns.shapes[columns.shape_of[pod]].tolerations
        return by_largest(columns.taint_table.unwelcome(tolerations), feasible, is_reversed=True)
