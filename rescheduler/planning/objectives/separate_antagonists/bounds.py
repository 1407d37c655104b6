"""Pairs of antagonists that no plan can separate, by counting."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.planning.objectives.separate_antagonists.conflicts import ConflictClasses, ConflictCounts
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits


def least_pairs(
    problem: Problem,
    conflicts: ConflictClasses,
    codes: IndexArray,
    limits: RemainingLimits,
    deadline: Deadline,
    *,
    is_barred_by_foes: bool = False,
) -> int:
    """A lower bound on the pairs that share a domain of ``codes`` (int32[N]) after any plan.

    The larger of two: what is left if the evictions that remain each part as many pairs as any pod has; and the pairs
    of pods that must stay, with those that pods must form which have fewer domains to go to than they are.
    When time is over, the classes that were looked at count. ``is_barred_by_foes``: the scheduler lets nobody into a
    domain in which a foe stands.
    """
    now = ConflictCounts(conflicts, problem.start.node_of, codes)
    here = now.here[problem.movable]
    if limits.in_all < np.count_nonzero(here):
        largest = np.sort(here)[len(here) - max(0, limits.in_all) :]
        by_limit = max(0, now.pairs - int(largest.sum()))
    else:
        by_limit = 0
    node_of = problem.start.node_of.copy()
    node_of[problem.movable] = NOWHERE
    fixed = ConflictCounts(conflicts, node_of, codes)
    evictions = limits.in_all if is_barred_by_foes else None
    return max(by_limit, fixed.pairs + _crowded(problem, conflicts, now, fixed, evictions, deadline))


def _crowded(
    problem: Problem,
    conflicts: ConflictClasses,
    now: ConflictCounts,
    fixed: ConflictCounts,
    evictions: int | None,
    deadline: Deadline,
) -> int:
    """Pairs that pods of one class must form with each other, or with those of their class that must stay.

    ``evictions``: how many are left, where pods in conflict bar arrivals (None: they do not).
    """
    codes = now.codes
    is_movable = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    is_movable[problem.movable] = True
    room = problem.free.copy()
    np.add.at(room.T, problem.origin, problem.held.T)
    total = 0
    for number in range(len(conflicts.rivals)):
        if deadline.is_over():
            break
        pods = conflicts.pods_of(number)
        moving = pods[is_movable[pods]]
        if len(pods) < 2 or not len(moving) or not conflicts.keeps_apart(number):
            continue
        nodes = _reachable(problem, moving, room)
        reached = np.zeros(now.domains + 1, dtype=np.bool_)
        reached[codes[nodes]] = True
        if reached[NOWHERE]:  # nobody meets anybody on a node without a domain
            continue
        domains = np.flatnonzero(reached)
        least = fewest_pairs(fixed.standing(pods)[domains], len(moving))
        if evictions is not None:
            held = int(_pairs_within(fixed.standing(pods)).sum())
            least = max(least, _least_if_barred(now, pods, moving, domains, evictions) - held)
        total += least
    return total


def _pairs_within(counts: IntArray) -> IntArray:
    pairs: IntArray = counts * (counts - 1) // 2
    return pairs


def _least_if_barred(now: ConflictCounts, pods: IntArray, moving: IntArray, domains: IntArray, evictions: int) -> int:
    """Pairs left within a class when only domains without any of it take one each.

    A domain that is cleared and takes another pod is as if it had kept one, so no more pods than there are empty
    domains can leave for good.
    """
    counts, leaving = now.standing(pods), now.standing(moving)
    empty = int((counts[domains] == 0).sum())
    parted: list[int] = [
        max(0, count - number)
        for count, most in zip(counts.tolist(), leaving.tolist(), strict=True)
        for number in range(1, most + 1)
    ]
    parted.sort(reverse=True)
    return int(_pairs_within(counts).sum()) - int(sum(parted[: max(0, min(empty, evictions))]))


def fewest_pairs(standing: IntArray, coming: int) -> int:
    """Fewest new pairs when some pods come to domains in which others stand (int64[D]); each joins the emptiest."""
    if not len(standing):
        return 0
    pairs, level = 0, int(standing.min())
    while coming > 0:
        number = min(coming, int((standing <= level).sum()))
        pairs += number * level
        coming -= number
        level += 1
    return pairs


def _reachable(problem: Problem, pods: IntArray, room: IntArray) -> BoolArray:
    """Nodes on which some of these pods may end, bool[N]: their own, and those open to one once all others are gone."""
    nodes = np.zeros(problem.node_count, dtype=np.bool_)
    nodes[problem.start.node_of[pods]] = True
    seen = set()
    for pod in pods.tolist():
        number, mask = problem.static_mask(pod)
        kind = (number, int(problem.columns.shape_of[pod]))
        if kind not in seen:
            seen.add(kind)
            nodes |= mask & fits(problem.request_of(pod), room)
    return nodes
