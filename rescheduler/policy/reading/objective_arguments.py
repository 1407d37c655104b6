"""The arguments of a policy's objectives, as each objective takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.policy.fields.objectives import ARGUMENTS
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.plugins import arguments_model
from rescheduler.policy.reading.document import Path


def arguments_of(objective: Objective) -> PolicyModel | None:
    """Arguments of one of our objectives as its own model; None: it is of another package, which alone knows them.

    Raises ValidationError where they were not checked before.
    """
    model = ARGUMENTS.get(objective.name)
    return None if model is None else model.model_validate_json(json.dumps(objective.args))


def objective_arguments_model(objectives: PluginList[Any], name: str) -> type[PolicyModel]:
    """What an objective takes as arguments; of ours nothing is loaded for it. Raises PluginError."""
    return ARGUMENTS[name] if name in ARGUMENTS else arguments_model(objectives, name)


def doubled_objectives(policy: Policy) -> Iterator[tuple[Path, str]]:
    """Place and name of every objective that stood in the list before."""
    seen: set[str] = set()
    for number, objective in enumerate(policy.objectives):
        if objective.name in seen:
            yield ("objectives", number, "name"), objective.name
        seen.add(objective.name)
