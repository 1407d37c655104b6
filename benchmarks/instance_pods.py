"""The pods of synthetic clusters: replicas of workloads, and pods that wait."""

from __future__ import annotations

from dataclasses import dataclass

from rescheduler.model.objects.constraints import (
    LabelSelector,
    PodAffinityTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import resources

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
MIB = 2**20
TAKEN_AT = 1_760_000_000.0


@dataclass(frozen=True)
class Workload:
    """Replicas of one template."""

    number: int
    replicas: int
    millicores: int
    mebibytes: int
    zone: str | None
    pool: str | None
    keeps_apart: bool
    spreads: bool
    budget: int | None
    is_fixed: bool


def pod_of(workload: Workload, replica: int, node: str) -> Pod:
    """One replica on its node."""
    name = f"w{workload.number:05d}"
    labels = {"app": name}
    selector = LabelSelector((Requirement("app", "In", (name,)),))
    spec = PodSpec(
        requests=_requests(workload.millicores, workload.mebibytes),
        scored_requests=_requests(workload.millicores, workload.mebibytes),
        node_selector=((ZONE, workload.zone),) if workload.zone else (),
        tolerations=(Toleration("pool", "Equal", workload.pool, "NoSchedule"),) if workload.pool else (),
        anti_affinity=(PodAffinityTerm(HOST, selector),) if workload.keeps_apart else (),
        topology_spread=(TopologySpreadConstraint(ZONE, 1, selector=selector),) if workload.spreads else (),
    )
    return Pod(
        namespace="default",
        name=f"{name}-{replica:03d}",
        uid=f"{name}-{replica:03d}",
        spec=spec,
        labels=labels,
        node_name=node,
        owners=(OwnerReference("ReplicaSet", name, name),),
        started_at=TAKEN_AT - 86400,
    )


def pending_pod(number: int, millicores: int, mebibytes: int) -> Pod:
    """A pod that waits for room."""
    spec = PodSpec(requests=_requests(millicores, mebibytes), scored_requests=_requests(millicores, mebibytes))
    name = f"pending-{number:03d}"
    return Pod(
        namespace="default", name=name, uid=name, spec=spec, labels={"app": "pending"}, phase="Pending", is_ready=False
    )


def _requests(millicores: int, mebibytes: int) -> tuple[tuple[str, int], ...]:
    return resources((("cpu", millicores), ("memory", mebibytes * MIB)))
