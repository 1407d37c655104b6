"""A bound on evictions that holds for plans of any depth: every node that takes waiting pods must be relieved first.

Whatever chain a plan uses, the node on which a pending pod ends has lost enough pods to cover what it lacked. Covers by
all movable pods, placeable or not, and a master over them therefore bound every plan from below.
"""

from __future__ import annotations

from bisect import insort

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.objectives.make_room.waiting import WaitingForReplacements
from rescheduler.planning.problem.covers import IMPOSSIBLE, Covers
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import HelpVector, help_vector
from rescheduler.planning.solvers.master import Column, Conditions, HelpAtLeast, solve_master

SHARE = 0.3  # of the time that is left, for one bound
EXACT_STEPS = 600
MOST_OVERFLOW = 10
MOST_GAIN = 12
MOST_SIZES = 12


def least_evictions(
    problem: Problem, waiting: WaitingForReplacements, deadline: Deadline, seed: int, for_help: HelpVector
) -> int:
    """No plan that helps as many pods of each priority as ``for_help`` takes fewer evictions than this."""
    if not waiting.pods:
        return 0
    everything = problem.covers
    columns = [column for multiset in waiting.multisets for column in _columns(problem, waiting, everything, multiset)]
    columns += _overflow_columns(problem, waiting, everything)
    answer = solve_master(
        columns,
        waiting.counts,
        (),
        deadline.part(SHARE),
        seed,
        Conditions(at_least=help_of_waiting(problem, waiting, for_help), together=waiting.together),
    )
    bound = 0 if answer is None else answer.bound
    if len(waiting.pods) == len(problem.pending) == 1 and for_help == (1,):
        bound = max(bound, _with_one_more(problem, waiting, bound))
    return bound


def least_by_net_gain(problem: Problem, for_help: HelpVector, deadline: Deadline, seed: int) -> int:
    """As ``least_evictions``, by counting large pods: the best bound over the sizes that pending pods have.

    For a size q, pods that ask for at least q everywhere are large. If k large pending pods are helped, the nodes gain
    k large pods in sum, wherever evicted large pods go. A large pod that leaves a node makes room for its own size,
    but costs one of the gain: in the cover of a gain it counts with what it holds above q.
    """
    asked = np.array([problem.request_of(pod) for pod in problem.pending])
    smallest = asked.min(axis=0)
    alone = np.diag(smallest)[smallest > 0]  # large in one resource, whatever else is asked for
    best = 0
    for size in np.unique(np.vstack([asked, smallest, alone]), axis=0)[:MOST_SIZES]:
        is_large = (asked >= size).all(axis=1)
        number = sum(for_help) - int((~is_large).sum())
        if number > 0:
            pods = [pod for pod, large in zip(problem.pending, is_large.tolist(), strict=True) if large]
            best = max(best, _gain(problem, size, pods, number, deadline, seed))
    return best


def _gain(problem: Problem, size: IntArray, pods: list[int], number: int, deadline: Deadline, seed: int) -> int:
    rows = np.flatnonzero((problem.requests >= size[:, None]).all(axis=0))
    if not len(rows):
        return 0  # nothing large is in the way: the plain covers say as much
    held = problem.held.copy()
    held[:, rows] = np.maximum(0, held[:, rows] - size[:, None])
    covers = Covers(held, problem.origin, problem.node_count)
    allowed = np.logical_or.reduce([problem.static_mask(pod)[1] for pod in pods])
    for mask_number in np.unique(problem.mask_numbers[rows]).tolist():
        allowed = allowed | problem.masks[mask_number]
    columns: list[Column] = []
    for together in range(1, min(number, MOST_GAIN) + 1):
        demand = size * together
        possible = allowed & ((demand[:, None] <= problem.columns.allocatable) | (demand[:, None] == 0)).all(axis=0)
        if not possible.any():
            break
        deficit = np.where(demand[:, None] > 0, demand[:, None] - problem.free, 0)
        counts = (number if together == MOST_GAIN else together,)
        columns += cheapest_nodes(covers, deficit, possible, number, counts)
    answer = solve_master(columns, (number,), (), deadline, seed, Conditions(at_least=[HelpAtLeast((0,), number)]))
    return 0 if answer is None else answer.bound


