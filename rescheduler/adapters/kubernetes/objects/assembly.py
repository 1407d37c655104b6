"""Puts converted objects together as one Cluster, and says what in it does not go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from rescheduler.adapters.kubernetes.kinds import WORKLOAD_KINDS
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.setting_aside import usable
from rescheduler.adapters.kubernetes.objects.node_claim import as_claimed
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.objects.workload import SYSTEM_CLASSES, PriorityClass
from rescheduler.model.printable import shortened

# Priorities of pods that do not carry the number themselves, as admission would fill them in.


def with_priorities(pods: Iterable[Pod], classes: Iterable[PriorityClass]) -> Mapping[int, Pod]:
    """Pods whose class says more than their specification, by the id of the pod they replace."""
    known = {found.name: found for found in (*SYSTEM_CLASSES, *classes)}
    default = max((found for found in known.values() if found.is_default), key=lambda found: found.value, default=None)
    made: dict[tuple[int, str], PodSpec] = {}
    replaced = {}
    for pod in pods:
        found = known.get(pod.spec.priority_class_name) if pod.spec.priority_class_name else default
        if found is None:
            continue
        key = (id(pod.spec), found.name)
        if key not in made:
            made[key] = replace(
                pod.spec,
                priority=found.value,
                priority_class_name=found.name,
                preemption_policy=found.preemption_policy,
            )
        replaced[id(pod)] = replace(pod, spec=made[key])
    return replaced


# AssemblyWarnings of one reading, few enough to be read.

_MOST: Final = 50
_MOST_ALIKE: Final = 3


class AssemblyWarnings:
    """Keeps the first warnings and counts the rest; what is odd about many objects alike is one of them."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[str, dict[str, None]] = {}
        self._left_out = 0

    def add(self, text: str) -> None:
        """Take note of one; one about an object begins with that and a colon. The same text counts once while kept."""
        what = text.partition(": ")[2] or text
        if what in self._kept or len(self._kept) < _MOST:
            self._kept.setdefault(what, {})[text] = None
        else:
            self._left_out += 1

    def told(self) -> tuple[str, ...]:
        """All that were kept, and how many were not."""
        kept = (text for what, alike in self._kept.items() for text in _told(list(alike), what))
        rest = (f"and {self._left_out} more warnings like these",) if self._left_out else ()
        return (*kept, *rest)


def _told(alike: list[str], what: str) -> list[str]:
    """Of many objects that are odd in the same way the first are named, and the others counted."""
    if len(alike) <= _MOST_ALIKE:
        return alike
    named = ", ".join(text.partition(": ")[0] for text in alike[:_MOST_ALIKE])
    return [f"{named} and {len(alike) - _MOST_ALIKE} more: {what}"]


# What is asked about all pods of a snapshot together, kept up to date pod by pod.


class PodFacts(NamedTuple):
    """``nodes``: the names of all nodes that pods name. ``latest_created``: no pod was created later than this."""

    nodes: frozenset[str]
    latest_created: float
    has_double_uids: bool


class PodTally:
    """Counts pods as they come and go."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._nodes: Counter[str] = Counter()
        self._uids: Counter[str] = Counter()
        self._doubles = 0
        self._latest = -inf
        for pod in pods:
            self.add(pod)

    def add(self, pod: Pod) -> None:
        """Count a pod."""
        if pod.node_name is not None:
            self._nodes[pod.node_name] += 1
        if pod.created_at is not None and pod.created_at > self._latest:
            self._latest = pod.created_at
        if pod.uid:
            self._uids[pod.uid] += 1
            self._doubles += self._uids[pod.uid] > 1

    def remove(self, pod: Pod) -> None:
        """Count a pod, which was counted, no more."""
        if pod.node_name is not None:
            _take_one(self._nodes, pod.node_name)
        if pod.uid:
            self._doubles -= self._uids[pod.uid] > 1
            _take_one(self._uids, pod.uid)

    def facts(self) -> PodFacts:
        """As it stands."""
        return PodFacts(frozenset(self._nodes), self._latest, self._doubles > 0)


def _take_one(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


CLUSTER_WIDE: Final = frozenset(
    {"Node", "Namespace", "PriorityClass", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver",
     "VolumeAttachment", "NodePool", "NodeClaim"}
)  # fmt: skip
"""Kinds whose objects are in no namespace; the model sorts them by name, and all others by namespace and name."""
_SHOWN_PODS: Final = 20
_CLOCK_SLACK_SECONDS: Final = 300.0

Objects = Mapping[str, tuple[Any, ...]]
"""By kind, each in the model's order."""


