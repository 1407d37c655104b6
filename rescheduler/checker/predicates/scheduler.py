"""What the pod's own scheduler demands of a node beyond what the pod says."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from rescheduler.checker.selectors import any_term_matches
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World
from rescheduler.model.plan.scheduler_rules import LoadLimit


def added_affinity(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """A scheduler's own node affinity holds for each of its pods."""
    name = arrival.pod.spec.scheduler_name
    required = world.rules.of(name).required_affinity
    if required is None or any_term_matches(required, arrival.node):
        return None
    return f"the node does not match the node affinity that scheduler {name} adds"


def load_limits(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """A node whose measured load is above its scheduler's threshold takes no pod; what is not measured passes."""
    for limit in world.rules.of(arrival.pod.spec.scheduler_name).load_limits:
        found = _loads(world, limit).get(arrival.node.name)
        if found is not None and found > limit.percent:
            return f"the measured {limit.resource} load is {found:g} %, above the scheduler's {limit.percent:g} %"
    return None


def _loads(world: World, limit: LoadLimit) -> Mapping[str, float]:
    """Fresh loads by node, in percent."""
    windows = world.rules.windows
    usage = None if windows is None else windows.over(limit.period_seconds)
    key = ("load", limit.resource, limit.period_seconds)
    if usage is not None and key not in world.loads:
        is_fresh = usage.is_fresh(world.cluster.taken_at).tolist()
        loads = usage.percent(limit.resource).tolist()
        world.loads[key] = {
            node.name: load
            for node, fresh, load in zip(world.cluster.nodes, is_fresh, loads, strict=True)
            if fresh and not isnan(load)
        }
    return world.loads.get(key, {})
