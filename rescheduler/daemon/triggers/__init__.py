"""Triggers, one class a file: they tell when it is time for a round. Ours are listed by hand, in the order of pages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from rescheduler.daemon.triggers.first_try import FirstTryArgs, FirstTryTrigger
from rescheduler.daemon.triggers.setting import Setting
from rescheduler.extension_points import Trigger
from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.model.daemon.rounds import FIRST_TRY
from rescheduler.policy.fields.policy import Policy, tries_first
from rescheduler.policy.plugins import arguments_in, asked

DEFAULT_SCHEDULERS: Final = frozenset({"default-scheduler"})
TRIGGERS: Final[PluginList[Trigger]] = PluginList(
    "rescheduler.triggers",
    {
        "Schedule": f"{__name__}.schedule:Schedule",
        "PendingPods": f"{__name__}.pending_pods:PendingPods",
        "NodesAdded": f"{__name__}.nodes_added:NodesAdded",
        "HotNode": f"{__name__}.hot_node:HotNode",
        "AutoscalerEvents": f"{__name__}.autoscaler_events:AutoscalerEvents",
        "OnDemand": f"{__name__}.on_demand:OnDemand",
        "AntagonistReport": f"{__name__}.antagonist_report:AntagonistReport",
        "ObjectiveDrift": f"{__name__}.objective_drift:ObjectiveDrift",
    },
    wanted=("name", "arguments", "sentence", "warnings", "forecast", "look", "wake_at", "answered", "watched"),
)
"""By the name that a policy gives them; those of other packages by the entry points ``rescheduler.triggers``."""


def make_triggers(
    policy: Policy, seed: int, now: float, schedulers: frozenset[str] = DEFAULT_SCHEDULERS
) -> tuple[Trigger, ...]:
    """The policy's triggers in its order, as they are when the process starts at ``now``.

    ``schedulers``: names of those that can be predicted; pods of others cannot be helped, and ask for nothing.
    Raises PluginError.
    """

    def made(number: int, name: str, args: dict[str, object]) -> Trigger:
        setting = Setting(policy, now, schedulers, Random(f"{seed} {number}"))  # noqa: S311
        arguments = arguments_in(TRIGGERS, name, args)
        return asked(TRIGGERS, name, "making it", lambda: TRIGGERS.get(name)(arguments, setting))

    asking = tuple(made(number, entry.name, entry.args) for number, entry in enumerate(policy.triggers))
    if not tries_first(policy):
        return asking
    setting = Setting(policy, now, schedulers, Random(f"{seed} {FIRST_TRY}"))  # noqa: S311
    return (*asking, FirstTryTrigger(FirstTryArgs(), setting))


def watched_objectives(triggers: Sequence[Trigger]) -> frozenset[str]:
    """Objectives whose values some of these triggers look at."""
    return frozenset(name for trigger in triggers for name in trigger.watched())
