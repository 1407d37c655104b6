"""The most that shapes can fit after any plan within the limits: two relaxations, joined by Lagrange multipliers.

The first looks at each node alone: so many departures add at most so much of each resource (see ``remainders``). The
second looks at the sum of all nodes: moves change who holds room, not how much is left in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.objects.resources import PODS
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation
from rescheduler.planning.problem.covers import Covers
from rescheduler.planning.problem.deadline import Deadline

# What a departure can add at most once the pod has arrived elsewhere: the part of it that is no whole shape.
## Let a pod request at least k times what a shape asks for. On whatever node it arrives, the shape fits at least k
# times
# less, since the floor of a sum of room and k whole shapes is k more than the floor of the room. So departures gain
# no
# more, taken together with their arrivals, than if each pod held k shapes less.


class Remainders(NamedTuple):
    """For one shape: ``rows`` of the resources that decide how often it fits, and covers by what departures add."""

    rows: IntArray
    covers: Covers


def remainders_of(situation: DefragmentSituation, shape: int) -> Remainders:
    """See above; ``covers`` counts the resources ``rows`` only, in this order."""
    rows = situation.shapes.asked[shape]
    slots = situation.columns.resource_index[PODS]
    is_free_of_slots = len(rows) > 1 and _has_slots_to_spare(situation, shape, slots)
    if is_free_of_slots:
        rows = rows[rows != slots]
    amounts = situation.shapes.amounts[shape, rows][:, None]
    least = np.minimum(situation.held[rows], situation.arriving[rows])
    whole = np.where(_arrives_where_it_counts(situation, shape), (least // amounts).min(axis=0), 0)
    if not is_free_of_slots:
        whole = np.minimum(whole, 1)
    held = situation.held[rows] - whole * amounts
    return Remainders(rows, Covers(held, situation.problem.origin, situation.problem.node_count))


def _has_slots_to_spare(situation: DefragmentSituation, shape: int, slots: int) -> bool:
    """Whether slots for pods can never be what a shape lacks, whoever arrives."""
    shapes, problem = situation.shapes, situation.problem
    usable = shapes.is_usable[shape]
    rows = shapes.asked[shape][shapes.asked[shape] != slots]
    offered = problem.columns.allocatable[rows][:, usable] // shapes.amounts[shape, rows][:, None]
    slots_left = problem.free[slots, usable] - situation.most_moves
    return bool((slots_left >= offered.min(axis=0)).all())


def _arrives_where_it_counts(situation: DefragmentSituation, shape: int) -> BoolArray:
    """Movable pods that may arrive only on nodes where the shape is counted, bool[M]."""
    problem, usable = situation.problem, situation.shapes.is_usable[shape]
    numbers = problem.mask_numbers
    is_bound = np.array([not (mask & ~usable).any() for mask in problem.masks], dtype=np.bool_)
    found: BoolArray = is_bound[numbers] if len(numbers) else np.zeros(0, dtype=np.bool_)
    return found


_STEPS = 60
_MOST_ROUNDS = 8
_MOST_LOOKED_AT = 200
_COVER_STEPS = 600
_SAME = 1e-9


class Ceiling:
    """Bounds of the value of any plan."""

    def __init__(self, situation: DefragmentSituation, deadline: Deadline | None = None) -> None:
        """Count what each node could offer after so many departures; O(nodes x departures x resources) for each shape.

        Shapes that the deadline leaves no time for are bounded by the room in all nodes alone.
        """
        self._situation = situation
        self._weights = situation.shapes.weights
        self._remainders: list[Remainders] = []
        while len(self._remainders) < len(self._weights) and not (deadline is not None and deadline.is_over()):
            self._remainders.append(remainders_of(situation, len(self._remainders)))
        self._often = _often_after(situation, self._remainders)  # [S, N, J + 1]
        self._in_all = _often_in_all(situation)
        self._is_exact = np.zeros(self._often.shape[1], dtype=np.bool_)

    def value(self, deadline: Deadline | None = None) -> float:
        """No plan reaches more. Until the deadline, nodes that count are looked at closely; None: not at all."""
        best = self._least_dual(deadline)
        for _ in range(_MOST_ROUNDS if deadline is not None else 0):
            nodes = self._counting(best)
            if deadline is None or deadline.is_over() or not len(nodes):
                break
            for node in nodes.tolist():
                if not deadline.is_over():
                    self._look_closely(node)
            best = min(best, self._least_dual(deadline), key=lambda dual: dual.bound)
        return _rounded(best.bound, self._weights)

    def _least_dual(self, deadline: Deadline | None) -> _Dual:
        """The least bound over a few charges for the room in all, one shape after another."""
        charged = np.zeros(len(self._weights))
        charged[len(self._remainders) :] = self._weights[len(self._remainders) :]
        best = self._dual(charged)
        is_better = True
        while is_better:
            is_better = False
            for shape, weight in enumerate(self._weights.tolist()[: len(self._remainders)]):
                for price in (0.0, weight / 2, weight):
                    if deadline is not None and deadline.is_over():
                        return best
                    trial = charged.copy()
                    trial[shape] = price
                    found = self._dual(trial)
                    if found.bound < best.bound - _SAME * max(1.0, abs(best.bound)):
                        best, charged, is_better = found, trial, True
        return best

    def _dual(self, charged: FloatArray) -> _Dual:
        """The bound for these charges, least over the price of one departure (a convex function of it)."""
        profit = np.tensordot(self._weights - charged, self._often, axes=1)  # [N, J + 1]
        fixed = float(charged @ self._in_all)
        departures = np.arange(profit.shape[1], dtype=np.float64)

        def at(price: float) -> _Dual:
            bound = fixed + price * self._situation.most_moves + float((profit - price * departures).max(axis=1).sum())
            return _Dual(bound, price, charged)

        low, high = 0.0, float((profit[:, -1] - profit[:, 0]).max(initial=0.0)) + 1e-9
        best = min(at(low), at(high), key=lambda dual: dual.bound)
        for _ in range(_STEPS):
            left, right = at(low + (high - low) / 3), at(high - (high - low) / 3)
            best = min(best, left, right, key=lambda dual: dual.bound)
            low, high = (low, right.price) if left.bound <= right.bound else (left.price, high)
        return best

    def _counting(self, dual: _Dual) -> IntArray:
        """Nodes that gain by departures at these prices and were not looked at closely yet, the most gain first."""
        profit = np.tensordot(self._weights - dual.charged, self._often, axes=1)
        gain = (profit - dual.price * np.arange(profit.shape[1])).max(axis=1) - profit[:, 0]
        gain[self._is_exact] = 0.0
        order = np.argsort(-gain, kind="stable")
        found: IntArray = order[gain[order] > _SAME][:_MOST_LOOKED_AT]
        return found

    def _look_closely(self, node: int) -> None:
        """Fewest departures by whole pods in place of the largest amounts of each resource by itself."""
        self._is_exact[node] = True
        for shape, (rows, covers) in enumerate(self._remainders):
            often = self._often[shape, node]
            amounts = self._situation.shapes.amounts[shape, rows]
            for count in range(int(often[0]) + 1, int(often[-1]) + 1):
                first = int(np.argmax(often >= count))
                deficit = amounts * count - self._situation.problem.free[rows, node]
                cover = covers.cheapest(node, deficit, _one_each, len(often), _COVER_STEPS)
                if cover is None or not cover.is_exact:
                    break
                often[first : cover.cost] = np.minimum(often[first : cover.cost], count - 1)


class _Dual(NamedTuple):
    """A bound, with the prices that give it: of one departure, and of one pod of each shape for the room in all."""

    bound: float
    price: float
    charged: FloatArray


def _one_each(rows: IntArray) -> IntArray:
    return np.ones(len(rows), dtype=np.int64)


def _often_after(situation: DefragmentSituation, remainders: Sequence[Remainders]) -> IntArray:
    """How often each shape fits on each node at most after j departures, int64[S, N, J + 1]; never less after more."""
    shapes, problem = situation.shapes, situation.problem
    most = min(situation.most_moves, int(np.bincount(problem.origin, minlength=1).max(initial=0)))
    of_node = np.minimum(situation.limits.of_node, most)
    index = np.minimum(np.arange(most + 1)[None], of_node[:, None])  # at its own limit a node offers no more
    nodes = np.arange(problem.node_count)[:, None]
    often = np.zeros((len(shapes), *index.shape), dtype=np.int64)
    for number, (rows, covers) in enumerate(remainders):
        usable = shapes.is_usable[number]
        if not usable.any():
            continue
        fit = np.full(index.shape, np.iinfo(np.int64).max)
        for row, sums in zip(rows.tolist(), covers.largest_sums, strict=True):
            freed = np.zeros(index.shape, dtype=np.int64)
            freed[:, 1:] = sums[:, :most]
            room = problem.free[row][:, None] + freed[nodes, index]
            np.minimum(fit, room // shapes.amounts[number, row], out=fit)
        often[number] = np.where(usable[:, None], fit.clip(min=0), 0)
    return often


def _often_in_all(situation: DefragmentSituation) -> FloatArray:
    """How often each shape would fit if all room lay in one place, float64[S]."""
    shapes = situation.shapes
    room = situation.problem.free.clip(min=0).sum(axis=1)
    # A pod that was resized may take less where it arrives than it holds where it is.
    room = room + (situation.held - situation.arriving).clip(min=0).sum(axis=1)
    found = np.zeros(len(shapes))
    for number, asked in enumerate(shapes.asked):
        if shapes.is_usable[number].any():
            found[number] = float((room[asked] // shapes.amounts[number, asked]).min())
    return found


def _rounded(value: float, weights: FloatArray) -> float:
    """Down to a whole number where every value is one."""
    slack = 1e-7 * max(1.0, abs(value))
    return float(np.floor(value + slack)) if (weights == np.round(weights)).all() else value + slack
