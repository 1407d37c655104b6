"""What a command line asks for instead of the policy: objectives, evictions, planning time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.policy.fields.policy import Limits, Objective, Policy
from rescheduler.policy.fields.values import LARGEST_COUNT
from rescheduler.policy.reading.known_fields import advice_on_choice
from rescheduler.policy.reading.objective_arguments import objective_arguments_model


def overridden(
    policy: Policy,
    known: PluginList[Any],
    *,
    objectives: Sequence[str] = (),
    max_evictions: int | None = None,
    deadline_seconds: float | None = None,
) -> Policy:
    """The policy with what was given in place of its own; an objective that the policy names keeps its arguments.

    ``known``: the objectives that there are. Raises ValueError for one that there is not, or that needs arguments and
    has none, and PluginError.
    """
    changes: dict[str, int | float] = {}
    if max_evictions is not None:
        if not 0 <= max_evictions <= LARGEST_COUNT:
            raise ValueError(f"{max_evictions} is out of range; wanted 0 to {LARGEST_COUNT}")
        changes["max_evictions"] = max_evictions
    if deadline_seconds is not None:
        changes["deadline"] = deadline_seconds
    limits: Limits = policy.limits.model_copy(update=changes)
    wanted = tuple(_objective(policy, known, name) for name in dict.fromkeys(objectives)) or policy.objectives
    return policy.model_copy(update={"limits": limits, "objectives": wanted})


def _objective(policy: Policy, known: PluginList[Any], name: str) -> Objective:
    if name not in known.own and name not in known.names():
        raise ValueError(advice_on_choice(("objectives", 0, "name"), name, list(known.names())))
    for objective in policy.objectives:
        if objective.name == name:
            return objective
    missing = [
        field.alias for field in objective_arguments_model(known, name).model_fields.values() if field.is_required()
    ]
    if missing:
        raise ValueError(f"{name} needs {' and '.join(map(str, missing))}; write them into a policy, under args")
    return Objective(name=name)
