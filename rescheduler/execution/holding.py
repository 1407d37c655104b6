"""Which holes a plan needs kept, and how large a placeholder must be to keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rescheduler.extension_points import HoldRequest
from rescheduler.model.annotations import HOLD_GATE, MANAGED_BY, OURS
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Plan, PodReference
from rescheduler.model.pod import Pod
from rescheduler.model.resources import CPU, MEMORY, PODS, Resources, resources

CLOSING_RESOURCES: Final = (CPU, MEMORY)
"""What a placeholder takes more of, in this order, to close a node to pods that left it."""


class HoldSettings(NamedTuple):
    """How long a placeholder may outlive us, and the namespace in which placeholders are made."""

    deadline_seconds: float
    namespace: str


class Hold(NamedTuple):
    """A hole kept for one pod: for a pending pod, or for the replacement of a moved one.

    ``is_made_by_plan``: other pods have to leave before the hole is there.
    """

    pod: PodReference
    request: HoldRequest
    is_made_by_plan: bool


def is_placeholder(pod: Pod) -> bool:
    """Whether a pod is one of ours."""
    return pod.labels.get(MANAGED_BY) == OURS and HOLD_GATE in pod.scheduling_gates


def without_placeholders(cluster: Cluster) -> Cluster:
    """The cluster as a plan sees it: the room that placeholders keep is the plan's own."""
    return replace(cluster, pods=tuple(pod for pod in cluster.pods if not is_placeholder(pod)))


def needed_holds(plan: Plan, cluster: Cluster, plan_id: str, deadline_seconds: float) -> list[Hold]:
    """Holes that a plan needs kept: those of pending pods, and where several pods move, all destinations.

    A replacement goes where the scheduler likes it best, which may be the last room of another one. A hold has the
    priority of the highest of the pods that leave and the pending pods that wait for room, since none but its own may
    take it.
    """
    pods = cluster.pod_by_key
    contenders = [pods[move.pod.key] for move in plan.moves]
    contenders += [pods[item.pod.key] for item in plan.placements if item.wave > 0]
    kept = [(item.pod, item.node, item.wave + 1) for item in plan.placements if item.wave > 0]
    kept += [(move.pod, move.to_node, move.wave) for move in plan.moves if len(plan.moves) > 1]
    requests = _closing_requests(plan, cluster, [(reference, node) for reference, node, _ in kept])
    holds = []
    for number, (reference, node, wave) in enumerate(kept):
        spec = pods[reference.key].spec
        highest = max([spec, *(pod.spec for pod in contenders)], key=lambda candidate: candidate.priority)
        request = HoldRequest(
            name=f"hold-{plan_id}-{number}",
            node=node,
            requests=requests[reference],
            priority_class_name=highest.priority_class_name,
            scheduler_name=spec.scheduler_name,
            deadline_seconds=max(1, int(deadline_seconds)),
            plan_id=plan_id,
            host_ports=spec.host_ports,
        )
        is_made_by_plan = any(move.from_node == node and move.wave < wave for move in plan.moves)
        holds.append(Hold(reference, request, is_made_by_plan))
    return holds


def free_room(cluster: Cluster, node: str) -> dict[str, int]:
    """Room on a node by resource; terminating pods still hold theirs."""
    room = dict(cluster.node_by_name[node].allocatable)
    for pod in cluster.pods_by_node.get(node, ()):
        take(room, pod.spec.requests if pod.held is None else pod.held)
    return room


def take(room: dict[str, int], requests: Resources, sign: int = 1) -> None:
    """Take one pod's requests from a room, or give them back (sign -1)."""
    for name, amount in (*requests, (PODS, 1)):
        room[name] = room.get(name, 0) - sign * amount


def fits(room: Mapping[str, int], requests: Resources) -> bool:
    """Whether one pod with these requests fits."""
    return all(room.get(name, 0) >= amount for name, amount in (*requests, (PODS, 1)))


def _closing_requests(
    plan: Plan, cluster: Cluster, kept: Sequence[tuple[PodReference, str]]
) -> dict[PodReference, Resources]:
    """What each placeholder asks for: its pod's requests, and so much more that no pod that left comes back.

    More is needed where the hole is larger than the pod, because ports, affinity or spread forced the move.
    """
    pods = cluster.pod_by_key
    wanted = {reference: pods[reference.key].spec.requests for reference, _ in kept}
    last = {node: reference for reference, node in kept}
    for node, reference in last.items():
        left = [pods[move.pod.key] for move in plan.moves if move.from_node == node]
        room = free_room(cluster, node)
        for pod in left:
            take(room, pod.spec.requests if pod.held is None else pod.held, -1)
        for other, place in kept:
            if place == node:
                take(room, wanted[other])
        for pod in left:
            wanted[reference] = _enlarged(wanted[reference], room, pod.spec.requests)
    return wanted


def _enlarged(request: Resources, room: dict[str, int], returning: Resources) -> Resources:
    """A request that leaves no room for a pod that might return; ``room`` is what it leaves, and is kept up to date."""
    asked = dict(returning)
    closing = next((name for name in CLOSING_RESOURCES if asked.get(name, 0) > 0), None)
    if closing is None or not fits(room, returning):
        return request
    surplus = room[closing] - asked[closing] + 1
    room[closing] -= surplus
    return resources({**dict(request), closing: dict(request).get(closing, 0) + surplus}.items())
