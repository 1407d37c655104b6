"""Which pending pods a plan does not help, and what room they would need."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import UNSET

from rescheduler.model.daemon.capacity import CapacityRequest, PodSet
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.plan.plan import MAKE_ROOM, ObjectiveResult, Plan, Status, reference_to

MOST_PODS: Final = 100
"""For so many pods one request asks at most."""
MOST_SHAPES: Final = 32
"""As many as a ProvisioningRequest takes."""


def making_room(plan: Plan) -> ObjectiveResult | None:
    """What the plan says of pending pods; None if it was not asked to help them."""
    return next((item for item in plan.objectives if item.name == MAKE_ROOM), None)


def is_certain(plan: Plan) -> bool:
    """Whether it is proven that the pods which get no place cannot be helped by moves within the limits."""
    found = making_room(plan)
    return found is not None and found.status is Status.INFEASIBLE


def pods_left_over(plan: Plan, cluster: Cluster) -> tuple[Pod, ...]:
    """Pending pods that were to be helped and get no place; none where MakeRoom was not asked for."""
    if making_room(plan) is None:
        return ()
    placed = {place.pod.uid for place in plan.placements}
    refused = {item.pod.uid for item in plan.refusals if item.pod is not UNSET}
    return tuple(
        pod
        for pod in cluster.pending_pods
        if pod.uid not in placed and pod.uid not in refused and waits_for_room(pod) and not pod.nominated_node
    )


def waits_for_room(pod: Pod) -> bool:
    """Whether an autoscaler would look at the pod, and it is not one of ours."""
    return pod.is_pending and not pod.scheduling_gates and pod.labels.get(MANAGED_BY) != OURS


def requests_for(pods: Sequence[Pod], how: str, expires_at: float) -> Iterator[CapacityRequest]:
    """One request for the pods of each owner, since they may belong together; one for each pod without any."""
    groups: dict[str, list[Pod]] = {}
    for pod in pods:
        owner = pod.controller
        groups.setdefault(pod.uid if owner is None else owner.uid, []).append(pod)
    for key, members in sorted(groups.items()):
        chosen = list(_of_few_shapes(members[:MOST_PODS]))
        shapes = Counter(pod.spec for pod in chosen)
        yield CapacityRequest(
            name=f"rescheduler-{hashlib.sha256(f'{how} {key}'.encode()).hexdigest()[:12]}",
            how=how,
            pods=tuple(reference_to(pod) for pod in chosen),
            shapes=tuple(PodSet(spec, count) for spec, count in shapes.items()),
            expires_at=expires_at,
        )


def _of_few_shapes(pods: Iterable[Pod]) -> Iterator[Pod]:
    seen: set[PodSpec] = set()
    for pod in pods:
        if pod.spec in seen or len(seen) < MOST_SHAPES:
            seen.add(pod.spec)
            yield pod
