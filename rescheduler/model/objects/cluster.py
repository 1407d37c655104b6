"""One frozen snapshot of a cluster, with the look-ups that everything else asks for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import PodDetail
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from rescheduler.model.objects.workload import (
    DisruptionBudget,
    Namespace,
    PodAutoscaler,
    PriorityClass,
    ResourceQuota,
    Service,
    Workload,
)


@dataclass(frozen=True, eq=False)
class Cluster:
    """Everything a cycle decides on. Nodes are sorted by name, pods by namespace and name.

    ``taken_at`` is the "now" for all ages, in seconds since the epoch. ``warnings`` name objects that were read but
    cannot be used. ``source`` says where the snapshot is from (a file name, or the server's address).
    ``config_maps``: ``data`` of those that were asked for, by ``NAMESPACE/NAME``. ``pod_details``: by the same, where
    they were asked for. ``set_aside``: objects of which something cannot be counted; pods among them that have no node
    are not among ``pods``.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    workloads: tuple[Workload, ...] = ()
    budgets: tuple[DisruptionBudget, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    services: tuple[Service, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CsiNode, ...] = ()
    csi_drivers: tuple[CsiDriver, ...] = ()
    csi_capacities: tuple[CsiStorageCapacity, ...] = ()
    attachments: tuple[VolumeAttachment, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    autoscalers: tuple[PodAutoscaler, ...] = ()
    taken_at: float = 0.0
    source: str = ""
    server_version: str | None = None
    warnings: tuple[str, ...] = ()
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pod_details: Mapping[str, PodDetail] = field(default_factory=dict)
    set_aside: tuple[SetAside, ...] = ()

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def pod_by_key(self) -> Mapping[str, Pod]:
        """Pods by ``NAMESPACE/NAME``."""
        return {pod.key: pod for pod in self.pods}

    @cached_property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Pods that hold room on a node (finished ones left out), by node name."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            if pod.node_name is not None and not pod.is_finished:
                found[pod.node_name].append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def pending_pods(self) -> tuple[Pod, ...]:
        """Pods that wait for a node, gated ones too."""
        return tuple(pod for pod in self.pods if pod.is_pending)

    @cached_property
    def namespace_labels(self) -> Mapping[str, Mapping[str, str]]:
        """Labels of each namespace that is known."""
        return {namespace.name: namespace.labels for namespace in self.namespaces}

    @cached_property
    def budgets_by_namespace(self) -> Mapping[str, tuple[DisruptionBudget, ...]]:
        """PodDisruptionBudgets by namespace."""
        found: dict[str, list[DisruptionBudget]] = defaultdict(list)
        for budget in self.budgets:
            found[budget.namespace].append(budget)
        return {name: tuple(budgets) for name, budgets in found.items()}

    @cached_property
    def claim_by_key(self) -> Mapping[tuple[str, str], PersistentVolumeClaim]:
        """Claims by namespace and name."""
        return {(claim.namespace, claim.name): claim for claim in self.claims}

    @cached_property
    def volume_by_name(self) -> Mapping[str, PersistentVolume]:
        """Persistent volumes by name."""
        return {volume.name: volume for volume in self.volumes}

    @cached_property
    def storage_class_by_name(self) -> Mapping[str, StorageClass]:
        """Storage classes by name."""
        return {storage_class.name: storage_class for storage_class in self.storage_classes}

    @cached_property
    def autoscaler_by_target(self) -> Mapping[tuple[str, str, str], PodAutoscaler]:
        """HorizontalPodAutoscalers by kind, namespace and name of what they scale; the first of several by name."""
        return {(item.target_kind, item.namespace, item.target_name): item for item in reversed(self.autoscalers)}

    @cached_property
    def _workload_by_uid(self) -> Mapping[str, Workload]:
        return {workload.uid: workload for workload in self.workloads}

    @cached_property
    def _pods_by_owner_uid(self) -> Counter[str]:
        return Counter(
            owner.uid for pod in self.pods if not pod.is_finished for owner in pod.owners if owner.is_controller
        )

    @cached_property
    def _inferred(self) -> dict[str, Workload]:
        return {}

    def owner_of(self, pod: Pod) -> Workload | None:
        """The object that recreates the pod; inferred from its reference where the snapshot does not hold it."""
        reference = pod.controller
        if reference is None:
            return None
        known = self._workload_by_uid.get(reference.uid) or self._inferred.get(reference.uid)
        if known is None:
            known = self._inferred[reference.uid] = Workload(
                kind=reference.kind,
                namespace=pod.namespace,
                name=reference.name,
                uid=reference.uid,
                desired_replicas=self._pods_by_owner_uid[reference.uid],
                is_inferred=True,
            )
        return known

    def workload_of(self, pod: Pod) -> Workload | None:
        """The top of the pod's chain of owners (the Deployment of a ReplicaSet), by uid; None without an owner."""
        workload = self.owner_of(pod)
        seen = set()
        while workload is not None and workload.owner is not None and workload.uid not in seen:
            seen.add(workload.uid)
            above = self._workload_by_uid.get(workload.owner.uid)
            if above is None:
                break
            workload = above
        return workload
