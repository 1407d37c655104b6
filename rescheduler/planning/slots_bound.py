"""A sharper bound where large evicted pods run out of room: every place they could go is counted.

For a size q, a pod counts as many slots as whole q fit into what it asks for, and a node offers as many as fit into
its room. Pods together never count more slots than the room that they fill, so over any plan, however deep, the nodes
gain at least the slots of the helped pods. A node that takes waiting pods by evicting large ones gains less; the rest
must be gained elsewhere, in room that is free today or by further evictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.columns import BoolArray, IntArray
from rescheduler.planning.any_depth_bound import cheapest_nodes, help_of_waiting
from rescheduler.planning.covers import Covers
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import HelpVector
from rescheduler.planning.scarcity import Scarcity, is_confined
from rescheduler.planning.solvers.master import Column, Conditions, GainAtLeast, solve_master
from rescheduler.planning.waiting import Waiting

MOST_MISSING = 4
MOST_EXTRA = 3


class _Slots(NamedTuple):
    """``size`` of a slot int64[R], ``free`` slots of each node int64[N], slots ``of_class`` of each class of pods."""

    size: IntArray
    free: IntArray
    of_class: list[int]


def least_by_slots(
    problem: Problem, waiting: Waiting, scarcity: Scarcity, for_help: HelpVector, deadline: Deadline, seed: int
) -> int:
    """No plan that helps as ``for_help`` says takes fewer evictions.

    ``scarcity`` says what makes a slot, and on which nodes. Only pods that may be on no other nodes count.
    """
    size = np.array(scarcity.size, dtype=np.int64)
    inside = problem.masks[scarcity.mask_number]
    slots = np.where(is_confined(problem, scarcity.mask_number), _slots(problem.requests, size), 0)
    of_class = [_slots_of_pending(problem, members[0], size, inside) for members in waiting.classes]
    above = np.maximum(0, problem.held - slots * size[:, None])
    covers = Covers(np.vstack([problem.held, above]), problem.origin, problem.node_count)
    free_slots = np.where(inside, np.maximum(0, _slots(np.maximum(problem.free, 0), size)), 0)
    hosting = _hosting(problem, waiting, covers, _Slots(size, free_slots, of_class), deadline)
    extra = _extra(problem, covers, size, free_slots, inside, sum(of_class) * len(waiting.pods))
    if hosting is None or deadline.is_over():
        return 0
    columns = [column for column, _ in hosting] + extra
    gains = [gain for _, gain in hosting] + [column.total for column in extra]
    answer = solve_master(
        [Column(column.node, column.counts, column.cost) for column in columns],
        waiting.counts,
        (),
        deadline,
        seed,
        Conditions(
            at_least=help_of_waiting(problem, waiting, for_help),
            gain=GainAtLeast(tuple(gains), tuple(of_class), int(free_slots.sum())),
        ),
    )
    return 0 if answer is None else answer.bound


def _slots(amounts: IntArray, size: IntArray) -> IntArray:
    """How many whole sizes fit into amounts (int64[R, n]), int64[n]."""
    rows = np.flatnonzero(size)
    return np.asarray((amounts[rows] // size[rows, None]).min(axis=0))


def _hosting(
    problem: Problem, waiting: Waiting, covers: Covers, slots: _Slots, deadline: Deadline
) -> list[tuple[Column, int]] | None:
    """Columns for nodes that take waiting pods, each with what its node gains above the slots that it had free.

    None when time is over. Of nodes with as many free slots the cheapest are enough, as many as there are pods.
    """
    if waiting.most_together < sum(waiting.counts) and _could_take_more(problem, waiting):
        return None  # nodes that take more pods than a multiset holds are not described
    found: list[tuple[Column, int]] = []
    for multiset in waiting.multisets:
        taken = sum(count * each for count, each in zip(multiset, slots.of_class, strict=True))
        lacking = waiting.deficit(multiset, problem.free)
        allowed = waiting.allowed(multiset)
        size = slots.size[:, None]
        for missing in range(MOST_MISSING + 1):
            if deadline.is_over():
                return None
            gain = taken - missing
            if missing < MOST_MISSING:
                wanted = np.where(size > 0, gain * size - problem.free, 0)
            else:  # whatever it gains, it is no more than this, or a column above says it
                wanted = np.zeros_like(lacking)
            deficit = np.vstack([lacking, wanted])
            for free in np.unique(slots.free[allowed]).tolist():
                among = allowed & (slots.free == free)
                columns = cheapest_nodes(covers, deficit, among, len(waiting.pods), multiset)
                found += [(column, gain - free) for column in columns]
    return found


def _could_take_more(problem: Problem, waiting: Waiting) -> bool:
    smallest = np.min([problem.request_of(members[0]) for members in waiting.classes], axis=0)
    demand = (waiting.most_together + 1) * smallest
    return bool((demand[:, None] <= problem.columns.allocatable).all(axis=0).any())


def _slots_of_pending(problem: Problem, pod: int, size: IntArray, inside: BoolArray) -> int:
    if (problem.static_mask(pod)[1] & ~inside).any():
        return 0
    return int(_slots(problem.request_of(pod)[:, None], size)[0])


def _extra(
    problem: Problem, covers: Covers, size: IntArray, free_slots: IntArray, is_open: BoolArray, keep: int
) -> list[Column]:
    """Columns for nodes that gain more slots than their room of today offers, by evicting smaller pods."""
    found: list[Column] = []
    nobody = np.zeros_like(problem.free)
    for more in range(1, MOST_EXTRA + 1):
        wanted = np.where(size[:, None] > 0, (free_slots + more) * size[:, None] - problem.free, 0)
        columns = cheapest_nodes(covers, np.vstack([nobody, wanted]), is_open, max(1, keep), ())
        is_last = more == MOST_EXTRA  # it stands for all that could be gained there
        found += [Column(column.node, (), column.cost, total=keep if is_last else more) for column in columns]
    return found
