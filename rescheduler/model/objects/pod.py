"""A pod: its identity and state, and the specification it shares with its replicas."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from rescheduler.model.objects.annotations import CONFIG_SOURCE, MIRROR, SURGE
from rescheduler.model.objects.constraints import (
    HostPort,
    NodeAffinityRules,
    PodAffinityTerm,
    PreferredPodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.constraints import Volume as Volume
from rescheduler.model.objects.resources import Resources

# What the containers of a pod ask for and are limited to, one by one, for predictions of what they will use.

APP = "App"
INIT = "Init"
SIDECAR = "Sidecar"

_ENDED: Final = ("Succeeded", "Failed")


class ContainerResources(Struct, frozen=True, gc=False):
    """One container as written. Unlike in other resources a zero stays: that it is set at all decides predictions.

    ``kind``: App, Init, or Sidecar (an init container that keeps running).
    """

    requests: Resources = ()
    limits: Resources = ()
    kind: str = APP


class PodSpec(Struct, frozen=True, gc=False):
    """What the scheduler looks at in a pod; replicas of one template share one object.

    ``requests`` are the effective ones (``specs`` of KEP-753: sidecars, init containers, pod level, overhead),
    without ``pods``. ``scored_requests`` hold cpu and memory with kube-scheduler's non-zero defaults;
    ``arriving_requests`` are those of a pod that has no place yet, where they differ: for its fit score pod-level
    requests are left out.
    ``containers`` in the order written, init containers among them, and ``overhead`` serve predictions of use; without
    containers their split is unknown.
    ``unmodelled`` names predicates this project does not model; such a pod is never moved. ``problem`` says what of it
    cannot be counted; what it asks for is then not known, and counts nothing. ``restart_policy``: with any other than
    Always the pod runs to its end.
    """

    requests: Resources = ()
    scored_requests: Resources = ()
    arriving_requests: Resources | None = None
    node_selector: tuple[tuple[str, str], ...] = ()
    node_affinity: NodeAffinityRules | None = None
    tolerations: tuple[Toleration, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_affinity: tuple[PreferredPodAffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[PreferredPodAffinityTerm, ...] = ()
    topology_spread: tuple[TopologySpreadConstraint, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    images: tuple[str, ...] = ()
    container_count: int = 1
    priority: int = 0
    priority_class_name: str = ""
    preemption_policy: str = "PreemptLowerPriority"
    scheduler_name: str = "default-scheduler"
    termination_grace_seconds: int = 30
    unmodelled: tuple[str, ...] = ()
    containers: tuple[ContainerResources, ...] = ()
    overhead: Resources = ()
    problem: str | None = None
    restart_policy: str = "Always"


GROUPS: Final = {
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "Deployment": "apps",
    "DaemonSet": "apps",
    "ReplicationController": "",
    "Node": "",
    "Pod": "",
    "Job": "batch",
    "CronJob": "batch",
}
"""Kubernetes' own kinds that can stand over pods, with their API groups; other groups have kinds of the same names."""


class OwnerReference(Struct, frozen=True, gc=False):
    """The object that made a pod or a workload. ``group``: its API group; None: Kubernetes' own for this kind."""

    kind: str
    name: str
    uid: str
    is_controller: bool = True
    group: str | None = None

    @property
    def api_group(self) -> str:
        """The group by its name; that of the core kinds is empty."""
        return GROUPS.get(self.kind, "") if self.group is None else self.group

    @property
    def written(self) -> str:
        """Kind and name, and the group where it is not Kubernetes' own."""
        return f"{self.kind} {self.name}" + (f" ({self.group})" if self.group else "")


class Pod(Struct, frozen=True, gc=False):
    """One pod as it was read. Times are seconds since the epoch, None where unknown.

    ``annotations`` hold only the keys that steer disruption (see ``model/objects/annotations.py``).
    ``held`` are the resources it holds on its node where they differ from ``spec.requests`` (in-place resize).
    ``ready_at``: since when it is Ready; None while it is not. ``trouble``: what keeps it from running, in the
    kubelet's own word: why it was refused (OutOfcpu), or why a container waits (ErrImagePull). ``unscheduled``: why it
    has no node, in the word of its condition (Unschedulable, SchedulerError, SchedulingGated), "" where nobody has
    said anything yet; ``unscheduled_at``: since when that is so.
    """

    namespace: str
    name: str
    uid: str
    spec: PodSpec
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    node_name: str | None = None
    nominated_node: str | None = None
    phase: str = "Running"
    is_ready: bool = True
    deletion_at: float | None = None
    created_at: float | None = None
    started_at: float | None = None
    scheduled_at: float | None = None
    owners: tuple[OwnerReference, ...] = ()
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    held: Resources | None = None
    restart_count: int = 0
    resource_version: str = ""
    ready_at: float | None = None
    trouble: str = ""
    unscheduled: str = ""
    unscheduled_at: float | None = None

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that recreates the pod, if there is exactly one.

        A pod that moves by surge counts for the ReplicaSet that it was taken out of.
        """
        owners = self.owners
        if len(owners) == 1 and owners[0].is_controller:  # as nearly always
            return owners[0]
        controllers = [owner for owner in owners if owner.is_controller]
        if not controllers and SURGE in self.annotations:
            controllers = [owner for owner in owners if owner.kind == "ReplicaSet"]
        return controllers[0] if len(controllers) == 1 else None

    @property
    def amounts(self) -> Resources:
        """What it holds of each resource, or will hold once it has a node."""
        return self.spec.requests if self.held is None else self.held

    @property
    def is_finished(self) -> bool:
        """True for phases Succeeded and Failed: the pod holds nothing any more."""
        return self.phase in _ENDED

    @property
    def is_terminating(self) -> bool:
        """True once deletion has begun; the pod holds its room until it is gone."""
        return self.deletion_at is not None

    @property
    def is_active(self) -> bool:
        """Whether it counts for its controller: it has not ended and is not on its way out."""
        return self.deletion_at is None and self.phase not in _ENDED

    def is_made_since(self, at: float) -> bool:
        """Whether it was made at that time or later; the API server writes whole seconds. False: nobody knows when."""
        if self.created_at is None:
            return False
        return self.created_at >= (at if self.created_at % 1.0 else math.floor(at))

    @property
    def belongs_to_its_node(self) -> bool:
        """True for a pod that is there because of its node: of a DaemonSet, or made by the kubelet."""
        if MIRROR in self.annotations or self.annotations.get(CONFIG_SOURCE, "api") != "api":
            return True
        return any(owner.kind in ("DaemonSet", "Node") for owner in self.owners)

    @property
    def is_pending(self) -> bool:
        """True for a pod that waits for a node (gated ones too)."""
        return self.node_name is None and self.is_active
