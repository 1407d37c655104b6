"""What a placeholder of a plan looks like, and how large one must be to keep a hole for a pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

from rescheduler.extension_points import HoldRequest
from rescheduler.model.objects.annotations import HOLD_GATE, MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, Resources, resources
from rescheduler.model.plan.plan import Move, Plan, PodReference

CLOSING_RESOURCES: Final = (CPU, MEMORY)
"""What a placeholder takes more of, in this order, to close a node to pods that left it."""


class HoldSettings(NamedTuple):
    """How long a placeholder may outlive us, and the namespace in which placeholders are made."""

    deadline_seconds: float
    namespace: str


class HeldRoom(NamedTuple):
    """A hole kept for one pod: for a pending pod, or for the replacement of a moved one; for nobody where None.

    ``is_made_by_plan``: other pods have to leave before the hole is there. ``is_taint``: it is no placeholder that
    stands there but our taint, as good as one of that size.
    """

    pod: PodReference | None
    request: HoldRequest
    is_made_by_plan: bool = False
    is_taint: bool = False


class HoldMaker:
    """Makes the placeholders of one plan, each under a name of its own.

    ``leavers``: pods that move; ``schedulers``: those that place them; ``full``: what closes any node to all of them.
    Every placeholder has the priority of the highest of the pods that leave and the pending pods that wait for room,
    since no pod but the one it is for may take a hole.
    """

    def __init__(self, plan: Plan, cluster: Cluster, plan_id: str, deadline_seconds: float) -> None:
        pods = cluster.pod_by_key
        self.leavers = [pods[move.pod.key] for move in plan.moves]
        contenders = self.leavers + [pods[item.pod.key] for item in plan.placements if item.wave > 0]
        self.schedulers = sorted({pod.spec.scheduler_name for pod in contenders})
        self.full = _full(cluster, self.leavers)
        self._class = max((pod.spec for pod in contenders), key=lambda spec: spec.priority).priority_class_name
        self._plan_id = plan_id
        self._deadline_seconds = max(1, int(deadline_seconds))
        self._numbers = count()

    def hold(
        self,
        node: str,
        requests: Resources,
        scheduler_name: str,
        *,
        pod: PodReference | None = None,
        is_made_by_plan: bool = False,
    ) -> HeldRoom:
        """A placeholder of this size on a node."""
        request = HoldRequest(
            name=f"hold-{self._plan_id}-{next(self._numbers)}",
            node=node,
            requests=requests,
            priority_class_name=self._class,
            scheduler_name=scheduler_name,
            deadline_seconds=self._deadline_seconds,
            plan_id=self._plan_id,
        )
        return HeldRoom(pod, request, is_made_by_plan)

    def closing(self, node: str, requests: Resources) -> list[HeldRoom]:
        """Placeholders for nobody: one for each scheduler, since none sees those of another."""
        return [self.hold(node, requests, name) for name in self.schedulers]

    def taint(self, node: str) -> HeldRoom:
        """Our taint on a node, which closes it to every scheduler's pods."""
        return self.hold(node, self.full, "")._replace(is_taint=True)


def is_placeholder(pod: Pod) -> bool:
    """Whether a pod is one of ours."""
    return pod.labels.get(MANAGED_BY) == OURS and HOLD_GATE in pod.scheduling_gates


def without_placeholders(cluster: Cluster) -> Cluster:
    """The cluster as a plan sees it: the room that placeholders keep is the plan's own."""
    return cluster.with_pods({pod.key: None for pod in cluster.gated_pods if is_placeholder(pod)})


def needed_holds(plan: Plan, cluster: Cluster, maker: HoldMaker, destinations: Sequence[Move]) -> list[HeldRoom]:
    """The holes of pending pods that wait for moves of a plan, and the destinations of some of these moves.

    A replacement goes where the scheduler likes it best, which may be the last room of another one.
    """
    pods = cluster.pod_by_key
    kept = [(item.pod, item.node, item.wave + 1) for item in plan.placements if item.wave > 0]
    kept += [(move.pod, move.to_node, move.wave) for move in destinations]
    requests = _closing_requests(plan, cluster, [(reference, node) for reference, node, _ in kept])
    first_departure = first_departures(plan)
    return [
        maker.hold(
            node,
            requests[reference],
            pods[reference.key].spec.scheduler_name,
            pod=reference,
            is_made_by_plan=first_departure.get(node, wave) < wave,
        )
        for reference, node, wave in kept
    ]


