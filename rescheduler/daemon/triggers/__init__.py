"""Triggers, one a file: they tell when it is time for a round. Listed by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

from rescheduler.daemon.triggers.antagonist_report import AntagonistReport
from rescheduler.daemon.triggers.autoscaler_events import AutoscalerEvents
from rescheduler.daemon.triggers.hot_node import HotNode
from rescheduler.daemon.triggers.nodes_added import NodesAdded
from rescheduler.daemon.triggers.objective_drift import ObjectiveDrift
from rescheduler.daemon.triggers.on_demand import OnDemand
from rescheduler.daemon.triggers.pending_pods import PendingPods
from rescheduler.daemon.triggers.schedule import Schedule
from rescheduler.daemon.triggers.setting import Setting
from rescheduler.extension_points import Trigger
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.trigger_arguments import trigger_arguments

DEFAULT_SCHEDULERS: Final = frozenset({"default-scheduler"})
TRIGGERS: Final[Mapping[str, Callable[[Any, Setting], Trigger]]] = {
    "Schedule": Schedule,
    "PendingPods": PendingPods,
    "NodesAdded": NodesAdded,
    "HotNode": HotNode,
    "AutoscalerEvents": AutoscalerEvents,
    "OnDemand": OnDemand,
    "AntagonistReport": AntagonistReport,
    "ObjectiveDrift": ObjectiveDrift,
}
"""By the name that a policy gives them; each is called with its arguments and the setting."""


def make_triggers(
    policy: Policy, seed: int, now: float, schedulers: frozenset[str] = DEFAULT_SCHEDULERS
) -> tuple[Trigger, ...]:
    """The policy's triggers in its order, as they are when the process starts at ``now``.

    ``schedulers``: names of those that can be predicted; pods of others cannot be helped, and ask for nothing.
    """
    return tuple(
        TRIGGERS[trigger.name](
            trigger_arguments(trigger),
            Setting(policy, now, schedulers, Random(f"{seed} {number}")),  # noqa: S311
        )
        for number, trigger in enumerate(policy.triggers)
    )
