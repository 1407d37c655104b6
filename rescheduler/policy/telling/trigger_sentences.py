"""When a daemon under a policy would run a round, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rescheduler.model.objects.annotations import RESCHEDULE
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.triggers import (
    AutoscalerEventsArgs,
    HotNodeArgs,
    NodesAddedArgs,
    ObjectiveDriftArgs,
    PendingPodsArgs,
    ScheduleArgs,
)
from rescheduler.policy.fields.values import format_duration
from rescheduler.policy.reading.trigger_arguments import trigger_arguments

_MOST_NAMED: Final = 3


def trigger_sentences(policy: Policy) -> Iterator[str]:
    """One sentence for each trigger, and one for each that can never ask."""
    for number, trigger in enumerate(policy.triggers):
        when = _SAID[trigger.name](trigger_arguments(trigger))
        yield f"as a daemon {'also ' if number else ''}runs a round {when} ({trigger.name})"
    yield from _in_vain(policy)


def _in_vain(policy: Policy) -> Iterator[str]:
    """What asks for nothing, or for what no objective of the policy gives."""
    objectives = {objective.name for objective in policy.objectives}
    for trigger in policy.triggers:
        args = trigger_arguments(trigger)
        if isinstance(args, HotNodeArgs) and not policy.usage.providers:
            yield "warning: HotNode never asks for a round, since usage.providers names no source of load"
        if isinstance(args, ObjectiveDriftArgs) and args.of is not None:
            for name in sorted(set(args.of) - objectives):
                yield f"warning: ObjectiveDrift cannot look at {name}, which is none of the policy's objectives"
        if isinstance(args, ScheduleArgs) and args.cron is None and args.interval_seconds < policy.limits.deadline:
            every, deadline = format_duration(args.interval_seconds), format_duration(policy.limits.deadline)
            yield f"warning: rounds are due every {every}, though planning one may take {deadline} (limits.deadline)"
        wanted = _WANTED.get(trigger.name)
        if wanted is not None and wanted not in objectives:
            yield f"warning: rounds that {trigger.name} asks for do nothing about it without the objective {wanted}"


_WANTED: Final[Mapping[str, str]] = {"PendingPods": "MakeRoom", "AntagonistReport": "SeparateAntagonists"}


def _schedule(args: ScheduleArgs) -> str:
    when = f"every {format_duration(args.interval_seconds)}"
    if args.cron is not None:
        when = f"at {args.cron} in the time zone {args.time_zone}"
    return when + (f", by up to {format_duration(args.jitter)} later" if args.jitter else "")


def _pending_pods(args: PendingPodsArgs) -> str:
    return f"when pods have been unschedulable for {format_duration(args.older_than)}"


def _nodes_added(args: NodesAddedArgs) -> str:
    what = "new nodes" if args.at_least == 1 else f"{args.at_least} new nodes or more"
    return f"when {what} have been ready for {format_duration(args.settle)}"


def _hot_node(args: HotNodeArgs) -> str:
    what = {
        "cpuPressure": "waited for a cpu in more than {}% of the time",
        "disk": "used its disk in more than {}% of it",
    }
    used = "used more than {}% of its "
    said = [what.get(name, used + name).format(f"{100 * share:g}") for name, share in args.above.items()]
    return f"when a node has {' or '.join(said)} for {format_duration(args.lasting)}"


def _autoscaler_events(args: AutoscalerEventsArgs) -> str:
    named, more = args.on[:_MOST_NAMED], len(args.on) - _MOST_NAMED
    return f"when an autoscaler says {', '.join(named)}{f' or one of {more} more' if more > 0 else ''}"


def _on_demand(_: object) -> str:
    return f"when somebody asks: over the REST API, by SIGUSR1, or by the annotation {RESCHEDULE}"


def _antagonist_report(_: object) -> str:
    return "when antagonists have come to share a node"


def _objective_drift(args: ObjectiveDriftArgs) -> str:
    names = "an objective's value" if args.of is None else " or ".join(args.of)
    return f"when {names} has become worse by more than {100 * args.by:g}%"


_SAID: Final[Mapping[str, Callable[[Any], str]]] = {
    "Schedule": _schedule,
    "PendingPods": _pending_pods,
    "NodesAdded": _nodes_added,
    "HotNode": _hot_node,
    "AutoscalerEvents": _autoscaler_events,
    "OnDemand": _on_demand,
    "AntagonistReport": _antagonist_report,
    "ObjectiveDrift": _objective_drift,
}
