"""Room on the node, in every resource and in pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.resources import PODS, format_amount


def resources(arrival: Arrival, others: Sequence[Arrival], world: World) -> str | None:
    """What is asked for must be free while everybody else of the wave has come and nobody has left.

    A resource of which the pod asks nothing is not looked at, so it may be overcommitted already, nor one that the
    pod's scheduler ignores.
    """
    rules = world.rules.of(arrival.pod.spec.scheduler_name)
    offered = dict(arrival.node.allocatable)
    coming = [other.pod for other in others if other.node.name == arrival.node.name]
    present = world.pods_on(arrival.node.name)
    number = len(present) + len(coming) + 1
    if number > offered.get(PODS, 0):
        return f"too many pods: {number} on a node for {offered.get(PODS, 0)}"
    held: Counter[str] = Counter()
    for pod in present:
        held.update(dict(pod.spec.requests if pod.held is None else pod.held))
    for pod in coming:
        held.update(dict(pod.spec.requests))
    for name, amount in arrival.pod.spec.requests:
        free = offered.get(name, 0) - held[name]
        if name != PODS and amount > max(0, free) and not rules.ignores(name):
            asked, left = format_amount(name, amount), format_amount(name, max(0, free))
            return f"insufficient {name}: {asked} asked for, {left} free"
    return None
