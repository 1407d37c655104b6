"""One plan for an imagined cluster, so that the first pod in a hurry does not wait until the solver is loaded."""

from __future__ import annotations

from typing import Final

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.first_try import policy_of_try
from rescheduler.extension_points import Clock
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, resources
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Disruption, Permission, Policy

SECONDS: Final = 30.0
"""It may take as long as that: nothing waits for it yet."""
MOVABLE: Final = OwnerReference("ReplicaSet", "goes", "goes")
_PODS: Final = (
    ("keeps", 2500, "first", ()), ("goes", 1000, "first", (MOVABLE,)), ("stays", 2800, "second", ()),
    ("comes", 1400, None, ()),
)  # fmt: skip
"""On two nodes of four processors: ``goes`` has to go to the second for ``comes`` to have a place on the first."""


def rehearse(clock: Clock) -> Plan:
    """The plan, which moves one pod. Touches nothing."""
    policy = policy_of_try(Policy(disruption=Disruption(single_replicas=Permission.ALLOW)))
    patient = policy.limits.model_copy(update={"deadline": SECONDS})
    return make_plan(_cluster(), policy.model_copy(update={"limits": patient}), CycleOptions(clock))


def _cluster() -> Cluster:
    room = resources({CPU: 4000, MEMORY: 2**33, PODS: 110}.items())
    nodes = tuple(Node(name=name, uid=name, allocatable=room, capacity=room) for name in ("first", "second"))
    pods = sorted((_pod(*given) for given in _PODS), key=lambda pod: pod.name)
    workload = Workload(
        kind=MOVABLE.kind, namespace="default", name=MOVABLE.name, uid=MOVABLE.uid, desired_replicas=1,
        ready_replicas=1, updated_replicas=1, current_replicas=1,
    )  # fmt: skip
    return Cluster(nodes=nodes, pods=tuple(pods), workloads=(workload,))


def _pod(name: str, millicores: int, node: str | None, owners: tuple[OwnerReference, ...]) -> Pod:
    asked = resources({CPU: millicores, MEMORY: 2**20}.items())
    is_running = node is not None
    return Pod(
        namespace="default", name=name, uid=name, spec=PodSpec(requests=asked, scored_requests=asked), node_name=node,
        phase="Running" if is_running else "Pending", is_ready=is_running, owners=owners,
    )  # fmt: skip
