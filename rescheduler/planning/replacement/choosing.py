"""The cheapest machines that take some nodes' pods beside the room that there is, with a proven bound.

A set whose room is enough in sum is sought, the cheapest first, and then whether pods can be packed into it; one that
is too small is ruled out with all smaller ones. What the last search has proven is the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem
from rescheduler.planning.solvers.machine_choice import MachineChoice, do_pack

SEARCHES: Final = 60
"""Sets that are tried at most."""
DETERMINISTIC_SHARE: Final = 0.2
"""Of the nominal time, for one search."""
ONE_TYPE_SHARE: Final = 0.2
"""Of the time, for sets of one type, with which the search begins."""
SEARCH_SHARE: Final = 0.5
"""Of what is left of the time, for one search; the rest is for packing what it finds, and for further ones."""
CENT: Final = 0.01


@dataclass(frozen=True)
class ReplacementChoice:
    """``numbers``: of each machine (empty: no set is known); ``cost``: what they cost; ``bound``: the proven least.

    ``bound`` is infinite where it is proven that no set does.
    """

    numbers: tuple[int, ...]
    cost: float
    bound: float

    @property
    def is_proven(self) -> bool:
        """Whether nothing is cheaper, to a cent."""
        return self.cost - self.bound < CENT


def cheapest_machines(problem: ReplacementProblem, seed: int, deadline: Deadline) -> ReplacementChoice:
    """Within the deadline; the same question has the same answer where the time was enough."""
    best = _of_one_type(problem, deadline.part(ONE_TYPE_SHARE))
    if best.cost <= 0:
        return ReplacementChoice(best.numbers, best.cost, 0.0)
    search = MachineChoice(problem, None if math.isinf(best.cost) else best.cost)
    seconds = max(0.1, deadline.seconds * DETERMINISTIC_SHARE)
    bound, is_sound = 0.0, True
    for _ in range(SEARCHES):
        if deadline.is_over() or best.cost - bound < CENT:
            break
        found = search.cheapest(seed, deadline.part(SEARCH_SHARE), seconds)
        if is_sound:
            bound = max(bound, min(found.bound, best.cost))
        if found.numbers is None:
            break
        does_pack: bool | None = packs(problem, found.numbers)
        if not does_pack:
            does_pack = do_pack(problem, found.numbers, seed, deadline, seconds)
        cost = problem.cost(found.numbers)
        if does_pack and cost < best.cost:
            best = ReplacementChoice(tuple(found.numbers), cost, 0.0)
        if does_pack:
            break
        best = _with_one_more(problem, found.numbers, best, deadline)
        is_sound &= does_pack is False  # what is not known to be too small may be ruled out, but proves nothing
        search.rule_out(found.numbers)
    return ReplacementChoice(best.numbers, best.cost, bound)


def _with_one_more(
    problem: ReplacementProblem, numbers: Sequence[int], best: ReplacementChoice, deadline: Deadline
) -> ReplacementChoice:
    """The best so far, or a set that is too small with the cheapest machine added that makes it do."""
    used = {int(problem.type_of[machine]) for machine in np.flatnonzero(numbers)}
    for machine in np.argsort(problem.price, kind="stable").tolist():
        more = [number + (other == machine) for other, number in enumerate(numbers)]
        if deadline.is_over() or problem.cost(more) >= best.cost:
            return best
        if len(used | {int(problem.type_of[machine])}) <= problem.most_types and packs(problem, more):
            return ReplacementChoice(tuple(more), problem.cost(more), 0.0)
    return best


def _of_one_type(problem: ReplacementProblem, deadline: Deadline) -> ReplacementChoice:
    """The cheapest set of machines that are all alike; none at all where the nodes that stay have room for all."""
    machines = len(problem.price)
    pods = beside_nodes(problem)
    if not pods.any():
        return ReplacementChoice((0,) * machines, 0.0, 0.0)
    best = ReplacementChoice((), math.inf, 0.0)
    asked = pods @ problem.request
    fewest = np.ceil(_shares(asked, problem.machine_room))
    least = np.where(np.isinf(fewest), np.inf, np.nan_to_num(fewest, posinf=0.0) * problem.price)
    for machine in np.argsort(least, kind="stable").tolist():
        if least[machine] >= best.cost or (best.numbers and deadline.is_over()):
            break
        price = float(problem.price[machine])
        can_be_paid = price > 0 and not math.isinf(best.cost)
        most = int(best.cost / price) if can_be_paid else problem.pods
        number = of_one_machine(problem, machine, pods, most)
        if number is not None and number * price < best.cost:
            numbers = tuple(number if other == machine else 0 for other in range(machines))
            best = ReplacementChoice(numbers, problem.cost(numbers), 0.0)
    return best


def _shares(asked: IntArray, room: IntArray) -> FloatArray:
    """How many of each machine there must be at least by their room in sum, float64[T]; infinite: it offers none."""
    needed = np.where(room > 0, asked[None, :] / np.maximum(room, 1), np.where(asked[None, :] > 0, np.inf, 0.0))
    most: FloatArray = needed.max(axis=1, initial=0.0)
    return most


def packs(problem: ReplacementProblem, numbers: Sequence[int]) -> bool:
    """Whether so many of each machine take all pods, by this rule."""
    left = beside_nodes(problem)
    for machine in np.repeat(np.arange(len(numbers)), numbers).tolist():
        _fill(problem, machine, left)
    return not left.any()


def beside_nodes(problem: ReplacementProblem) -> IntArray:
    """How many pods of each kind find no room on the nodes that stay, int64[K]."""
    left = problem.count.copy()
    for node in range(len(problem.node_room)):
        _take(problem, problem.node_room[node].copy(), problem.most_on_node[:, node], left)
    return left


def of_one_machine(problem: ReplacementProblem, machine: int, pods: IntArray, most: int) -> int | None:
    """How many of one machine take these pods (int64[K]); None: it does not take some of them, or it takes more."""
    left, number = pods.copy(), 0
    while left.any():
        if number == most:
            return None
        before = int(left.sum())
        _fill(problem, machine, left)
        if int(left.sum()) == before:
            return None
        number += 1
    return number


def _fill(problem: ReplacementProblem, machine: int, left: IntArray) -> None:
    _take(problem, problem.machine_room[machine].copy(), problem.most_on_machine[:, machine], left)


def _take(problem: ReplacementProblem, room: IntArray, most: IntArray, left: IntArray) -> None:
    """Let one room take what it can, the kinds of which the fewest would fit first."""
    for kind in np.lexsort((np.arange(len(most)), most)).tolist():
        if not left[kind]:
            continue
        request = problem.request[kind]
        asked = request > 0
        fits = int((room[asked] // request[asked]).min()) if asked.any() else int(left[kind])
        taken = min(fits, int(most[kind]), int(left[kind]))
        room -= taken * request
        left[kind] -= taken
