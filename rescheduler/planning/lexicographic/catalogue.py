"""From the objectives that a policy names to goals with planners: the one list of what there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from rescheduler.model.columns.columns import Columns
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.lexicographic.goal import Goal
from rescheduler.planning.objectives.defragment.objective import plan_defragment
from rescheduler.planning.objectives.defragment.state import DefragmentState
from rescheduler.planning.objectives.defragment.wanted_shapes import WantedShapes
from rescheduler.planning.objectives.empty_nodes import goal as empty_nodes
from rescheduler.planning.objectives.empty_nodes.emptiness import Emptiness
from rescheduler.planning.objectives.fault_domains.objective import plan_fault_domains
from rescheduler.planning.objectives.fault_domains.state import ViolationsState
from rescheduler.planning.objectives.make_room import goal as make_room
from rescheduler.planning.objectives.scheduler_score.objective import plan_scheduler_score
from rescheduler.planning.objectives.scheduler_score.state import SchedulerScoreState
from rescheduler.planning.objectives.separate_antagonists.antagonists import find_antagonists
from rescheduler.planning.objectives.separate_antagonists.objective import plan_separate_antagonists
from rescheduler.planning.objectives.separate_antagonists.state import SeparationState
from rescheduler.planning.objectives.spread_load.objective import plan_spread_load
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.reading.objective_arguments import arguments_of


@dataclass(frozen=True)
class Setting:
    """What objectives are about: the cluster, and its load as SpreadLoad is to judge it (None: nobody asks)."""

    columns: Columns
    observed: ObservedUse | None = None


def goals_of(policy: Policy, setting: Setting) -> tuple[Goal, ...]:
    """The policy's objectives in order, each with its planner."""
    return tuple(_goal(objective, policy.limits.margin, setting) for objective in policy.objectives)


def _goal(objective: Objective, margin: float, setting: Setting) -> Goal:
    goal = OBJECTIVES[objective.name](arguments_of(objective), setting)
    return replace(goal, weight=objective.weight, move_cost=objective.move_cost * (1 + margin))


def _make_room(args: Any, setting: Setting) -> Goal:  # noqa: ARG001 - one signature for all
    return Goal("MakeRoom", partial(make_room.plan, args=args), is_better_higher=False)


def _empty_nodes(args: Any, setting: Setting) -> Goal:
    cluster = setting.columns.cluster
    price, selected = empty_nodes.prices(cluster, args.price), empty_nodes.selected(cluster, args)
    return Goal(
        "EmptyNodes",
        partial(empty_nodes.plan, args=args),
        is_better_higher=True,
        state=lambda problem: Emptiness(problem, price, selected),
        is_kept_by_places=True,
    )


def _spread_load(args: Any, setting: Setting) -> Goal:
    observed = setting.observed
    assert observed is not None
    return Goal(
        "SpreadLoad",
        partial(plan_spread_load, observed=observed, target=args.target),
        is_better_higher=False,
        state=lambda problem: LoadState(problem, observed, args.target),
    )


def _defragment(args: Any, setting: Setting) -> Goal:
    shapes = [(shape.requests, shape.weight) for shape in args.shapes]
    return Goal(
        "Defragment",
        partial(plan_defragment, shapes=shapes),
        is_better_higher=True,
        state=lambda problem: DefragmentState(problem, WantedShapes(setting.columns, shapes)),
    )


def _separate_antagonists(args: Any, setting: Setting) -> Goal:
    antagonists = find_antagonists(setting.columns, args, setting.columns.cluster.taken_at)
    return Goal(
        "SeparateAntagonists",
        partial(plan_separate_antagonists, antagonists=antagonists),
        is_better_higher=False,
        state=lambda problem: SeparationState(problem, antagonists),
    )


def _fault_domains(args: Any, setting: Setting) -> Goal:  # noqa: ARG001
    return Goal("FaultDomains", plan_fault_domains, is_better_higher=False, state=ViolationsState)


def _scheduler_score(args: Any, setting: Setting) -> Goal:  # noqa: ARG001
    return Goal(
        "SchedulerScore",
        partial(plan_scheduler_score, minimum_gain=args.minimum_gain),
        is_better_higher=True,
        state=lambda problem: SchedulerScoreState(problem, args.minimum_gain),
    )


OBJECTIVES: Final[Mapping[str, Callable[[Any, Setting], Goal]]] = {
    "MakeRoom": _make_room,
    "EmptyNodes": _empty_nodes,
    "SpreadLoad": _spread_load,
    "SeparateAntagonists": _separate_antagonists,
    "Defragment": _defragment,
    "FaultDomains": _fault_domains,
    "SchedulerScore": _scheduler_score,
}