_KIND_OF_FIELD: Final = {
    "budgets": "PodDisruptionBudget",
    "namespaces": "Namespace",
    "services": "Service",
    "priority_classes": "PriorityClass",
    "claims": "PersistentVolumeClaim",
    "volumes": "PersistentVolume",
    "storage_classes": "StorageClass",
    "csi_nodes": "CSINode",
    "csi_drivers": "CSIDriver",
    "csi_capacities": "CSIStorageCapacity",
    "attachments": "VolumeAttachment",
    "quotas": "ResourceQuota",
    "autoscalers": "HorizontalPodAutoscaler",
    "node_pools": "NodePool",
}
"""Fields of a Cluster that are the objects of one kind as they were read."""


def assembled(
    objects: Objects,
    pod_facts: PodFacts,
    warnings: AssemblyWarnings,
    aside: Sequence[SetAside] = (),
    **about: Any,
) -> Cluster:
    """The snapshot. ``objects`` of a kind that is not there are none; ``warnings`` gets further ones.

    ``pod_facts``: of all these pods. ``aside``: which of the objects cannot be counted. ``about``: taken_at, source
    and what else a Cluster says of itself. Raises ObjectError where two pods have one uid.
    """
    pods, nodes = objects.get("Pod", ()), objects.get("Node", ())
    if pod_facts.has_double_uids:
        _refuse_double_uids(pods)
    pods = _with_known_ages(pods, pod_facts, about["taken_at"], warnings)
    _warn_of_unknown_nodes(nodes, pods, pod_facts, warnings)
    nodes, pods, aside = usable(nodes, pods, aside)
    nodes = as_claimed(nodes, objects.get("NodeClaim", ()))
    _warn_of_those(aside, warnings)

    fields: dict[str, Any] = {field: objects.get(kind, ()) for field, kind in _KIND_OF_FIELD.items()}
    return Cluster(
        nodes=nodes,
        pods=pods,
        workloads=tuple(found for kind in WORKLOAD_KINDS for found in objects.get(kind, ())),
        network_policies=objects.get("NetworkPolicy"),
        warnings=warnings.told(),
        set_aside=aside,
        **fields,
        **about,
    )


def with_classes(
    pods: tuple[Pod, ...], lacking: Sequence[Pod], classes: Sequence[PriorityClass], warnings: AssemblyWarnings
) -> tuple[Pod, ...]:
    """Pods with the priority of their class where they do not carry it themselves: ``lacking``, some of them."""
    if not lacking:
        return pods
    replaced = with_priorities(lacking, classes)
    unknown = {pod.spec.priority_class_name for pod in lacking if id(pod) not in replaced}
    for name in sorted(unknown - {""}):
        warnings.add(
            f"PriorityClass {shortened(name)}: is not in the snapshot, and some of its pods do not carry "
            "their priority; it counts as 0"
        )
    return tuple(replaced.get(id(pod), pod) for pod in pods)


def _with_known_ages(
    pods: tuple[Pod, ...], facts: PodFacts, taken_at: float, warnings: AssemblyWarnings
) -> tuple[Pod, ...]:
    latest = taken_at + _CLOCK_SLACK_SECONDS
    if facts.latest_created <= latest:
        return pods
    early = {id(pod) for pod in pods if pod.created_at is not None and pod.created_at > latest}
    found = []
    for pod in pods:
        if id(pod) in early:
            warnings.add(f"Pod {pod.key}: it was created after the snapshot was taken; its age counts as unknown")
            found.append(replace(pod, created_at=None, started_at=None, scheduled_at=None, ready_at=None))
        else:
            found.append(pod)
    return tuple(found)


def _warn_of_unknown_nodes(
    nodes: Sequence[Node], pods: Sequence[Pod], facts: PodFacts, warnings: AssemblyWarnings
) -> None:
    known = {node.name for node in nodes}
    if facts.nodes <= known:
        return
    lost = [pod for pod in pods if pod.node_name is not None and pod.node_name not in known and not pod.is_finished]
    for pod in lost:
        where = f"its node {shortened(pod.node_name or '')} is not among the {len(known)} nodes of the snapshot"
        warnings.add(f"Pod {pod.key}: {where}; it is never moved")


def _warn_of_those(aside: Sequence[SetAside], warnings: AssemblyWarnings) -> None:
    """Of very many, whoever wrote them, the first: other warnings must be seen beside them."""
    for item in aside[:_SHOWN_PODS]:
        warnings.add(item.text)
    if len(aside) > _SHOWN_PODS:
        warnings.add(f"{len(aside) - _SHOWN_PODS} more objects cannot be counted, and are set aside")


def _refuse_double_uids(pods: Sequence[Pod]) -> None:
    seen: dict[str, Pod] = {}
    for pod in pods:
        if pod.uid and pod.uid in seen:
            raise ObjectError("metadata.uid", f"is also the uid of {seen[pod.uid].key}; each pod has its own",
                              f"Pod {pod.key}")  # fmt: skip
        seen[pod.uid] = pod
