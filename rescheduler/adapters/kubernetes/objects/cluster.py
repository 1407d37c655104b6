"""Collects converted objects and puts them together as one Cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, MutableMapping
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from rescheduler.adapters.kubernetes.kinds import WORKLOAD_KINDS
from rescheduler.adapters.kubernetes.objects import storage, workload
from rescheduler.adapters.kubernetes.objects.assembly import (
    CLUSTER_WIDE,
    AssemblyWarnings,
    PodTally,
    assembled,
    with_classes,
)
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.metadata import SharedMetadata
from rescheduler.adapters.kubernetes.objects.decoding.pages import Unreadable
from rescheduler.adapters.kubernetes.objects.decoding.setting_aside import KeptObjects, glimpse_of, kept, stand_in
from rescheduler.adapters.kubernetes.objects.node import NodeConversion
from rescheduler.adapters.kubernetes.objects.node_claim import node_claim
from rescheduler.adapters.kubernetes.objects.node_pool import node_pool
from rescheduler.adapters.kubernetes.objects.pod_autoscaler import pod_autoscaler
from rescheduler.adapters.kubernetes.objects.pods.pod import PodConversion
from rescheduler.adapters.kubernetes.objects.quota import resource_quota
from rescheduler.adapters.kubernetes.objects.workload import disruption_budget
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import PodDetail
from rescheduler.model.objects.set_aside import SetAside

# Turns decoded objects of all kinds into the model's, one by one.

Warn = Callable[[str], None]


class ObjectConversion:
    """What equal objects have in common is one object in memory; the caches for that are bounded."""

    def __init__(
        self, warn: Warn, shared: SharedMetadata | None = None, details: MutableMapping[str, PodDetail] | None = None
    ) -> None:
        """``warn`` is told of what cannot be used. ``shared``: to share with further conversions, of other threads.

        ``details``: where those of each pod go, by ``NAMESPACE/NAME``; None: they are not read.
        """
        self._converters = _all_converters(warn, shared or SharedMetadata(), details)

    def convert(self, kind: str, found: Any) -> KeptObjects:
        """The model's object; uses up what was decoded. Raises ObjectError with the object's name."""
        try:
            return kept(kind, self._converters[kind](found))
        except ObjectError as error:
            raise ObjectError(error.path, error.problem, _label(kind, found)) from error

    def convert_or_stand_in(self, kind: str, found: Any) -> KeptObjects:
        """The same, or what stands for an object that cannot be read."""
        node_name = found.spec.node_name if kind == "Pod" and found.spec is not None else None
        try:
            return self.convert(kind, found)
        except ObjectError as error:
            return stand_in(kind, glimpse_of(kind, found, node_name), error)


def lacks_priority(kind: str, found: Any) -> bool:
    """Whether this is a pod that leaves its priority to its class, as no pod does that went through admission."""
    return kind == "Pod" and found.spec is not None and found.spec.priority is None


def _all_converters(
    warn: Warn, shared: SharedMetadata, details: MutableMapping[str, PodDetail] | None
) -> dict[str, Callable[[Any], Any]]:
    found: dict[str, Callable[[Any], Any]] = {
        "Pod": PodConversion(warn, shared, details).convert,
        "Node": NodeConversion(warn, shared).convert,
        "Namespace": lambda item: workload.namespace(item, shared),
        "Service": workload.service,
        "PodDisruptionBudget": disruption_budget,
        "ResourceQuota": lambda item: resource_quota(item, warn),
        "HorizontalPodAutoscaler": lambda item: pod_autoscaler(item, warn),
        "NetworkPolicy": workload.network_policy,
        "PriorityClass": workload.priority_class,
        "PersistentVolumeClaim": lambda item: storage.claim(item, shared),
        "PersistentVolume": lambda item: storage.volume(item, shared),
        "StorageClass": storage.storage_class,
        "CSINode": storage.csi_node,
        "CSIDriver": storage.csi_driver,
        "CSIStorageCapacity": storage.csi_capacity,
        "VolumeAttachment": storage.attachment,
        "NodePool": lambda item: node_pool(item, warn),
        "NodeClaim": lambda item: node_claim(item, shared),
    }
    for kind in WORKLOAD_KINDS:
        found[kind] = partial(workload.workload, kind, shared=shared)
    return found


def _label(kind: str, found: Any) -> str:
    meta = found.metadata
    if meta is None or not meta.name:
        return f"{kind} (without a name)"
    return f"{kind} {meta.namespace}/{meta.name}" if meta.namespace else f"{kind} {meta.name}"


_IGNORED_FIELDS: Final = ("resource_version",)
_by_name: Final = attrgetter("name")
_by_namespace: Final = attrgetter("namespace", "name")


class ClusterBuilder:
    """Takes decoded objects of all kinds in any order. ``taken_at`` and the like are told at the end."""

    def __init__(self, *, with_details: bool = False) -> None:
        """One instance for one snapshot. ``with_details``: keep what ``Cluster.pod_details`` holds."""
        self._warnings = AssemblyWarnings()
        self._details: dict[str, PodDetail] | None = {} if with_details else None
        self._found: dict[str, list[Any]] = defaultdict(list)
        self._without_priority: list[Pod] = []
        self._aside: dict[str, list[SetAside]] = defaultdict(list)
        self._absent: set[str] = set()
        self._conversion = ObjectConversion(self._warnings.add, details=self._details)

    def add(self, kind: str, found: Any) -> None:
        """Convert one decoded object. Raises ObjectError with the object's name."""
        is_lacking = lacks_priority(kind, found)
        self._keep(kind, self._conversion.convert(kind, found), is_lacking=is_lacking)

    def add_or_set_aside(self, kind: str, found: Any) -> None:
        """The same; an object that cannot be read, or is Unreadable already, costs nobody else."""
        if isinstance(found, Unreadable):
            self._keep(kind, stand_in(kind, found.glimpse, found.error))
            return
        is_lacking = lacks_priority(kind, found)
        self._keep(kind, self._conversion.convert_or_stand_in(kind, found), is_lacking=is_lacking)

    def _keep(self, kind: str, found: KeptObjects, *, is_lacking: bool = False) -> None:
        if found.aside is not None:
            self._aside[kind].append(found.aside)
        if found.made is not None:
            self._found[kind].append(found.made)
        if found.made is not None and is_lacking:
            self._without_priority.append(found.made)

    def forget(self, kind: str) -> None:
        """Drop all objects of a kind, to read them again."""
        self._found.pop(kind, None)
        self._aside.pop(kind, None)
        if kind == "Pod":
            self._without_priority.clear()

    def leave_out(self, kind: str) -> None:
        """Nobody may tell what there is of a kind."""
        self._absent.add(kind)

    def warn(self, text: str) -> None:
        """Add a warning to the snapshot's."""
        self._warnings.add(text)

    def count(self, kind: str) -> int:
        """How many objects of a kind were taken."""
        return len(self._found.get(kind, ()))

    def build(self, *, taken_at: float, source: str, server_version: str | None = None) -> Cluster:
        """The snapshot. Raises ObjectError when two objects of one name differ."""
        objects = {kind: tuple(self._sorted(kind)) for kind in self._found if kind != "Pod"}
        pods, classes = tuple(self._found["Pod"]), self._found["PriorityClass"]
        self._found["Pod"] = list(with_classes(pods, self._without_priority, classes, self._warnings))
        objects["Pod"] = tuple(self._sorted("Pod"))
        facts = PodTally(objects["Pod"]).facts()
        aside = tuple(dict.fromkeys(item for found in self._aside.values() for item in found))
        return assembled(
            objects,
            facts,
            self._warnings,
            aside,
            taken_at=taken_at,
            source=source,
            server_version=server_version,
            pod_details=self._details or {},
            absent_kinds=frozenset(self._absent),
        )

    def _sorted(self, kind: str) -> list[Any]:
        """Objects of a kind in order, equal ones once. Raises ObjectError for different ones of one name."""
        key: Callable[[Any], Any] = _by_name if kind in CLUSTER_WIDE else _by_namespace
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


def _refuse_differing(kind: str, first: Any, second: Any) -> None:
    names = [name for name in first.__struct_fields__ if name not in _IGNORED_FIELDS]
    differing = [name for name in names if getattr(first, name) != getattr(second, name)]
    if differing:
        label = f"{kind} {f'{first.namespace}/' if hasattr(first, 'namespace') else ''}{first.name}"
        raise ObjectError("", f"stands twice, with different {', '.join(differing)}; keep one of them", label)
