"""Small clusters as one integer program over final places: a bound that counts receivers, and a plan to try.

Order, affinity and spread are left out, which can only make the bound lower than the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first named

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import UNLIMITED, RemainingLimits
from rescheduler.planning.solvers.highs import MixedInteger, Pace
from rescheduler.planning.solvers.loading import may_use_programmes

MOST_CHOICES = 3000
MOST_BRANCHES = 2000
_PACE = Pace(root=0.005, branch=0.00002)
_EVICTION = 1e-7  # in the objective, so that of equal plans one with fewer evictions is found


class WholePlan(NamedTuple):
    """``bound``: no plan leaves less overload; ``moves``: (row, node) of the best final places found."""

    bound: float
    moves: tuple[tuple[int, int], ...]


def solve_whole(
    problem: Problem, state: LoadState, limits: RemainingLimits, fees: FloatArray, deadline: Deadline
) -> WholePlan | None:
    """Least overload over all final places, with what moves cost (``fees``, float64[M]); None where it is too large.

    The bound is of overload alone, and so 0 where moves cost anything.
    """
    choices = _choices(problem, state) if may_use_programmes(deadline) else None
    if choices is None:
        return None
    rows, nodes = choices
    model = _Model(problem, state, limits, rows, nodes)
    programme = MixedInteger(
        cost=np.concatenate([fees[rows] + _EVICTION, np.ones(model.overs)]),
        integrality=np.concatenate([np.ones(len(rows)), np.zeros(model.overs)]),
        bounds=scipy.optimize.Bounds(np.zeros(model.width), model.upper()),
        constraints=model.constraints(),
        pace=_PACE,
    )
    result = programme.solved(deadline, MOST_BRANCHES, least_seconds=0.01, relative_gap=0.0)
    if result is None:
        return None
    dual = result.mip_dual_bound
    evictions = min(limits.in_all, len(problem.movable))
    bound = 0.0 if dual is None or fees.any() else max(0.0, float(dual) - _EVICTION * evictions)
    chosen = [] if result.x is None else np.flatnonzero(result.x[: len(rows)] > 0.5).tolist()
    return WholePlan(bound, tuple((int(rows[choice]), int(nodes[choice])) for choice in chosen))


def _choices(problem: Problem, state: LoadState) -> tuple[IntArray, IntArray] | None:
    """Every pod with every other node that could ever take it; None if there are none, or too many."""
    room = problem.free.copy()
    for resource in range(len(room)):
        np.add.at(room[resource], problem.origin, problem.held[resource])
    rows: list[IntArray] = []
    nodes: list[IntArray] = []
    count = 0
    for row in np.flatnonzero(state.load.is_known[problem.origin]).tolist():
        mask = problem.static_mask(int(problem.movable[row]))[1]
        found = mask & state.load.is_known & fits(problem.requests[:, row], room)
        found[problem.origin[row]] = False
        there = np.flatnonzero(found)
        count += len(there)
        if count > MOST_CHOICES:
            return None
        rows.append(np.full(len(there), row, dtype=np.int64))
        nodes.append(there)
    return (np.concatenate(rows), np.concatenate(nodes)) if count else None


class _Model:
    """Variables: one for each choice, then the overload of each resource on each node in average nodes."""

    def __init__(
        self, problem: Problem, state: LoadState, limits: RemainingLimits, rows: IntArray, nodes: IntArray
    ) -> None:
        self.problem, self.state, self.limits = problem, state, limits
        self.rows, self.nodes = rows, nodes
        self.resources, self.node_count = state.over().shape
        self.overs = self.resources * self.node_count
        self.width = len(rows) + self.overs

    def upper(self) -> FloatArray:
        """A node's overload never rises."""
        return np.concatenate([np.ones(len(self.rows)), self.state.over().ravel()])

    def constraints(self) -> list[scipy.optimize.LinearConstraint]:
        """Each pod moves once, limits, room, and what counts as overload."""
        once = self._sum_by(self.rows, len(self.problem.movable), np.ones(len(self.rows)))
        found = [scipy.optimize.LinearConstraint(once, -np.inf, 1.0)]
        if self.limits.in_all < UNLIMITED:
            all_of_them = self._sum_by(np.zeros(len(self.rows), dtype=np.int64), 1, np.ones(len(self.rows)))
            found.append(scipy.optimize.LinearConstraint(all_of_them, -np.inf, float(self.limits.in_all)))
        if (self.limits.of_node < UNLIMITED).any():
            homes = self.problem.origin[self.rows].astype(np.int64)
            leaving = self._sum_by(homes, self.node_count, np.ones(len(self.rows)))
            found.append(scipy.optimize.LinearConstraint(leaving, -np.inf, self.limits.of_node.astype(np.float64)))
        found += [self._room(resource) for resource in np.flatnonzero(self.problem.requests.any(axis=1)).tolist()]
        found += [self._overload(resource) for resource in range(self.resources)]
        return found

    def _room(self, resource: int) -> scipy.optimize.LinearConstraint:
        scale = max(1.0, float(self.problem.requests[resource].max()))
        arriving = self.problem.requests[resource, self.rows] / scale
        leaving = self.problem.held[resource, self.rows] / scale
        room = np.maximum(0, self.problem.free[resource]) / scale
        return scipy.optimize.LinearConstraint(self._balance(arriving, leaving), -np.inf, room + 1e-9)

    def _overload(self, resource: int) -> scipy.optimize.LinearConstraint:
        """Arrivals less departures less overload stay within what is left below the target."""
        use = self.state.uses[resource, self.rows]
        balance = self._balance(use, use)
        at = np.arange(self.node_count)
        overload = scipy.sparse.coo_array(
            (-np.ones(self.node_count), (at, len(self.rows) + resource * self.node_count + at)),
            shape=(self.node_count, self.width),
        )
        left = -self.state.excess()[resource]
        left[~self.state.load.is_known] = np.inf
        return scipy.optimize.LinearConstraint((balance + overload).tocsr(), -np.inf, left)

    def _balance(self, arriving: FloatArray, leaving: FloatArray) -> scipy.sparse.coo_array:
        choices = np.arange(len(self.rows))
        return scipy.sparse.coo_array(
            (
                np.concatenate([arriving, -leaving]),
                (np.concatenate([self.nodes, self.problem.origin[self.rows]]), np.concatenate([choices, choices])),
            ),
            shape=(self.node_count, self.width),
        )

    def _sum_by(self, group: IntArray, groups: int, values: FloatArray) -> scipy.sparse.coo_array:
        return scipy.sparse.coo_array((values, (group, np.arange(len(self.rows)))), shape=(groups, self.width))
