"""Room on the node, in every resource and in pods."""

from __future__ import annotations

from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.resources import PODS, format_amount


def resources(arrival: Arrival, others: Others, world: World) -> str | None:
    """What is asked for must be free while everybody else of the wave has come and nobody has left.

    A resource of which the pod asks nothing is not looked at, so it may be overcommitted already, nor one that the
    pod's scheduler ignores.
    """
    rules = world.rules.of(arrival.pod.spec.scheduler_name)
    offered = dict(arrival.node.allocatable)
    name_of_node = arrival.node.name
    number = len(world.pods_on(name_of_node)) + others.number_on(name_of_node) + 1
    if number > offered.get(PODS, 0):
        return f"too many pods: {number} on a node for {offered.get(PODS, 0)}"
    held = world.held_on(name_of_node)
    for name, amount in arrival.pod.spec.requests:
        free = offered.get(name, 0) - held.get(name, 0) - others.requested_on(name_of_node, name)
        if name != PODS and amount > max(0, free) and not rules.ignores(name):
            asked, left = format_amount(name, amount), format_amount(name, max(0, free))
            return f"insufficient {name}: {asked} asked for, {left} free"
    return None
