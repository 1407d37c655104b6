"""The make-room problem as arrays: what may move, what waits, what is free, and what is alike.

With ``model/columns/`` the one place where pods and nodes become indices. Nothing here is changed by planning.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.planning.problem.covers import Covers
from rescheduler.planning.problem.old_copies import BesideOldCopies, OldCopies
from rescheduler.planning.problem.pending_groups import PendingGroups
from rescheduler.planning.problem.pod_relations import Meetings, PodRelations
from rescheduler.planning.problem.prices import price_of_move, tightest_allowances
from rescheduler.planning.problem.remaining_limits import RemainingLimits, whole_limits
from rescheduler.scheduling.filters.node_resources_fit import checked_rows

EVICTION_COST = 1000  # well above the highest price, so that prices only break ties
RESOURCE_REASONS = ("Insufficient ", "Too many pods")


class Problem:
    """Everything the planner looks at.

    ``movable``: pod indices int32[M] that may leave their node, ascending; ``pending``: pods to help, most important
    first; ``limits`` of the whole plan, of which ``remaining`` is left; ``free``: int64[R, N] room at the start
    (negative where a node is overcommitted). ``may_evict_first``: the pods of a wave may leave before they arrive.
    ``old_copies``: pods that stay until their replacements are Ready.
    """

    def __init__(
        self,
        prediction: SchedulerPrediction,
        start: Placement,
        eligibility: Eligibility,
        pending_groups: PendingGroups | None = None,
        remaining: RemainingLimits | None = None,
    ) -> None:
        """Gather the arrays; O(pods + nodes).

        ``pending_groups``: whom to help (None: all that may be helped, one by one). ``remaining``: what is left of the
        limits (None: all of them).
        """
        self.columns = prediction.columns
        self.start = start
        self.limits: MoveLimits = eligibility.limits
        self.may_evict_first = eligibility.may_evict_first
        self.groups: Sequence[DisruptionGroup] = eligibility.groups
        self.allowances = tightest_allowances(self.groups)
        self._owing = eligibility.owing
        self.remaining = remaining or whole_limits(eligibility.limits, self.columns.node_count)
        self.movable = self._movable(eligibility)
        self.pending_groups = pending_groups or PendingGroups(self.columns.cluster, eligibility.helpable)
        self.pending = self.pending_groups.pending
        self.free: IntArray = start.free()
        self.origin: IndexArray = start.node_of[self.movable]
        self.entanglement = PodRelations(self.columns)
        self.old_copies = OldCopies(self.columns, self.entanglement, start, eligibility.methods)
        self.meetings = Meetings(self.columns, self.entanglement, self.old_copies)
        self.prediction = BesideOldCopies(prediction, self.old_copies) if self.old_copies else prediction
        self._masks: dict[int, tuple[int, BoolArray]] = {}

    def without_exchanges(self) -> Problem:
        """The same problem where no pods leave before they arrive; itself if that is so already."""
        if not self.may_evict_first:
            return self
        other = copy(self)
        other.may_evict_first = False
        return other

    def _movable(self, eligibility: Eligibility) -> IndexArray:
        barred = {pod for pod, allowed in self.allowances.items() if allowed <= 0}
        left = self.remaining
        if left.in_all <= 0:
            return np.zeros(0, dtype=np.int32)
        movable: IndexArray = np.array([pod for pod in eligibility.movable if pod not in barred], dtype=np.int32)
        movable = movable[self.start.node_of[movable] != NOWHERE]
        movable = movable[left.of_node[self.start.node_of[movable]] > 0]
        if left.of_namespace is not None:
            pods = self.columns.cluster.pods
            movable = movable[np.array([left.of(pods[pod].namespace) > 0 for pod in movable.tolist()], dtype=np.bool_)]
        return movable

    @property
    def node_count(self) -> int:
        """N."""
        return self.columns.node_count

    @cached_property
    def requests(self) -> IntArray:
        """What each movable pod asks for where it arrives, int64[R, M]."""
        return np.ascontiguousarray(self._checked_requests[:, self.columns.shape_of[self.movable]])

    @cached_property
    def held(self) -> IntArray:
        """What each movable pod holds where it is, int64[R, M]."""
        held = self.requests.copy()
        pods = self.columns.cluster.pods
        for number, pod in enumerate(self.movable.tolist()):
            if pods[pod].held is not None:
                held[:, number] = self.start.held_at(pod, int(self.origin[number]))
        return held

    def prices(self, rows: IntArray) -> IntArray:
        """Price of moving some of the movable pods (rows), int64[len(rows)], 0 to HIGHEST_PRICE; kept once known."""
        cluster = self.columns.cluster
        for row in rows[self._prices[rows] < 0].tolist():
            pod = int(self.movable[row])
            allowed, is_owing = self.allowances.get(pod), pod in self._owing
            self._prices[row] = price_of_move(cluster.pods[pod], cluster.taken_at, allowed, is_owing=is_owing)
        return self._prices[rows]

    def eviction_cost(self, rows: IntArray) -> IntArray:
        """One eviction each, with the price behind it, int64[len(rows)]."""
        return EVICTION_COST + self.prices(rows)

    @cached_property
    def _prices(self) -> IntArray:
        return np.full(len(self.movable), -1, dtype=np.int64)

    @cached_property
    def row_of_movable(self) -> dict[int, int]:
        """Position of each movable pod in the arrays above."""
        return {pod: row for row, pod in enumerate(self.movable.tolist())}

    def request_of(self, pod: int) -> IntArray:
        """What a pod asks for, int64[R]; 0 where the scheduler does not look."""
        return self._checked_requests[:, self.columns.shape_of[pod]]

    def requested(self, pods: IntArray) -> IntArray:
        """What some pods ask for, int64[R, len(pods)]."""
        return self._checked_requests[:, self.columns.shape_of[pods]]

    @cached_property
    def _checked_requests(self) -> IntArray:
        rows = list(self.columns.facts(checked_rows))
        requests = np.zeros_like(self.columns.requests)
        requests[rows] = self.columns.requests[rows]
        return requests

    def static_mask(self, pod: int) -> tuple[int, BoolArray]:
        """Nodes that pass every static filter for the pod, with the mask's number: pods of one number are alike."""
        mask = self.prediction.static_feasible(pod)
        found = self._masks.get(id(mask))
        if found is None:
            found = self._masks[id(mask)] = (len(self._masks), mask)  # keeping the mask keeps its id its own
        return found

    @cached_property
    def covers(self) -> Covers:
        """Covers by all movable pods; do not remove pods from it."""
        return Covers(self.held, self.origin, self.node_count)

    @property
    def masks(self) -> tuple[BoolArray, ...]:
        """The masks handed out so far, by number."""
        return tuple(mask for _, mask in self._masks.values())

    @cached_property
    def mask_numbers(self) -> IntArray:
        """Number of each movable pod's mask, int64[M]."""
        shapes = self.columns.shape_of[self.movable]
        _, first, shape_number = np.unique(shapes, return_index=True, return_inverse=True)
        of_shape = np.array([self.static_mask(int(self.movable[row]))[0] for row in first], dtype=np.int64)
        numbers: IntArray = of_shape[shape_number] if len(first) else np.zeros(0, dtype=np.int64)
        for row in self.rows_with_volumes.tolist():  # volumes may tie a pod to some nodes
            numbers[row] = self.static_mask(int(self.movable[row]))[0]
        return numbers

    @cached_property
    def rows_with_volumes(self) -> IntArray:
        """Movable pods with volumes, as rows."""
        pods = self.columns.cluster.pods
        return np.array([row for row, pod in enumerate(self.movable.tolist()) if pods[pod].volumes], dtype=np.int64)

    def is_entangled(self, pod: int) -> bool:
        """Whether places of other pods, room apart, bear on where this pod may arrive."""
        return self.entanglement.is_entangled(pod)

    def refused_by_others(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes refused for another reason than room, bool[N]."""
        refused = np.zeros(self.node_count, dtype=np.bool_)
        for rejection in self.prediction.reasons(pod, placement):
            if not rejection.reason.startswith(RESOURCE_REASONS):
                refused = refused | rejection.nodes
        return refused
