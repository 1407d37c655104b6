"""The arguments of a policy's objectives, as each objective takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rescheduler.policy.document import Path
from rescheduler.policy.models import Objective, Policy
from rescheduler.policy.objectives import ARGUMENTS
from rescheduler.policy.policy_model import PolicyModel


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
