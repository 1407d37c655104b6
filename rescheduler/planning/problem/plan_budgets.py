"""Groups of pods of which only some may move in the whole plan, as limits that planners know and as budgets.

A budget that covers all pods, or all pods of each node or namespace, is a limit of the plan like any other; planners
obey it exactly. What is left is dealt out by ``rationing.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from msgspec.structs import replace as with_changes

from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.planning.problem.remaining_limits import moved_already


class PlanBudget(NamedTuple):
    """At most ``allowed`` of these pods (indices) move in the plan; ``name`` and ``detail`` are for messages."""

    name: str
    detail: str
    pods: frozenset[int]
    allowed: int
    rule: str = "Budget"

    def __str__(self) -> str:
        return f"{self.name} ({self.detail})" if self.detail else self.name


class PlanBudgets(NamedTuple):
    """``eligibility`` without them, ``dealt``: those that the planners do not know of, ``limits``: those they know."""

    eligibility: Eligibility
    dealt: tuple[PlanBudget, ...]
    limits: tuple[PlanBudget, ...]


def plan_budgets_of(eligibility: Eligibility, columns: Columns) -> PlanBudgets:
    """Take the budgets out of an eligibility; O(pods of all of them)."""
    groups = [group for group in eligibility.groups if group.allowed_in_plan is not None]
    if not groups:
        return PlanBudgets(eligibility, (), ())
    limits, known = eligibility.limits, []
    pods, nodes = columns.cluster.pods, columns.initial_node_of
    keys: tuple[Callable[[int], Hashable], ...] = (
        lambda _: None,
        lambda pod: int(nodes[pod]),
        lambda pod: pods[pod].namespace,
    )
    for number, key in enumerate(keys):
        limits, folded = _folded(limits, number, groups, eligibility.movable, key)
        known += folded
        done = {id(group) for group in folded}
        groups = [group for group in groups if id(group) not in done]
    others = tuple(group for group in eligibility.groups if _binds_waves(group))
    return PlanBudgets(
        with_changes(eligibility, groups=others, limits=limits), tuple(map(_ration, groups)), tuple(map(_ration, known))
    )


def left_of(budgets: Sequence[PlanBudget], start: Placement) -> list[PlanBudget]:
    """What the moves of earlier objectives leave of budgets."""
    moved = frozenset(moved_already(start).tolist()) if budgets else frozenset()
    return [budget._replace(allowed=budget.allowed - len(moved & budget.pods)) for budget in budgets]


def _ration(group: DisruptionGroup) -> PlanBudget:
    assert group.allowed_in_plan is not None
    return PlanBudget(group.name, group.detail, frozenset(group.pods), group.allowed_in_plan, group.rule)


def _binds_waves(group: DisruptionGroup) -> bool:
    """Whether a group says more of one wave than of the whole plan."""
    return group.allowed_in_plan is None or group.allowed_per_wave < group.allowed_in_plan


def _folded(
    limits: MoveLimits,
    number: int,
    groups: Sequence[DisruptionGroup],
    movable: Sequence[int],
    key: Callable[[int], Hashable],
) -> tuple[MoveLimits, list[DisruptionGroup]]:
    """Lower the limit at this place (whole plan, each node, each namespace); the groups that it then stands for.

    The limit is one number for all: no lower than what any of them may still lose, so a group that allows less stays.
    """
    count = Counter(map(key, movable))
    whole: dict[Hashable, DisruptionGroup] = {}
    covering: list[DisruptionGroup] = []
    for group in sorted(groups, key=lambda group: -(group.allowed_in_plan or 0)):
        of_key = {key(pod) for pod in group.pods}
        if len(of_key) == 1 and len(group.pods) == count[next(iter(of_key))]:
            whole[next(iter(of_key))] = group  # the strictest comes last
            covering.append(group)
    if not whole:
        return limits, []
    most = max(
        [group.allowed_in_plan or 0 for group in whole.values()] + [count[one] for one in count if one not in whole]
    )
    same = [group for group in whole.values() if group.allowed_in_plan == most]
    caps = [limits.max_evictions, limits.max_evictions_per_node, limits.max_evictions_per_namespace]
    cap, names = caps[number], list(limits.names)
    least = most if cap is None else min(cap, most)
    implied = [group for group in covering if (group.allowed_in_plan or 0) >= least]
    if cap is not None and cap <= most:
        return limits, implied
    caps[number] = most
    names[number] = _called(same) if same else names[number]
    return MoveLimits(caps[0], caps[1], caps[2], (names[0], names[1], names[2])), implied


def _called(groups: Sequence[DisruptionGroup]) -> str:
    """What sets a limit that several groups have in common: the budget whose instances they are."""
    budgets = {group.name.rpartition(" of ")[0] for group in groups}
    return budgets.pop() if len(groups) > 1 and len(budgets) == 1 else str(_ration(groups[0]))