def _columns(
    problem: Problem, waiting: WaitingForReplacements, covers: Covers, multiset: tuple[int, ...]
) -> list[Column]:
    """Per multiset the cheapest nodes, as many as there are pods that wait: no plan uses more nodes."""
    deficit = waiting.deficit(multiset, problem.free)
    return cheapest_nodes(covers, deficit, waiting.allowed(multiset), len(waiting.pods), multiset)


def cheapest_nodes(
    covers: Covers, deficit: IntArray, allowed: BoolArray, keep: int, counts: tuple[int, ...], total: int = 0
) -> list[Column]:
    """Columns of the ``keep`` allowed nodes where the fewest departures make up for ``deficit``."""
    least = np.where(allowed, covers.least(deficit), IMPOSSIBLE)
    order = np.argsort(least, kind="stable")
    found: list[Column] = []
    costs: list[int] = []
    for node in order[least[order] < IMPOSSIBLE].tolist():
        if len(found) >= keep and costs[keep - 1] <= least[node]:
            break
        cost = _exact_or_less(covers, node, deficit[:, node], int(least[node]))
        if cost is not None:
            found.append(Column(node, counts, cost, total=total))
            insort(costs, cost)
    found.sort(key=lambda column: (column.cost, column.node))
    return found[:keep]


def _exact_or_less(covers: Covers, node: int, deficit: IntArray, least: int) -> int | None:
    """Fewest departures, or the weaker bound where the search for them was cut short; None: no departures suffice."""
    cover = covers.cheapest(node, deficit, np.ones_like, IMPOSSIBLE, EXACT_STEPS)
    if cover is None:
        return None
    return cover.cost if cover.is_exact else least


def _overflow_columns(problem: Problem, waiting: WaitingForReplacements, covers: Covers) -> list[Column]:
    """Columns for more pods together than any multiset holds: so many pods of any class, each as small as the smallest.

    The last of them stands for still more pods, which never cost less.
    """
    begin, everybody = waiting.most_together + 1, sum(waiting.counts)
    smallest = np.min([problem.request_of(members[0]) for members in waiting.classes], axis=0)
    allowed = np.logical_or.reduce([problem.static_mask(members[0])[1] for members in waiting.classes])
    found: list[Column] = []
    for together in range(begin, min(everybody, begin + MOST_OVERFLOW) + 1):
        demand = together * smallest
        possible = allowed & ((demand[:, None] <= problem.columns.allocatable) | (demand[:, None] == 0)).all(axis=0)
        if not possible.any():
            break
        is_last = together == begin + MOST_OVERFLOW
        total = everybody if is_last else together
        counts = tuple(min(total, count) for count in waiting.counts)
        deficit = np.where(demand[:, None] > 0, demand[:, None] - problem.free, 0)
        found += cheapest_nodes(covers, deficit, possible, len(waiting.pods), counts, total)
    return found


def help_of_waiting(problem: Problem, waiting: WaitingForReplacements, for_help: HelpVector) -> list[HelpAtLeast]:
    """Of each priority, how many waiting pods must be helped if all that fit already are helped too."""
    pending_groups = problem.pending_groups
    placed = help_vector(problem, waiting.placed)
    found = []
    for priority, number, already in zip(pending_groups.levels, for_help, placed, strict=True):
        classes = [n for n, members in enumerate(waiting.classes) if pending_groups.priority(members[0]) == priority]
        found.append(HelpAtLeast(tuple(classes), max(0, number - already)))
    return found


def _with_one_more(problem: Problem, waiting: WaitingForReplacements, bound: int) -> int:
    """For a single pod: evicting one that fits nowhere today costs at least one eviction more."""
    covers = Covers(problem.held, problem.origin, problem.node_count, waiting.placeable)
    columns = _columns(problem, waiting, covers, (1,))
    return min(bound + 1, min((column.cost for column in columns), default=bound + 1))
