"""The pods of synthetic clusters: replicas of workloads, and pods that wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

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
    """Replicas of one template, of which they share the parts, as in a snapshot that was read."""

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

    @property
    def name(self) -> str:
        """Of its ReplicaSet."""
        return f"w{self.number:05d}"

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Of its pods."""
        return {"app": self.name}

    @cached_property
    def owners(self) -> tuple[OwnerReference, ...]:
        """Of its pods."""
        return (OwnerReference("ReplicaSet", self.name, self.name),)

    @cached_property
    def spec(self) -> PodSpec:
        """Of its pods."""
        selector = LabelSelector((Requirement("app", "In", (self.name,)),))
        requests = _requests(self.millicores, self.mebibytes)
        return PodSpec(
            requests=requests,
            scored_requests=requests,
            node_selector=((ZONE, self.zone),) if self.zone else (),
            tolerations=(Toleration("pool", "Equal", self.pool, "NoSchedule"),) if self.pool else (),
            anti_affinity=(PodAffinityTerm(HOST, selector),) if self.keeps_apart else (),
            topology_spread=(TopologySpreadConstraint(ZONE, 1, selector=selector),) if self.spreads else (),
        )


def pod_of(workload: Workload, replica: int, node: str) -> Pod:
    """One replica on its node."""
    name = f"{workload.name}-{replica:03d}"
    return Pod(
        namespace="default",
        name=name,
        uid=name,
        spec=workload.spec,
        labels=workload.labels,
        node_name=node,
        owners=workload.owners,
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
