"""A placement that the search changes move by move, with everything that decides where a pod may go next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.harm import harmful_departures
from rescheduler.planning.problem.prices import HIGHEST_PRICE, relative_price
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits
from rescheduler.planning.search.objective_state import ObjectiveState, StrictState

SAME = 1e-9
"""Costs that differ by less are equal."""
MOST_JUDGED_FOR_HARM = 50_000
"""Pods of a cluster up to which it is worth the time to spare those that others' spread or affinity counts on."""


class SearchState:
    """Final places of the movable pods in a trial, with the room and the limits that are left.

    A pod is either at home or has moved once. ``moved``: row to node, in the order of the moves; taken in this order
    every one of them finds its room free, as long as nothing was undone. ``free``: int64[R, N], room.
    """

    def __init__(
        self,
        problem: Problem,
        state: ObjectiveState,
        limits: RemainingLimits,
        *,
        guards: Sequence[ObjectiveState] = (),
        move_cost: float = 0.0,
        is_cheap: BoolArray | None = None,
    ) -> None:
        """Begin with everybody at home. ``is_cheap``: bool[M], pods to move before others of equal gain."""
        self.problem = problem
        self.state = state
        self.limits = limits
        self.guards = guards
        self.start_cost = state.cost
        self._guard_start = [guard.cost for guard in guards]
        self._move_cost = move_cost
        self._is_cheap = is_cheap
        is_small = problem.columns.pod_count <= MOST_JUDGED_FOR_HARM
        self._is_harmful: BoolArray | None = harmful_departures(problem)[problem.movable] if is_small else None
        self.placement: Placement = problem.start.copy()
        self.node_of: IntArray = problem.origin.astype(np.int64)
        self.free: IntArray = problem.free.copy()
        self.moved: dict[int, int] = {}
        self.charged = 0.0
        self._left: Counter[int] = Counter()
        self._left_namespace: Counter[str] = Counter()
        self._asked: dict[int, tuple[IntArray, IntArray]] = {}

    @property
    def cost(self) -> float:
        """Cost of the objective, with what the moves cost."""
        return self.state.cost + self.charged

    @property
    def evictions_left(self) -> int:
        """Moves that the limit of the whole plan still allows."""
        return self.limits.in_all - len(self.moved)

    def pod(self, row: int) -> int:
        """Index of a movable pod in the cluster."""
        return int(self.problem.movable[row])

    def price(self, row: int) -> int:
        """Price of moving a pod, 0 to HIGHEST_PRICE."""
        return int(self.problem.prices(np.array([row]))[0])

    def fee(self, row: int) -> float:
        """What moving a pod costs in units of the objective."""
        return self._move_cost * relative_price(self.price(row)) if self._move_cost else 0.0

    def weight(self, row: int) -> float:
        """How much to avoid a pod among others of equal gain, 0 to 2: by its price, and if others count on it."""
        harm = 0.0 if self._is_harmful is None else float(self._is_harmful[row])
        if self._is_cheap is not None and self._is_cheap[row]:
            return harm
        return harm + (1 + self.price(row)) / (1 + HIGHEST_PRICE)

    def may_leave(self, row: int) -> bool:
        """Whether a pod is at home and the limits let it go."""
        if row in self.moved or self.evictions_left <= 0:
            return False
        home = int(self.problem.origin[row])
        if self.leaves_left(home) <= 0:
            return False
        if self.limits.of_namespace is None:
            return True
        namespace = self.problem.columns.cluster.pods[self.pod(row)].namespace
        return self._left_namespace[namespace] < self.limits.of(namespace)

    def leaves_left(self, node: int) -> int:
        """Evictions from a node that its own limit still allows."""
        return int(self.limits.of_node[node]) - self._left[node]

    def roomy(self, row: int) -> BoolArray:
        """Nodes that pass the static filters and have room for a pod, its present one left out; bool[N]."""
        found = self.problem.static_mask(self.pod(row))[1].copy()
        rows, amounts = self._asks(row)
        for resource, amount in zip(rows.tolist(), amounts.tolist(), strict=True):
            found &= self.free[resource] >= amount
        found[self.node_of[row]] = False
        return found

    def open_to(self, row: int) -> BoolArray:
        """Nodes on which a pod may arrive now by every filter, without making a guard worse; bool[N]."""
        pod = self.pod(row)
        found = self.roomy(row)
        if self.problem.is_entangled(pod) and found.any():
            found &= self.problem.prediction.feasible(pod, self.placement)
        return self._unguarded(row, found)

    def change(self, row: int) -> FloatArray:
        """By how much the objective's cost changes, the price of the move included, float64[N]."""
        fee = self.fee(row)
        change = self.state.change(row)
        return change + fee if fee else change

    def move(self, row: int, node: int) -> None:
        """Take a pod that is at home to a node."""
        home = int(self.problem.origin[row])
        self._shift(row, node)
        self.moved[row] = node
        self._left[home] += 1
        self._left_namespace[self.problem.columns.cluster.pods[self.pod(row)].namespace] += 1
        self.charged += self.fee(row)

    def undo(self, row: int) -> None:
        """Bring a pod home."""
        home = int(self.problem.origin[row])
        self._shift(row, home)
        del self.moved[row]
        self._left[home] -= 1
        self._left_namespace[self.problem.columns.cluster.pods[self.pod(row)].namespace] -= 1
        self.charged = max(0.0, self.charged - self.fee(row)) if self.moved else 0.0

    def can_return(self, row: int) -> bool:
        """Whether a moved pod's home still has its place free, by every filter and guard."""
        home = int(self.problem.origin[row])
        room = self.free[:, home] - self.problem.held[:, row]
        if (room < np.minimum(0, self.problem.free[:, home])).any():
            return False
        pod = self.pod(row)
        if self.problem.is_entangled(pod) and not self.problem.prediction.feasible(pod, self.placement)[home]:
            return False
        at_home = np.zeros(self.problem.node_count, dtype=np.bool_)
        at_home[home] = True
        return bool(self._unguarded(row, at_home)[home])

    def reset(self, moves: Sequence[tuple[int, int]]) -> None:
        """Make exactly these moves (row, node), in this order, from home."""
        wanted = dict(moves)
        for row in [row for row, node in self.moved.items() if wanted.get(row) != node]:
            self.undo(row)
        for row, node in moves:
            if row not in self.moved:
                self.move(row, node)
        self.moved = dict(moves)

    @property
    def is_guarded(self) -> bool:
        """Whether every guard is as well off as at the start, and the objective allows a plan to end here.

        It may not although it allowed each move: where one of them was undone, its pod stands beside those that came.
        """
        if isinstance(self.state, StrictState) and not self.state.is_allowed:
            return False
        pairs = zip(self.guards, self._guard_start, strict=True)
        return all(guard.cost <= start + SAME * max(1.0, abs(start)) for guard, start in pairs)

    def _unguarded(self, row: int, nodes: BoolArray) -> BoolArray:
        for guard, start in zip(self.guards, self._guard_start, strict=True):
            if nodes.any():
                nodes = nodes & (guard.cost + guard.change(row) <= start + SAME * max(1.0, abs(start)))
        return nodes

    def _asks(self, row: int) -> tuple[IntArray, IntArray]:
        """Resources that a pod asks for, as rows, with the amounts."""
        shape = int(self.problem.columns.shape_of[self.problem.movable[row]])
        found = self._asked.get(shape)
        if found is None:
            request = self.problem.request_of(self.pod(row))
            rows = np.flatnonzero(request)
            found = self._asked[shape] = (rows, request[rows])
        return found

    def _shift(self, row: int, node: int) -> None:
        pod, before = self.pod(row), int(self.node_of[row])
        self.placement.forget(pod)
        self.placement.assume(pod, node)
        for changed in (before, node):
            self.free[:, changed] = self.problem.columns.allocatable[:, changed] - self.placement.used[:, changed]
        self.node_of[row] = node
        for state in self._states():
            state.move(row, node)

    def _states(self) -> Iterator[ObjectiveState]:
        yield self.state
        yield from self.guards
