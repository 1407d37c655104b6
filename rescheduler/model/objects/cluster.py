"""One frozen snapshot of a cluster, with the look-ups that everything else asks for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple, cast

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.indexed import GATED, PENDING, IndexedPods, IndexedWorkloads
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.node_pool import POOL_LABEL, NodePool
from rescheduler.model.objects.pod import OwnerReference, Pod
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
from rescheduler.model.objects.surge_mark import labels_before
from rescheduler.model.objects.workload import (
    DisruptionBudget,
    Namespace,
    NetworkPolicy,
    PodAutoscaler,
    PriorityClass,
    ResourceQuota,
    Service,
    Workload,
)
from rescheduler.model.usage.measured_use import NOTHING_MEASURED, MeasuredUse

HELD_OWNERS: Final = frozenset({"ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job"})
"""Kubernetes' own kinds of owners that a live snapshot holds all objects of, unless they are among ``absent_kinds``."""


class _Ownership(NamedTuple):
    """What was found about a pod with these owners and labels; they are kept, and so their ids their own."""

    owners: tuple[OwnerReference, ...]
    labels: Mapping[str, str]
    problem: str | None
    owner: Workload | None


@dataclass(frozen=True, eq=False)
class Cluster:
    """Everything a cycle decides on. Nodes are sorted by name, pods by namespace and name.

    ``taken_at`` is the "now" for all ages, in seconds since the epoch. ``warnings`` name objects that were read but
    cannot be used. ``source`` says where the snapshot is from (a file name, or the server's address).
    ``config_maps``: ``data`` of those that were asked for, by ``NAMESPACE/NAME``. ``pod_details``: by the same, where
    they were asked for. ``set_aside``: objects of which something cannot be counted; pods among them that have no node
    are not among ``pods``. ``absent_kinds``: of these nobody has read any, nor found that there are none.
    ``is_recording``: somebody chose what is in it, so that an owner which is not there may exist all the same.
    ``measured``: use of one moment, where it was asked for. ``network_policies``: None where they were not read.
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
    node_pools: tuple[NodePool, ...] = ()
    network_policies: tuple[NetworkPolicy, ...] | None = None
    taken_at: float = 0.0
    source: str = ""
    server_version: str | None = None
    warnings: tuple[str, ...] = ()
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    pod_details: Mapping[str, PodDetail] = field(default_factory=dict)
    set_aside: tuple[SetAside, ...] = ()
    absent_kinds: frozenset[str] = frozenset()
    is_recording: bool = False
    measured: MeasuredUse = NOTHING_MEASURED

    def __post_init__(self) -> None:
        """Let pods and workloads have their look-ups."""
        if not isinstance(self.pods, IndexedPods):
            object.__setattr__(self, "pods", IndexedPods(self.pods))
        if not isinstance(self.workloads, IndexedWorkloads):
            object.__setattr__(self, "workloads", IndexedWorkloads(self.workloads))

    @property
    def _indexed(self) -> IndexedPods:
        return cast(IndexedPods, self.pods)

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @property
    def pod_by_key(self) -> Mapping[str, Pod]:
        """Pods by ``NAMESPACE/NAME``."""
        return self._indexed.by_key

    def indices_of(self, keys: Collection[str]) -> dict[str, int]:
        """Places in ``pods`` of those of these pods that are there, by ``NAMESPACE/NAME``."""
        return self._indexed.places(keys)

    def with_pods(self, changes: Mapping[str, Pod | None]) -> Cluster:
        """The snapshot with other pods in the place of those of these keys (None: gone); itself where they are there.

        Quick where few change, however many there are.
        """
        pods = self._indexed.amended(changes)
        return self if pods is self.pods else replace(self, pods=pods)

    @property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Pods that hold room on a node (finished ones left out), by node name."""
        return self._indexed.by_node

    @property
    def finished_pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """Pods that have finished, by the name of the node they were on."""
        return self._indexed.finished_by_node

    @property
    def gated_pods(self) -> tuple[Pod, ...]:
        """Pods that a scheduling gate keeps from being scheduled."""
        return self._indexed.by_state.get(GATED, ())

    @property
    def held_by_node(self) -> Mapping[str, Mapping[str, int]]:
        """What pods hold of each resource, by node name; those on their way out hold nothing here."""
        return self._indexed.held_by_node

    @property
    def pending_pods(self) -> tuple[Pod, ...]:
        """Pods that wait for a node, gated ones too."""
        return self._indexed.by_state.get(PENDING, ())

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
    def autoscalers_by_target(self) -> Mapping[tuple[str | None, str, str, str], tuple[PodAutoscaler, ...]]:
        """HorizontalPodAutoscalers by group (as in references), kind, namespace and name of what they scale."""
        found: dict[tuple[str | None, str, str, str], list[PodAutoscaler]] = defaultdict(list)
        for item in self.autoscalers:
            found[item.target_group, item.target_kind, item.namespace, item.target_name].append(item)
        return {target: tuple(items) for target, items in found.items()}

    @cached_property
    def pool_by_name(self) -> Mapping[str, NodePool]:
        """Karpenter's NodePools by name."""
        return {pool.name: pool for pool in self.node_pools}

    def pool_of(self, node: Node) -> NodePool | None:
        """The NodePool that a node is of; None where it is of none that is known."""
        return self.pool_by_name.get(node.labels.get(POOL_LABEL, ""))

    @cached_property
    def workload_by_uid(self) -> Mapping[str, Workload]:
        """Workloads by uid."""
        return cast(IndexedWorkloads, self.workloads).by_uid

    @property
    def pods_by_namespace(self) -> Mapping[str, tuple[Pod, ...]]:
        """All pods by namespace."""
        return self._indexed.by_namespace

    def selected(self, namespace: str, selector: LabelSelector | None) -> tuple[Pod, ...]:
        """Pods of a namespace that a selector matches, finished ones too; quick where these are few. None: no pods."""
        return self._indexed.selected(namespace, selector)

    @property
    def pods_by_owner_uid(self) -> Mapping[str, tuple[Pod, ...]]:
        """Pods that name an owner as their controller, whether it is or not; finished ones left out.

        A pod that moves by surge is among those of the ReplicaSet that it was taken out of.
        """
        return self._indexed.by_owner

    @cached_property
    def _namespaces_of(self) -> dict[str, Counter[str]]:
        """How many pods of each namespace name an owner, by its uid, of those that were asked about."""
        return {}

    def _namespaces(self, owner: str) -> Counter[str]:
        found = self._namespaces_of.get(owner)
        if found is None:
            found = self._namespaces_of[owner] = Counter()
            for pod in self.pods_by_owner_uid.get(owner, ()):
                if names_as_controller(pod, owner):
                    found[pod.namespace] += 1
        return found

    def pods_of(self, workload: str) -> Iterator[Pod]:
        """Pods of a workload at the top of their chain of owners (by its uid), finished ones left out."""
        owned_by = cast(IndexedWorkloads, self.workloads).owned_by
        family = {workload: None}
        queue = [workload]
        while queue:
            below = [uid for uid in owned_by.get(queue.pop(), ()) if uid not in family]
            family.update(dict.fromkeys(below))
            queue += below
        for owner in family:
            for pod in self.pods_by_owner_uid.get(owner, ()):
                top = self.workload_of(pod)
                if top is not None and top.uid == workload:
                    yield pod

    @cached_property
    def _inferred(self) -> dict[str, Workload]:
        return {}

    @cached_property
    def _ownerships(self) -> dict[tuple[str, int, int, bool], _Ownership]:
        """What was found about owners, by namespace and by the pods' owners and labels, which replicas share."""
        return {}

    def _ownership(self, pod: Pod) -> _Ownership:
        key = (pod.namespace, id(pod.owners), id(pod.labels), SURGE in pod.annotations)
        found = self._ownerships.get(key)
        if found is None or found.owners is not pod.owners or found.labels is not pod.labels:
            problem = self._owner_problem(pod)
            owner = None if problem is not None else self._owner(pod)
            found = self._ownerships[key] = _Ownership(pod.owners, pod.labels, problem, owner)
        return found

    def owner_of(self, pod: Pod) -> Workload | None:
        """The object that recreates the pod; inferred from its reference where the snapshot does not hold it.

        None also for a pod that only says so (``owner_problem``): it counts for nobody.
        """
        return self._ownership(pod).owner

    def _owner(self, pod: Pod) -> Workload | None:
        reference = pod.controller
        if reference is None:
            return None
        known = self.workload_by_uid.get(reference.uid) or self._inferred.get(reference.uid)
        if known is None:
            known = self._inferred[reference.uid] = Workload(
                kind=reference.kind,
                namespace=pod.namespace,
                name=reference.name,
                uid=reference.uid,
                desired_replicas=self._namespaces(reference.uid)[pod.namespace],
                is_inferred=True,
                group=reference.group,
            )
        return known

    def workload_of(self, pod: Pod) -> Workload | None:
        """The top of the pod's chain of owners (the Deployment of a ReplicaSet), by uid; None without an owner."""
        workload = self.owner_of(pod)
        while workload is not None and workload.owner is not None:
            above = self.workload_by_uid.get(workload.owner.uid)
            if above is None:
                break
            workload = above
        return workload

    def owner_problem(self, pod: Pod) -> str | None:
        """Why what stands in the pod's references cannot be true, as the rest of a sentence; None: nothing known.

        Whoever may create pods may write any reference into them. An owner is there, has pods of its own namespace,
        which its selector matches, and none of its owners is owned by it.
        """
        return self._ownership(pod).problem

    def would_hold(self, kind: str, group: str | None) -> bool:
        """Whether an owner of this kind would be among ``workloads`` if it were there; ``group``: as in references."""
        return not self.is_recording and group is None and kind in HELD_OWNERS and kind not in self.absent_kinds

    def _owner_problem(self, pod: Pod) -> str | None:
        reference = pod.controller
        seen: set[str] = set()
        if reference is not None and reference.uid not in self.workload_by_uid:
            if reference.uid in self._indexed.uids and reference.kind != "Pod":
                return f"names {reference.written} as its owner, with the uid of a pod"
            if any(name != pod.namespace for name in self._namespaces(reference.uid)):
                return f"names {reference.written} as its owner, as pods of other namespaces do"
            if self.would_hold(reference.kind, reference.group):
                return f"names {reference.written} as its owner, which is not there"
        while reference is not None:
            if reference.uid in seen:
                return f"has owners that own each other or themselves, {reference.written} among them"
            seen.add(reference.uid)
            known = self.workload_by_uid.get(reference.uid)
            if known is None:
                is_missing = self.would_hold(reference.kind, reference.group)
                return f"has {reference.written} above its owner, which is not there" if is_missing else None
            reason = _contradiction(pod, reference, known)
            if reason is not None:
                return reason
            reference = known.owner
        return None


def names_as_controller(pod: Pod, owner: str) -> bool:
    """Whether a pod says itself that the object with this uid controls it."""
    owners = pod.owners
    if len(owners) == 1:  # as nearly always, and this is asked about every pod
        return owners[0].is_controller and owners[0].uid == owner
    return any(reference.uid == owner and reference.is_controller for reference in owners)


def _contradiction(pod: Pod, reference: OwnerReference, known: Workload) -> str | None:
    """What of the object with the uid that a reference names shows that it is no owner of the pod."""
    named = f"names {reference.written} as its owner"
    if (known.group, known.kind, known.name) != (reference.group, reference.kind, reference.name):
        return f"{named}, with the uid of {known.key}"
    if known.namespace != pod.namespace:
        return f"{named}, which is in namespace {known.namespace}"
    labels = labels_before(pod.labels, pod.annotations)
    if known.selector is not None and not selects(known.selector, labels):
        return f"{named}, whose selector does not match it"
    return None
