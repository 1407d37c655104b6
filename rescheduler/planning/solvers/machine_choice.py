"""Which machines, and how many of each, as integer programs: the cheapest that might do, and whether they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.repeatable import RepeatableSolver

FINEST: Final = 10_000.0
"""Prices count in ten-thousandths of the currency (very high ones in larger steps), rounded down, so that what is
proven of them is true of the prices."""
LARGEST: Final = 2.0**52
MOST_ROOMS: Final = 60
"""Nodes that stay which are looked at one by one, the largest; the others count as one room."""


class MachineCandidate(NamedTuple):
    """``numbers``: of each machine, None where none was found; ``bound``: no set that takes all pods is cheaper
    (infinite: no set takes them)."""

    numbers: list[int] | None
    bound: float


class MachineChoice:
    """The cheapest machines of whose room, taken as one for each type, all pods find enough.

    A lower bound on every real set; sets that were found too small are ruled out one after another, each with all
    smaller ones.
    """

    def __init__(self, problem: ReplacementProblem, most_cost: float | None) -> None:
        """``most_cost``: a set of that price is known, so that dearer ones need not be looked at."""
        self._problem = problem
        self._model = cp_model.CpModel()
        kinds, machines = problem.most_on_machine.shape
        self._weight = problem.pods + 1
        self._steps = FINEST
        while float(problem.price.max(initial=0.0)) * self._steps * self._weight**2 > LARGEST:
            self._steps /= 10
        price = np.floor(problem.price * self._steps).astype(np.int64)
        most = [_most_of(problem, machine, most_cost) for machine in range(machines)]
        self.number = [self._model.new_int_var(0, most[machine], "") for machine in range(machines)]
        self._most = most
        nodes, of_node = _rooms(problem)
        sits: list[list[cp_model.IntVar]] = [[] for _ in range(kinds)]
        for machine in range(machines):
            self._share(problem.machine_room[machine], problem.most_on_machine[:, machine], self.number[machine], sits)
        for node in range(len(nodes)):
            self._share(nodes[node], of_node[:, node], None, sits)
        for kind in range(kinds):
            self._model.add(sum(sits[kind]) == int(problem.count[kind]))
        self._limit_types(problem.type_of)
        cost = cp_model.LinearExpr.weighted_sum(self.number, [int(one) * self._weight + 1 for one in price])
        self._model.minimize(cost)

    def _share(
        self, room: IntArray, most: IntArray, number: cp_model.IntVar | None, sits: list[list[cp_model.IntVar]]
    ) -> None:
        """Pods on one room, or on ``number`` of them."""
        problem, here = self._problem, []
        for kind in np.flatnonzero(most).tolist():
            pods = self._model.new_int_var(0, int(problem.count[kind]) if number is not None else int(most[kind]), "")
            sits[kind].append(pods)
            here.append((kind, pods))
            if number is not None:
                self._model.add(pods <= int(most[kind]) * number)
        _limit_room(self._model, problem, here, room, 1 if number is None else number)

    def _limit_types(self, type_of: IntArray) -> None:
        is_used = {kind: self._model.new_bool_var("") for kind in np.unique(type_of).tolist()}
        for machine, number in enumerate(self.number):
            self._model.add(number <= self._most[machine] * is_used[int(type_of[machine])])
        self._model.add(sum(is_used.values()) <= self._problem.most_types)

    def rule_out(self, numbers: Sequence[int]) -> None:
        """From now on a set has more of some machine than these."""
        more = []
        for number, most, known in zip(self.number, self._most, numbers, strict=True):
            if known < most:
                is_more = self._model.new_bool_var("")
                self._model.add(number >= known + 1).only_enforce_if(is_more)
                more.append(is_more)
        self._model.add_bool_or(more)

    def cheapest(self, seed: int, deadline: Deadline, deterministic_seconds: float) -> MachineCandidate:
        """The cheapest set that is not ruled out, and of equal ones the fewest machines."""
        solver = RepeatableSolver(seed, deadline, deterministic_seconds)
        status = solver.solve(self._model)
        solver.count_work()
        if status == cp_model.INFEASIBLE:
            return MachineCandidate(None, math.inf)
        bound = max(0.0, math.floor(solver.best_objective_bound / self._weight + 1e-9) / self._steps)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return MachineCandidate(None, bound)
        return MachineCandidate([solver.value(number) for number in self.number], bound)


def _most_of(problem: ReplacementProblem, machine: int, most_cost: float | None) -> int:
    """How many of one machine a cheapest set has at most: one a pod, and no more than money reaches."""
    if not problem.most_on_machine[:, machine].any():
        return 0
    price = float(problem.price[machine])
    affordable = problem.pods if most_cost is None or price <= 0 else math.floor(most_cost / price + 1e-9)
    return min(problem.pods, affordable)


def _rooms(problem: ReplacementProblem) -> tuple[IntArray, IntArray]:
    """The nodes that stay, those beyond the largest as one room: int64[rooms, R] and int64[K, rooms]."""
    room, most = problem.node_room, problem.most_on_node
    takes = np.flatnonzero(most.any(axis=0))
    room, most = room[takes], most[:, takes]
    if len(room) <= MOST_ROOMS:
        return room, most
    order = np.argsort(-most.sum(axis=0), kind="stable")
    first, rest = order[:MOST_ROOMS], order[MOST_ROOMS:]
    together = np.minimum(most[:, rest].sum(axis=1), problem.count)
    return (
        np.vstack([room[first], room[rest].sum(axis=0)]),
        np.hstack([most[:, first], together[:, None]]),
    )


def _limit_room(
    model: cp_model.CpModel,
    problem: ReplacementProblem,
    here: Sequence[tuple[int, cp_model.IntVar]],
    room: IntArray,
    number: cp_model.IntVar | int = 1,
) -> None:
    """So many pods of each kind ask for no more than there is in ``number`` rooms of this size, int64[R]."""
    for resource in range(problem.request.shape[1]):
        asked = [int(problem.request[kind, resource]) for kind, _ in here]
        step = math.gcd(*asked)
        if step:
            total = cp_model.LinearExpr.weighted_sum([pods for _, pods in here], [one // step for one in asked])
            model.add(total <= int(room[resource]) // step * number)


def do_pack(
    problem: ReplacementProblem, numbers: Sequence[int], seed: int, deadline: Deadline, deterministic_seconds: float
) -> bool | None:
    """Whether so many of each machine take all pods beside the nodes that stay; None: not known in time."""
    model = cp_model.CpModel()
    machines = np.repeat(np.arange(len(numbers)), numbers)
    rooms = np.vstack([problem.machine_room[machines], problem.node_room])
    most = np.hstack([problem.most_on_machine[:, machines], problem.most_on_node])
    sits: list[list[cp_model.IntVar]] = [[] for _ in range(len(problem.count))]
    for room, takes in zip(rooms, most.T, strict=True):
        here = [(kind, model.new_int_var(0, int(takes[kind]), "")) for kind in np.flatnonzero(takes).tolist()]
        for kind, pods in here:
            sits[kind].append(pods)
        _limit_room(model, problem, here, room)
    for kind, pods_of in enumerate(sits):
        model.add(sum(pods_of) == int(problem.count[kind]))
    solver = RepeatableSolver(seed, deadline, deterministic_seconds)
    status = solver.solve(model)
    solver.count_work()
    return {cp_model.OPTIMAL: True, cp_model.FEASIBLE: True, cp_model.INFEASIBLE: False}.get(status)
