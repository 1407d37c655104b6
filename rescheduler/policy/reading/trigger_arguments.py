"""The arguments of a policy's triggers, as each trigger takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.triggers import ARGUMENTS, ObjectiveDriftArgs, TriggerEntry
from rescheduler.policy.reading.document import Path


def trigger_arguments(trigger: TriggerEntry) -> PolicyModel:
    """A trigger's arguments as its own model. Raises ValidationError where they were not checked before."""
    return ARGUMENTS[trigger.name].model_validate_json(json.dumps(trigger.args), by_alias=True, by_name=False)


def doubled_triggers(policy: Policy) -> Iterator[tuple[Path, str]]:
    """Place and name of every trigger that stood in the list before, with the same arguments."""
    for number, trigger in enumerate(policy.triggers):
        if trigger in policy.triggers[:number]:
            yield ("triggers", number), trigger.name


def watched_objectives(policy: Policy) -> frozenset[str]:
    """Objectives whose values some trigger of the policy looks at."""
    found: set[str] = set()
    for trigger in policy.triggers:
        args = trigger_arguments(trigger)
        if isinstance(args, ObjectiveDriftArgs):
            found.update(
                objective.name for objective in policy.objectives if args.of is None or objective.name in args.of
            )
    return frozenset(found)
