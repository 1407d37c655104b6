"""Every movable pod on every node, as Booleans: the exact model of defragmentation for small clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.repeatable import RepeatableSolver

_DETERMINISTIC_SECONDS = 4.0


class Assignment(NamedTuple):
    """Moved pods (rows) with their nodes; ``bound``: none scores more; ``is_optimal``: this one is the best."""

    moves: dict[int, int]
    bound: int
    is_optimal: bool


@dataclass(frozen=True, eq=False)
class AssignmentProgram:
    """M pods, N nodes, R resources, S shapes, all amounts as they are.

    ``arriving``, ``held``: int64[R, M]; ``origin``: int64[M]; ``open_to``: bool[M, N]; ``free``: int64[R, N].
    ``amounts``: int64[S, R]; ``most``: int64[S, N], more of a shape never fit; ``worth``: int64[S] for each that fits;
    ``cost``: int64[M] for each pod that moves. ``limits``: rows of which at most so many may move. ``conflicts``: pairs
    of (row, node) that exclude each other; a row on its origin stays.
    """

    arriving: IntArray
    held: IntArray
    origin: IntArray
    open_to: BoolArray
    free: IntArray
    amounts: IntArray
    most: IntArray
    worth: IntArray
    cost: IntArray
    limits: tuple[tuple[tuple[int, ...], int], ...]
    conflicts: tuple[tuple[tuple[int, int], tuple[int, int]], ...]


class WholeAssignment:
    """Solves the model again and again while assignments are ruled out one by one."""

    def __init__(self, problem: AssignmentProgram) -> None:
        """Build the model."""
        self._problem = problem
        self._model = cp_model.CpModel()
        self._goes: dict[tuple[int, int], cp_model.IntVar] = {}
        self._moves: dict[int, cp_model.IntVar] = {}
        self._seats()
        self._rooms = {node: self._room(node) for node in range(problem.free.shape[1])}
        self._capacities()
        self._maximise()

    def forbid(self, moves: Mapping[int, int]) -> None:
        """Rule out that exactly these pods move to these nodes."""
        literals = [self._goes[item].negated() for item in moves.items()]
        literals += [var for row, var in self._moves.items() if row not in moves]
        self._model.add_bool_or(literals)

    def solve(self, seed: int, deadline: Deadline) -> Assignment | None:
        """The best assignment that is not ruled out; None if there is none, or none was found in time."""
        solver = RepeatableSolver(seed, deadline, _DETERMINISTIC_SECONDS)
        status = solver.solve(self._model)
        solver.count_work()
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        moves = {row: node for (row, node), var in self._goes.items() if solver.boolean_value(var)}
        bound = int(np.floor(solver.best_objective_bound + 1e-6))
        return Assignment(moves, bound, status == cp_model.OPTIMAL)

    def _seats(self) -> None:
        problem, model = self._problem, self._model
        for row, node in zip(*map(np.ndarray.tolist, np.nonzero(problem.open_to)), strict=True):
            if node != problem.origin[row]:
                self._goes[row, node] = model.new_bool_var("")
        for row in range(len(problem.origin)):
            goes = [var for (pod, _), var in self._goes.items() if pod == row]
            if goes:
                self._moves[row] = model.new_bool_var("")
                model.add(sum(goes) == self._moves[row])
        for rows, most in problem.limits:
            model.add(sum(self._moves[row] for row in rows if row in self._moves) <= most)
        for pair in problem.conflicts:
            self._keep_apart(pair)

    def _keep_apart(self, pair: tuple[tuple[int, int], tuple[int, int]]) -> None:
        """One of two pods is not where the pair has it."""
        literals: list[cp_model.LiteralT] = []
        for row, node in pair:
            if (row, node) in self._goes:
                literals.append(self._goes[row, node].negated())
            elif node != self._problem.origin[row]:
                return  # it never gets there
            elif row in self._moves:
                literals.append(self._moves[row])
        self._model.add_bool_or(literals)

    def _room(self, node: int) -> list[cp_model.LinearExprT]:
        """What is free on a node at the end, for each resource."""
        problem = self._problem
        coming = [(row, var) for (row, place), var in self._goes.items() if place == node]
        leaving = [(row, var) for row, var in self._moves.items() if problem.origin[row] == node]
        return [
            int(problem.free[resource, node])
            + sum(int(problem.held[resource, row]) * var for row, var in leaving)
            - sum(int(problem.arriving[resource, row]) * var for row, var in coming)
            for resource in range(len(problem.free))
        ]

    def _capacities(self) -> None:
        """Who arrives finds what it asks for; a node with too little for those who are there lets nobody in."""
        problem = self._problem
        for (row, node), var in self._goes.items():
            for resource in np.flatnonzero(problem.arriving[:, row]).tolist():
                self._model.add(self._rooms[node][resource] >= 0).only_enforce_if(var)

    def _maximise(self) -> None:
        """Worth of what fits, less the cost of the moves."""
        problem, model = self._problem, self._model
        variables, weights = list(self._moves.values()), [-int(problem.cost[row]) for row in self._moves]
        for shape, node in zip(*map(np.ndarray.tolist, np.nonzero(problem.most)), strict=True):
            count = model.new_int_var(0, int(problem.most[shape, node]), "")
            fits = model.new_bool_var("")
            model.add(count == 0).only_enforce_if(fits.negated())
            for resource in np.flatnonzero(problem.amounts[shape]).tolist():
                need = int(problem.amounts[shape, resource]) * count
                model.add(self._rooms[node][resource] >= need).only_enforce_if(fits)
            variables.append(count)
            weights.append(int(problem.worth[shape]))
        model.maximize(cp_model.LinearExpr.weighted_sum(variables, weights) if variables else 0)
