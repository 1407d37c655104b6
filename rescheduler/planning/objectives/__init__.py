"""Objectives, one class each in a room of its own; ours are listed by hand, in the order of pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rescheduler.extension_points.plugin_list import PluginList

if TYPE_CHECKING:  # who reads the names alone loads no planner
    from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
    from rescheduler.policy.fields.policy import Objective, Policy

OBJECTIVES: Final[PluginList[PlanningObjective]] = PluginList(
    "rescheduler.objectives",
    {
        "MakeRoom": f"{__name__}.make_room.objective:MakeRoom",
        "EmptyNodes": f"{__name__}.empty_nodes.objective:EmptyNodes",
        "SpreadLoad": f"{__name__}.spread_load.objective:SpreadLoad",
        "SeparateAntagonists": f"{__name__}.separate_antagonists.objective:SeparateAntagonists",
        "Defragment": f"{__name__}.defragment.objective:Defragment",
        "FaultDomains": f"{__name__}.fault_domains.objective:FaultDomains",
        "SchedulerScore": f"{__name__}.scheduler_score.objective:SchedulerScoreObjective",
    },
    wanted=("name", "arguments", "explanation", "is_better_higher", "is_kept_by_places", "plan", "state"),
)
"""By the name that a policy gives them; those of other packages by the entry points ``rescheduler.objectives``."""


def objectives_of(policy: Policy, setting: ObjectiveSetting) -> tuple[PlanningObjective, ...]:
    """The policy's objectives in order, with their arguments; only those are loaded. Raises PluginError."""
    return tuple(_made(entry, policy.limits.margin, setting) for entry in policy.objectives)


def _made(entry: Objective, margin: float, setting: ObjectiveSetting) -> PlanningObjective:
    if entry.name not in OBJECTIVES.own:
        from rescheduler.planning.objectives.foreign import foreign_objective

        return foreign_objective(OBJECTIVES, entry, setting, entry.move_cost * (1 + margin))
    objective = OBJECTIVES.get(entry.name)
    args = objective.arguments.model_validate_json(json.dumps(entry.args))
    return objective(args, setting, entry.weight, entry.move_cost * (1 + margin))
