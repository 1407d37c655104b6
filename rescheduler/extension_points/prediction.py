"""The predicted scheduler as the planner sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rescheduler.extension_points.plugins import Rejection
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement


class SchedulerPrediction(Protocol):
    """The predicted scheduler as the planner sees it: filters and scores over one cluster's columns."""

    columns: Columns

    def feasible(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes that pass every filter, bool[N]."""

    def static_feasible(self, pod: int) -> BoolArray:
        """Nodes that pass every static filter, bool[N]; pods of one shape and label set share the array."""

    def reasons(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Every filter's rejections, in the order in which kube-scheduler runs the filters."""

    def refusals(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Rejections as kube-scheduler counts them: a node stays with the filter that refuses it first."""

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """Indices of all feasible nodes that tie for the highest total score; empty if none is feasible."""

    def totals(self, pod: int, placement: Placement) -> IntArray:
        """Total score of each node, int64[N], -1 where a filter refuses; on its own node as if the pod had left."""

    def is_outdone(self, pod: int, node: int, others: Sequence[int], placement: Placement) -> bool:  # noqa: ARG002
        """Whether one of some nodes is liked better than a node; False also where that is not found out at once.

        The pod stands on none of these nodes, and what it holds where it stands does not matter.
        """
        return False

    def is_entangled(self, pod: int) -> bool:
        """Whether other pods decide, beyond resources, where this pod fits (ports, affinity, spread, volumes)."""