def free_room(cluster: Cluster, node: str) -> dict[str, int]:
    """Room on a node by resource; terminating pods still hold theirs. A node that is gone has none."""
    found = cluster.node_by_name.get(node)
    room = {} if found is None else dict(found.allocatable)
    for pod in cluster.pods_by_node.get(node, ()):
        take(room, held_by(pod))
    return room


def room_after(cluster: Cluster, node: str, leavers: Iterable[Pod]) -> dict[str, int]:
    """Room on a node once these pods have left it."""
    room = free_room(cluster, node)
    for pod in leavers:
        take(room, held_by(pod), -1)
    return room


def leavers_by_node(moves: Iterable[Move], cluster: Cluster) -> dict[str, list[Pod]]:
    """The pods that moves take away, by the node they leave."""
    found: dict[str, list[Pod]] = {}
    for move in moves:
        found.setdefault(move.from_node, []).append(cluster.pod_by_key[move.pod.key])
    return found


def first_departures(plan: Plan) -> dict[str, int]:
    """The first wave in which a pod leaves each node."""
    found: dict[str, int] = {}
    for move in plan.moves:
        found[move.from_node] = min(move.wave, found.get(move.from_node, move.wave))
    return found


def held_by(pod: Pod) -> Resources:
    """What a pod holds on its node."""
    return pod.spec.requests if pod.held is None else pod.held


def take(room: dict[str, int], requests: Resources, sign: int = 1) -> None:
    """Take one pod's requests from a room, or give them back (sign -1)."""
    for name, amount in (*requests, (PODS, 1)):
        room[name] = room.get(name, 0) - sign * amount


def fits(room: Mapping[str, int], requests: Resources) -> bool:
    """Whether one pod with these requests fits."""
    return all(room.get(name, 0) >= amount for name, amount in (*requests, (PODS, 1)))


def enlarged(request: Resources, room: dict[str, int], returning: Iterable[Pod]) -> Resources:
    """A request that leaves no room for these pods; ``room`` is what it leaves, and is kept up to date.

    A pod that asks for nothing cannot be kept out.
    """
    for pod in returning:
        asked = dict(pod.spec.requests)
        closing = next((name for name in (*CLOSING_RESOURCES, *asked) if asked.get(name, 0) > 0), None)
        if closing is not None and fits(room, pod.spec.requests):
            surplus = room[closing] - asked[closing] + 1
            room[closing] -= surplus
            request = resources({**dict(request), closing: dict(request).get(closing, 0) + surplus}.items())
    return request


def _full(cluster: Cluster, pods: Iterable[Pod]) -> Resources:
    """A request beside which, on any node, no pod fits that asks for anything that these pods ask for.

    One size for all nodes, so that equal placeholders can stand in for each other.
    """
    asked = {resource for pod in pods for resource, _ in pod.spec.requests}.union(CLOSING_RESOURCES) - {PODS}
    largest: dict[str, int] = {}
    for node in cluster.nodes:
        for resource, amount in node.allocatable:
            if resource in asked:
                largest[resource] = max(amount, largest.get(resource, 0))
    return resources(largest.items())


def _closing_requests(
    plan: Plan, cluster: Cluster, kept: Sequence[tuple[PodReference, str]]
) -> dict[PodReference, Resources]:
    """What each placeholder asks for: its pod's requests, and so much more that no pod that left comes back.

    More is needed where the hole is larger than the pod, because ports, affinity or spread forced the move.
    """
    pods = cluster.pod_by_key
    wanted = {reference: pods[reference.key].spec.requests for reference, _ in kept}
    left = leavers_by_node(plan.moves, cluster)
    coming: dict[str, list[PodReference]] = {}
    for reference, node in kept:
        coming.setdefault(node, []).append(reference)
    for node, references in coming.items():
        room = room_after(cluster, node, left.get(node, ()))
        for reference in references:
            take(room, wanted[reference])
        wanted[references[-1]] = enlarged(wanted[references[-1]], room, left.get(node, ()))
    return wanted
