"""The arguments of a policy's objectives, as each objective takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rescheduler.policy.fields.objectives import ARGUMENTS
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.reading.document import Path


def arguments_of(objective: Objective) -> PolicyModel:
    """An objective's arguments as its own model. Raises ValidationError where they were not checked before."""
    return ARGUMENTS[objective.name].model_validate_json(json.dumps(objective.args))


def doubled_objectives(policy: Policy) -> Iterator[tuple[Path, str]]:
    """Place and name of every objective that stood in the list before."""
    seen: set[str] = set()
    for number, objective in enumerate(policy.objectives):
        if objective.name in seen:
            yield ("objectives", number, "name"), objective.name
        seen.add(objective.name)
