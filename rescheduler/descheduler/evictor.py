"""DefaultEvictor: which pods descheduler evicts at all, and what it asks once more right before each eviction."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from rescheduler.descheduler.arguments import (
    DeschedulerArguments,
    GoDuration,
    Selector,
    Unsigned,
    refused,
)
from rescheduler.descheduler.fitting import Fitting
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.annotations import CONFIG_SOURCE, MIRROR, PREFER_NO_EVICTION
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import NO_DETAIL
from rescheduler.policy.fields.policy_model import PolicyModel

LARGEST_PRIORITY: Final = 2_000_000_000
ON_BY_DEFAULT = ("PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods", "FailedBarePods")


class PriorityThreshold(PolicyModel):
    """Pods of this priority and above stay."""

    value: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    name: str = ""

    @model_validator(mode="after")
    def _is_one(self) -> PriorityThreshold:
        if self.value is not None and self.name:
            raise refused("both value and name; write one of them")
        if self.value is not None and self.value > LARGEST_PRIORITY:
            raise refused(f"value: {self.value} is above {LARGEST_PRIORITY}")
        return self


class ProtectedClass(PolicyModel):
    """A storage class by name."""

    name: str = ""


class PodsWithPvc(PolicyModel):
    """Which claims protect a pod; none named: all."""

    protected_storage_classes: tuple[ProtectedClass, ...] = ()


class ProtectionConfig(PolicyModel):
    """What single protections take."""

    pods_with_pvc: PodsWithPvc | None = Field(default=None, alias="PodsWithPVC")


class PodProtections(PolicyModel):
    """Which pods are left alone."""

    extra_enabled: tuple[Literal["PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"], ...] = ()
    default_disabled: tuple[
        Literal["PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods", "FailedBarePods"], ...
    ] = ()
    config: ProtectionConfig | None = None

    @model_validator(mode="after")
    def _are_once(self) -> PodProtections:
        for field, names in (("extraEnabled", self.extra_enabled), ("defaultDisabled", self.default_disabled)):
            if len(set(names)) < len(names):
                raise refused(f"{field}: a protection stands twice")
        classes = self.config and self.config.pods_with_pvc and self.config.pods_with_pvc.protected_storage_classes
        if "PodsWithPVC" in self.extra_enabled and not all(one.name for one in classes or ()):
            raise refused("config.PodsWithPVC.protectedStorageClasses: a class without name")
        return self


class DefaultEvictorArguments(DeschedulerArguments):
    """Who may be evicted, whatever plugin asks."""

    node_selector: str = ""
    evict_local_storage_pods: bool = False
    evict_daemon_set_pods: bool = False
    evict_system_critical_pods: bool = False
    ignore_pvc_pods: bool = False
    evict_failed_bare_pods: bool = False
    label_selector: Selector | None = None
    namespace_label_selector: Selector | None = None
    priority_threshold: PriorityThreshold | None = None
    node_fit: bool = False
    min_replicas: Unsigned = 0
    min_pod_age: GoDuration | None = None
    ignore_pods_without_pdb: bool = Field(default=False, alias="ignorePodsWithoutPDB")
    no_eviction_policy: Literal["", "Preferred", "Mandatory"] = ""
    pod_protections: PodProtections = PodProtections()

    @model_validator(mode="after")
    def _are_not_mixed(self) -> Any:
        listed = self.pod_protections.extra_enabled or self.pod_protections.default_disabled
        old = [name for name, is_set in self._booleans() if is_set]
        if listed and old:
            raise refused(f"podProtections and {old[0]} together; write podProtections alone")
        return self

    def _booleans(self) -> tuple[tuple[str, bool], ...]:
        return (
            ("evictLocalStoragePods", self.evict_local_storage_pods),
            ("evictDaemonSetPods", self.evict_daemon_set_pods),
            ("evictSystemCriticalPods", self.evict_system_critical_pods),
            ("evictFailedBarePods", self.evict_failed_bare_pods),
            ("ignorePvcPods", self.ignore_pvc_pods),
            ("ignorePodsWithoutPDB", self.ignore_pods_without_pdb),
        )

    @property
    def deprecated(self) -> tuple[str, ...]:
        """Booleans that are set, and that podProtections replaces."""
        return tuple(name for name, is_set in self._booleans() if is_set)

    @property
    def protections(self) -> frozenset[str]:
        """Those in force; if either list names any, the lists alone count, else the booleans."""
        lists = self.pod_protections
        if lists.extra_enabled or lists.default_disabled:
            return frozenset({*ON_BY_DEFAULT, *lists.extra_enabled} - set(lists.default_disabled))
        by_name = dict(self._booleans())
        off = {
            "PodsWithLocalStorage": by_name["evictLocalStoragePods"],
            "DaemonSetPods": by_name["evictDaemonSetPods"],
            "SystemCriticalPods": by_name["evictSystemCriticalPods"],
            "FailedBarePods": by_name["evictFailedBarePods"],
        }
        on = {"PodsWithPVC": by_name["ignorePvcPods"], "PodsWithoutPDB": by_name["ignorePodsWithoutPDB"]}
        return frozenset(
            [name for name in ON_BY_DEFAULT if not off[name]] + [name for name, is_set in on.items() if is_set]
        )


EVICT: Final = "descheduler.alpha.kubernetes.io/evict"
"""Whatever its value, a pod that carries it passes every filter."""


class DefaultEvictor:
    """Asked of a frozen cluster; ``evicted`` are the keys of the cycle's victims, which it is shown as they come."""

    def __init__(
        self,
        cluster: Cluster,
        arguments: DefaultEvictorArguments,
        threshold: int | None,
        fitting: Fitting,
        evicted: Set[str],
    ) -> None:
        """``threshold``: the priority from which on pods stay, None where the policy names none."""
        self._cluster = cluster
        self._arguments = arguments
        self._threshold = LARGEST_PRIORITY if threshold is None else threshold
        self._fitting = fitting
        self._evicted = evicted
        self._protections = arguments.protections

    def is_evictable(self, pod: Pod) -> bool:
        """Whether the filter lets a pod through."""
        if EVICT in pod.annotations:
            return True
        arguments = self._arguments
        if arguments.no_eviction_policy == "Mandatory" and PREFER_NO_EVICTION in pod.annotations:
            return False
        if MIRROR in pod.annotations or pod.annotations.get(CONFIG_SOURCE, "api") != "api":
            return False
        if pod.is_terminating or pod.key in self._evicted or self._is_protected(pod):
            return False
        if arguments.label_selector is not None and not selects(arguments.label_selector.read(), pod.labels):
            return False
        return self._has_enough_replicas(pod) and self._is_old_enough(pod)

    def may_go_now(self, pod: Pod) -> bool:
        """What is asked before an eviction: room elsewhere, and the labels of its namespace."""
        return self.is_in_namespace(pod) and (not self._arguments.node_fit or self._fitting.fits_another(pod))

    def is_in_namespace(self, pod: Pod) -> bool:
        """Whether the labels of its namespace let a pod go."""
        wanted = self._arguments.namespace_label_selector
        return wanted is None or selects(wanted.read(), self._cluster.namespace_labels.get(pod.namespace, {}))

    def allows(self, pod: Pod) -> bool:
        """Both questions, as plugins ask that list their victims before they evict."""
        return self.is_evictable(pod) and self.may_go_now(pod)

    def is_passed_over(self, pod: Pod) -> bool:
        """Whether a pod comes last among those of a node."""
        return PREFER_NO_EVICTION in pod.annotations

    def priority_of(self, pod: Pod) -> int | None:
        """The number in its specification; None: it carries none."""
        detail = self._cluster.pod_details.get(pod.key, NO_DETAIL)
        return pod.spec.priority if detail.has_priority or pod.spec.priority else None

    def _is_protected(self, pod: Pod) -> bool:
        return any(
            applies(self, pod) for name, applies in _PROTECTIONS.items() if name in self._protections
        ) or self._is_bare(pod)

    def _is_bare(self, pod: Pod) -> bool:
        """No owner; where FailedBarePods is off, failed ones may go."""
        return not pod.owners and ("FailedBarePods" in self._protections or pod.phase != "Failed")

    def _is_critical(self, pod: Pod) -> bool:
        priority = self.priority_of(pod)
        return priority is not None and (priority >= LARGEST_PRIORITY or priority >= self._threshold)

    def _keeps_local_data(self, pod: Pod) -> bool:
        return any(volume.kind in ("EmptyDir", "HostPath") for volume in pod.volumes)

    def _is_of_daemon_set(self, pod: Pod) -> bool:
        return any(owner.kind == "DaemonSet" for owner in pod.owners)

    def _has_protected_claim(self, pod: Pod) -> bool:
        config = self._arguments.pod_protections.config
        classes = config.pods_with_pvc.protected_storage_classes if config and config.pods_with_pvc else ()
        claims = [volume.claim for volume in pod.volumes if volume.kind == "PersistentVolumeClaim"]
        if not classes:
            return bool(claims)
        names = {found.name for found in classes}
        found = [self._cluster.claim_by_key.get((pod.namespace, claim)) for claim in claims]
        return any(claim is None or not claim.storage_class or claim.storage_class in names for claim in found)

    def _is_uncovered(self, _: Pod) -> bool:
        """Every pod: a real run never fills its list of budgets (kubernetes-sigs/descheduler#1882)."""
        return True

    def _claims_resources(self, pod: Pod) -> bool:
        return self._cluster.pod_details.get(pod.key, NO_DETAIL).claims_resources

    def _has_enough_replicas(self, pod: Pod) -> bool:
        least = self._arguments.min_replicas
        return least <= 1 or len(pod.owners) != 1 or self._of_owner.get(pod.owners[0].uid, 0) >= least

    def _is_old_enough(self, pod: Pod) -> bool:
        least = self._arguments.min_pod_age
        return least is None or (pod.started_at is not None and self._cluster.taken_at - pod.started_at >= least)

    @cached_property
    def _of_owner(self) -> Mapping[str, int]:
        """Pods of any phase and place by the uid of an owner."""
        found: dict[str, int] = {}
        for pod in self._cluster.pods:
            for uid in {owner.uid for owner in pod.owners}:
                found[uid] = found.get(uid, 0) + 1
        return found


_PROTECTIONS: Final = {
    "SystemCriticalPods": DefaultEvictor._is_critical,
    "PodsWithLocalStorage": DefaultEvictor._keeps_local_data,
    "DaemonSetPods": DefaultEvictor._is_of_daemon_set,
    "PodsWithPVC": DefaultEvictor._has_protected_claim,
    "PodsWithoutPDB": DefaultEvictor._is_uncovered,
    "PodsWithResourceClaims": DefaultEvictor._claims_resources,
}
