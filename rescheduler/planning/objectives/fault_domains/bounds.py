"""Violations that no plan can repair, by counting: each constraint alone, and all within the eviction limit."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.anti_affinity_violations import AntiAffinityViolations
from rescheduler.planning.objectives.fault_domains.misplaced import Misplaced
from rescheduler.planning.objectives.fault_domains.part import ViolationCounter
from rescheduler.planning.objectives.fault_domains.spread_violations import SpreadViolations
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.objectives.separate_antagonists.bounds import least_pairs
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits

MOST_WORK = 2 * 10**7
"""Evictions times domains that are looked at for the eviction limit; above that it is left out of the bound."""


def least_violations(problem: Problem, state: ViolationsState, limits: RemainingLimits, deadline: Deadline) -> int:
    """A lower bound on what is left after any plan.

    What each part must keep whatever is moved; and, where evictions are limited, what the parts keep together if
    evictions go where they repair most, each counted in as many parts as one pod can matter to. When time is over, the
    parts that were looked at count.
    """
    violated = [part for part in state.parts if part.cost]
    if limits.in_all <= 0 or not len(problem.movable):
        return int(state.cost)
    is_movable = np.zeros(problem.columns.pod_count, dtype=np.bool_)
    is_movable[problem.movable] = True
    floors = [0 if deadline.is_over() else _floor(problem, part, is_movable, limits, deadline) for part in violated]
    steps = limits.in_all * _most_parts_of_a_pod(problem, violated)
    domains = sum(len(part.counts) for part in violated if isinstance(part, SpreadViolations)) + len(violated)
    if steps * domains > MOST_WORK or deadline.is_over():
        return sum(floors)
    gains = [_gains(part, floor, is_movable, steps) for part, floor in zip(violated, floors, strict=True)]
    repaired = np.sort(np.concatenate([np.zeros(1), *gains]))[::-1][:steps].sum()
    return max(sum(floors), int(np.ceil(state.cost - repaired - 1e-9)))


def _floor(
    problem: Problem, part: ViolationCounter, is_movable: BoolArray, limits: RemainingLimits, deadline: Deadline
) -> int:
    """What one part keeps if all evictions are for it."""
    if isinstance(part, Misplaced):
        return _misplaced(problem, part, is_movable)
    if isinstance(part, AntiAffinityViolations):
        conflicts = part.conflicts
        return least_pairs(problem, conflicts.conflicts, conflicts.codes, limits, deadline, is_barred_by_foes=True)
    return _uneven(problem, part, is_movable) if isinstance(part, SpreadViolations) else 0


def _misplaced(problem: Problem, part: Misplaced, is_movable: BoolArray) -> int:
    """Pods that must stay, and those for which no other node would do."""
    stay = 0
    for pod in part.blame().pods.tolist():
        stay += not is_movable[pod] or not (problem.static_mask(pod)[1] & ~part.is_barred(pod)).any()
    return stay


def _uneven(problem: Problem, part: SpreadViolations, is_movable: BoolArray) -> int:
    """What is left if movable pods could be anywhere or nowhere."""
    nodes = problem.start.node_of[part.pods[~is_movable[part.pods]]]
    domains = part.codes[nodes[nodes != NOWHERE]]
    fixed = np.bincount(domains[domains != NOWHERE], minlength=len(part.counts))[part.is_domain]
    return _excess(part, fixed, int(is_movable[part.pods].sum()))


def _excess(part: SpreadViolations, counts: IntArray, coming: int) -> int:
    """Excess of ``counts`` when the least domain is as high as so many further pods can make it."""
    least = 0 if part.is_from_zero else _highest_least(counts, coming)
    return int(np.maximum(0, counts - least - part.max_skew).sum())


def _highest_least(counts: IntArray, coming: int) -> int:
    """The highest that the least of some counts can become when so many are added."""
    if not len(counts):
        return 0
    level = int(counts.min())
    while int(np.maximum(0, level + 1 - counts).sum()) <= coming:
        level += 1
    return level


def _most_parts_of_a_pod(problem: Problem, parts: list[ViolationCounter]) -> int:
    """To how many of the parts one movable pod matters at most."""
    number = np.zeros(problem.columns.pod_count, dtype=np.int64)
    for part in parts:
        pods = part.concerns()
        number[part.blame().pods if pods is None else pods] += 1
    return int(number[problem.movable].max(initial=0))


def _gains(part: ViolationCounter, floor: int, is_movable: BoolArray, steps: int) -> FloatArray:
    """What the first, second, ... eviction repairs of one part at most, as a falling series that ends with the last."""
    most = min(steps, part.cost)
    if isinstance(part, Misplaced):
        left = part.cost - np.arange(most + 1)
    elif isinstance(part, AntiAffinityViolations):
        here = part.conflicts.here[is_movable & (part.conflicts.here > 0)]
        parted = np.append(0, np.cumsum(np.sort(here)[::-1][:most]))
        left = part.cost - parted
    elif isinstance(part, SpreadViolations):
        left = _excess_by_number(part, most) - np.arange(most + 1)
    else:  # one partner may be company for everybody
        left = np.array([part.cost, floor])
    return _falling(np.maximum(left, floor).astype(np.float64))


def _excess_by_number(part: SpreadViolations, most: int) -> IntArray:
    """Excess when 0, 1, ... ``most`` pods more have raised the least domain, int64[most + 1]."""
    now = part.counts[part.is_domain]
    lowest = int(now.min(initial=0))
    highest = lowest if part.is_from_zero else _highest_least(now, most)
    levels = np.arange(lowest, highest + 1) if not part.is_from_zero else np.zeros(1, dtype=np.int64)
    needed = [int(np.maximum(0, level - now).sum()) if not part.is_from_zero else 0 for level in levels.tolist()]
    excess = [int(np.maximum(0, now - level - part.max_skew).sum()) for level in levels.tolist()]
    reached = np.searchsorted(needed, np.arange(most + 1), side="right") - 1
    found: IntArray = np.array(excess, dtype=np.int64)[reached]
    return found


def _falling(left: FloatArray) -> FloatArray:
    """Steps of the lower convex envelope of what is left after each number of evictions."""
    corners = [0]
    for number in range(1, len(left)):
        while len(corners) > 1 and _is_above(left, corners[-2], corners[-1], number):
            corners.pop()
        corners.append(number)
    envelope = np.interp(np.arange(len(left)), corners, left[corners])
    steps: FloatArray = np.maximum(0.0, -np.diff(envelope))
    return steps


def _is_above(left: FloatArray, first: int, middle: int, last: int) -> bool:
    """Whether the middle point lies on or above the line between the others."""
    return bool((left[middle] - left[first]) * (last - first) >= (left[last] - left[first]) * (middle - first))
