"""CP-SAT model of which nodes to empty: the fewest pods on them, while the others have the room for all, summed up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, how_often
from rescheduler.planning.problem.amounts import scale_for
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.repeatable import RepeatableSolver

FINENESS = 10_000
"""Slack is counted in such parts of the whole capacity."""
_DETERMINISTIC_SHARE = 0.5


class EmptiedSet(NamedTuple):
    """Nodes to empty. ``pods``: how many stand on them; ``slack``: spare room of the others, in parts of FINENESS."""

    nodes: tuple[int, ...]
    pods: int
    slack: int


class _Row(NamedTuple):
    """``sum(per_node * emptied) + slack_factor * slack <= most``."""

    per_node: list[int]
    slack_factor: int
    most: int


class EmptiedSetModel:
    """Sets of exactly ``count`` nodes, those that are empty already included.

    Room is counted over all kept nodes at once, and for each shape also as the number of times that the kept nodes
    could take it; both hold for every real plan, so the fewest pods here bound the moves of any plan from below.
    """

    def __init__(self, drainage: Drainage, count: int, seed: int) -> None:
        """Work the rows out once; each question makes its own model of them."""
        self._count = count
        self._seed = seed
        self._can_be_emptied = drainage.can_be_emptied
        self._pods_on = drainage.pods_on
        self._rows = [*_room_rows(drainage), *_shape_rows(drainage)]

    def fewest_pods(self, least_slack: int, deadline: Deadline) -> tuple[int | None, int]:
        """Fewest pods on the emptied nodes if so much room is to be spare (None: none found), and a proven bound.

        A bound is 0 where nothing is proven.
        """
        model, empty, _ = self._build(least_slack)
        model.minimize(self._pods(empty))
        solver, status = self._solve(model, deadline)
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        value = round(solver.objective_value) if found else None
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
            return None, 0
        return value, max(0, int(np.ceil(solver.best_objective_bound - 1e-6)))

    def roomiest(self, pods: int, least_slack: int, deadline: Deadline) -> EmptiedSet | None:
        """Of the sets with at most so many pods the one that leaves the most room; None if none is found."""
        model, empty, slack = self._build(least_slack)
        model.add(self._pods(empty) <= pods)
        model.maximize(slack)
        solver, status = self._solve(model, deadline)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        nodes = tuple(node for node, variable in enumerate(empty) if solver.value(variable))
        return EmptiedSet(nodes, int(self._pods_on[list(nodes)].sum()), int(solver.value(slack)))

    def _build(self, least_slack: int) -> tuple[cp_model.CpModel, list[cp_model.IntVar], cp_model.IntVar]:
        model = cp_model.CpModel()
        empty = [model.new_bool_var("") for _ in self._pods_on]
        slack = model.new_int_var(least_slack, FINENESS, "slack")
        for node in np.flatnonzero(~self._can_be_emptied):
            model.add(empty[node] == 0)
        model.add(cp_model.LinearExpr.sum(empty) == self._count)
        for row in self._rows:
            total = cp_model.LinearExpr.weighted_sum(empty, row.per_node)
            model.add(total + row.slack_factor * slack <= row.most)
        return model, empty, slack

    def _pods(self, empty: list[cp_model.IntVar]) -> cp_model.LinearExprT:
        return cp_model.LinearExpr.weighted_sum(empty, self._pods_on.tolist())

    def _solve(self, model: cp_model.CpModel, deadline: Deadline) -> tuple[cp_model.CpSolver, cp_model.CpSolverStatus]:
        solver = RepeatableSolver(self._seed, deadline, deadline.seconds * _DETERMINISTIC_SHARE)
        return solver, solver.solve(model)


def _room_rows(drainage: Drainage) -> list[_Row]:
    """One row a resource: capacity rounded up and demand rounded down, so that no real plan is cut off."""
    scale = scale_for(drainage.request.T, drainage.capacity.T)
    capacity = scale.up(drainage.capacity.T)
    demand = drainage.request.sum(axis=0) // scale.units
    rows = []
    for offered, wanted in zip(capacity, demand, strict=True):
        total = int(offered.sum())
        if wanted > 0:
            rows.append(_Row((offered * FINENESS).tolist(), total, (total - int(wanted)) * FINENESS))
    return rows


def _shape_rows(drainage: Drainage) -> list[_Row]:
    """For each shape: pods at least as large in everything need as many places for that shape among the kept nodes."""
    rows = []
    shapes = np.unique(drainage.request, axis=0)
    shapes = shapes[(shapes > 0).any(axis=1)]
    for shape, places in zip(shapes, how_often(shapes, drainage.capacity), strict=True):
        as_large = int((drainage.request >= shape).all(axis=1).sum())
        if 2 * as_large > int(places.sum()):  # else the row could hardly bind
            rows.append(_Row(places.tolist(), 0, int(places.sum()) - as_large))
    return rows
