"""Collects converted objects and puts them together as one Cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from rescheduler.adapters.kubernetes.conversion import storage, workload
from rescheduler.adapters.kubernetes.conversion.disruption_budget import disruption_budget
from rescheduler.adapters.kubernetes.conversion.metadata import SharedMetadata
from rescheduler.adapters.kubernetes.conversion.node import NodeConversion
from rescheduler.adapters.kubernetes.conversion.pod import PodConversion
from rescheduler.adapters.kubernetes.conversion.priorities import with_priorities
from rescheduler.adapters.kubernetes.conversion.warnings import Warnings
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.adapters.kubernetes.kinds import WORKLOAD_KINDS
from rescheduler.adapters.printable import printable
from rescheduler.model.cluster import Cluster
from rescheduler.model.node import Node
from rescheduler.model.pod import Pod
from rescheduler.model.workload import PriorityClass

_SHOWN_PODS: Final = 20
_CLOCK_SLACK_SECONDS: Final = 300.0
_IGNORED_FIELDS: Final = ("resource_version",)
_by_name: Final = attrgetter("name")
_by_namespace: Final = attrgetter("namespace", "name")


class ClusterBuilder:
    """Takes decoded objects of all kinds in any order. ``taken_at`` and the like are told at the end."""

    def __init__(self) -> None:
        """One instance for one snapshot."""
        self._warnings = Warnings()
        self._found: dict[str, list[Any]] = defaultdict(list)
        self._without_priority: list[Pod] = []
        self._converters = self._all_converters()

    def add(self, kind: str, found: Any) -> None:
        """Convert one decoded object. Raises ObjectError with the object's name."""
        try:
            made = self._converters[kind](found)
        except ObjectError as error:
            raise ObjectError(error.path, error.problem, _label(kind, found)) from error
        self._found[kind].append(made)
        if kind == "Pod" and found.spec.priority is None:
            self._without_priority.append(made)

    def forget(self, kind: str) -> None:
        """Drop all objects of a kind, to read them again."""
        self._found.pop(kind, None)
        if kind == "Pod":
            self._without_priority.clear()

    def warn(self, text: str) -> None:
        """Add a warning to the snapshot's."""
        self._warnings.add(text)

    def count(self, kind: str) -> int:
        """How many objects of a kind were taken."""
        return len(self._found.get(kind, ()))

    def build(self, *, taken_at: float, source: str, server_version: str | None = None) -> Cluster:
        """The snapshot. Raises ObjectError when two objects of one name differ."""
        nodes = self._sorted("Node", _by_name)
        pods = self._with_known_ages(self._pods(), taken_at)
        self._warn_of_unknown_nodes(nodes, pods)
        return Cluster(
            nodes=tuple(nodes),
            pods=tuple(pods),
            workloads=tuple(found for kind in WORKLOAD_KINDS for found in self._sorted(kind, _by_namespace)),
            budgets=tuple(self._sorted("PodDisruptionBudget", _by_namespace)),
            namespaces=tuple(self._sorted("Namespace", _by_name)),
            services=tuple(self._sorted("Service", _by_namespace)),
            priority_classes=tuple(self._sorted("PriorityClass", _by_name)),
            claims=tuple(self._sorted("PersistentVolumeClaim", _by_namespace)),
            volumes=tuple(self._sorted("PersistentVolume", _by_name)),
            storage_classes=tuple(self._sorted("StorageClass", _by_name)),
            csi_nodes=tuple(self._sorted("CSINode", _by_name)),
            csi_drivers=tuple(self._sorted("CSIDriver", _by_name)),
            csi_capacities=tuple(self._sorted("CSIStorageCapacity", _by_namespace)),
            attachments=tuple(self._sorted("VolumeAttachment", _by_name)),
            taken_at=taken_at,
            source=source,
            server_version=server_version,
            warnings=self._warnings.told(),
        )

    def _all_converters(self) -> dict[str, Callable[[Any], Any]]:
        shared = SharedMetadata()
        found: dict[str, Callable[[Any], Any]] = {
            "Pod": PodConversion(self._warnings.add, shared).convert,
            "Node": NodeConversion(self._warnings.add, shared).convert,
            "Namespace": lambda item: workload.namespace(item, shared),
            "Service": workload.service,
            "PodDisruptionBudget": disruption_budget,
            "PriorityClass": workload.priority_class,
            "PersistentVolumeClaim": lambda item: storage.claim(item, shared),
            "PersistentVolume": lambda item: storage.volume(item, shared),
            "StorageClass": storage.storage_class,
            "CSINode": storage.csi_node,
            "CSIDriver": storage.csi_driver,
            "CSIStorageCapacity": storage.csi_capacity,
            "VolumeAttachment": storage.attachment,
        }
        for kind in WORKLOAD_KINDS:
            found[kind] = partial(workload.workload, kind, shared=shared)
        return found

    def _pods(self) -> list[Pod]:
        if self._without_priority:
            classes: list[PriorityClass] = self._found["PriorityClass"]
            replaced = with_priorities(self._without_priority, classes)
            self._found["Pod"] = [replaced.get(id(pod), pod) for pod in self._found["Pod"]]
            unknown = {pod.spec.priority_class_name for pod in self._without_priority if id(pod) not in replaced}
            for name in sorted(unknown - {""}):
                self.warn(f"PriorityClass {printable(name)}: is not in the snapshot, and some of its pods do not carry "
                          "their priority; it counts as 0")  # fmt: skip
        pods: list[Pod] = self._sorted("Pod", _by_namespace)
        _refuse_double_uids(pods)
        return pods

    def _sorted(self, kind: str, key: Callable[[Any], Any]) -> list[Any]:
        """Objects of a kind in order, equal ones once. Raises ObjectError for different ones of one name."""
        found = sorted(self._found.get(kind, ()), key=key)
        if len({key(item) for item in found}) == len(found):
            return found
        once = []
        for _, group in groupby(found, key):
            first, *others = group
            for other in others:
                _refuse_differing(kind, first, other)
            once.append(first)
        return once

    def _with_known_ages(self, pods: list[Pod], taken_at: float) -> list[Pod]:
        latest = taken_at + _CLOCK_SLACK_SECONDS
        for index, pod in enumerate(pods):
            if pod.created_at is not None and pod.created_at > latest:
                self.warn(f"Pod {pod.key}: it was created after the snapshot was taken; its age counts as unknown")
                pods[index] = replace(pod, created_at=None, started_at=None, scheduled_at=None)
        return pods

    def _warn_of_unknown_nodes(self, nodes: Sequence[Node], pods: Iterable[Pod]) -> None:
        known = {node.name for node in nodes}
        lost = [pod for pod in pods if pod.node_name is not None and pod.node_name not in known and not pod.is_finished]
        for pod in lost[:_SHOWN_PODS]:
            where = f"its node {printable(pod.node_name or '')} is not among the {len(known)} nodes of the snapshot"
            self.warn(f"Pod {pod.key}: {where}; it is never moved")
        if len(lost) > _SHOWN_PODS:
            self.warn(f"{len(lost) - _SHOWN_PODS} more pods are on nodes that are not in the snapshot")


def _label(kind: str, found: Any) -> str:
    meta = found.metadata
    if meta is None or not meta.name:
        return f"{kind} (without a name)"
    return f"{kind} {meta.namespace}/{meta.name}" if meta.namespace else f"{kind} {meta.name}"


def _refuse_differing(kind: str, first: Any, second: Any) -> None:
    names = [name for name in first.__struct_fields__ if name not in _IGNORED_FIELDS]
    differing = [name for name in names if getattr(first, name) != getattr(second, name)]
    if differing:
        label = f"{kind} {f'{first.namespace}/' if hasattr(first, 'namespace') else ''}{first.name}"
        raise ObjectError("", f"stands twice, with different {', '.join(differing)}; keep one of them", label)


def _refuse_double_uids(pods: Sequence[Pod]) -> None:
    uids = [pod.uid for pod in pods if pod.uid]
    if len(set(uids)) == len(uids):
        return
    seen: dict[str, Pod] = {}
    for pod in pods:
        if pod.uid and pod.uid in seen:
            raise ObjectError("metadata.uid", f"is also the uid of {seen[pod.uid].key}; each pod has its own",
                              f"Pod {pod.key}")  # fmt: skip
        seen[pod.uid] = pod
