"""Counts anew how often shapes of pods fit at the end of a plan, which is what the objective Defragment is worth."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from rescheduler.checker.recounts.final_positions import places_after
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import PODS, Resources
from rescheduler.model.plan.plan import Plan

_BANNING = ("NoSchedule", "NoExecute")


def shapes_that_fit(
    cluster: Cluster, plan: Plan, shapes: Sequence[tuple[Resources, float]], without: Collection[str] = ()
) -> float:
    """Sum over the shapes of weight times how often each, alone, fits on the nodes once the whole plan is done.

    A shape is a plain pod: nothing in its spec but requests. ``without``: names of nodes that are kept closed.
    """
    free = {node.name: Counter(dict(node.allocatable)) for node in cluster.nodes}
    for name, pods in _at_the_end(cluster, plan).items():
        left = free.get(name)
        if left is not None:
            left[PODS] -= len(pods)
            for pod in pods:
                for resource, amount in _holds(pod, name):
                    if resource != PODS:
                        left[resource] -= amount
    return sum(
        weight * _often(amounts, free[node.name])
        for amounts, weight in shapes
        for node in cluster.nodes
        if node.name not in without and _takes(node, amounts)
    )


def _at_the_end(cluster: Cluster, plan: Plan) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = defaultdict(list)
    for pod, name in places_after(cluster, plan):
        if name is not None and not pod.is_finished:
            found[name].append(pod)
    return found


def _holds(pod: Pod, name: str) -> Resources:
    """A pod that was resized in place holds what it was given there; where it is new, what it requests."""
    resized = pod.held is not None and pod.node_name == name
    return pod.held or () if resized else pod.spec.requests


def _often(amounts: Resources, free: Counter[str]) -> int:
    wanted = {**dict(amounts), PODS: 1}
    return max(0, min(free[name] // amount for name, amount in wanted.items()))


def _takes(node: Node, amounts: Resources) -> bool:
    """Whether a plain pod may be put on a node: only taints that bear the name of what it asks for are tolerated."""
    extended = {name for name, _ in amounts if "/" in name}
    is_open = node.is_ready and node.problem is None and node.deletion_at is None and not node.is_virtual
    banned = any(taint.effect in _BANNING and taint.key not in extended for taint in node.taints)
    return is_open and not node.is_unschedulable and not banned
