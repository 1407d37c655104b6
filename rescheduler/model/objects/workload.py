"""Workloads that recreate pods, and the disruption budgets that protect them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import OwnerReference


class Workload(Struct, frozen=True, gc=False):
    """A ReplicaSet, Deployment, StatefulSet, DaemonSet, ReplicationController, Job, or an owner known by name only.

    Counts are None where the object does not say. ``is_inferred``: the owner was not in the snapshot, and
    ``desired_replicas`` is the number of pods that carry its uid. ``failure``: why its controller cannot make pods
    (condition ReplicaFailure), in its own word; empty while it can. ``annotations``: those of ours alone.
    ``scaled_at``: the latest time at which the number of replicas can have been changed, None where nobody says.
    ``group``: as in references; others than Kubernetes' own are known by name only.
    ``strategy`` and ``max_surge`` are a Deployment's: how it rolls out ("" where it does not say), and how many pods
    more than it wants there may be meanwhile (a number, or a share of them; None where it does not say).
    """

    kind: str
    namespace: str
    name: str
    uid: str
    owner: OwnerReference | None = None
    selector: LabelSelector | None = None
    desired_replicas: int | None = None
    ready_replicas: int | None = None
    updated_replicas: int | None = None
    current_replicas: int | None = None
    generation: int = 0
    observed_generation: int = 0
    is_paused: bool = False
    is_terminating: bool = False
    is_inferred: bool = False
    failure: str = ""
    annotations: Mapping[str, str] = {}
    scaled_at: float | None = None
    group: str | None = None
    strategy: str = ""
    max_surge: int | str | None = None

    @property
    def key(self) -> str:
        """``KIND NAMESPACE/NAME``, and ``KIND.GROUP NAMESPACE/NAME`` of a kind that is not Kubernetes' own."""
        return f"{self.kind}{f'.{self.group}' if self.group else ''} {self.namespace}/{self.name}"


def kind_and_group(key: str) -> tuple[str, str | None]:
    """Kind and group of a workload by its key, the group as in references; keys in older ledgers have none."""
    kind, _, group = key.partition(" ")[0].partition(".")
    return kind, group or None


class DisruptionBudget(Struct, frozen=True, gc=False):
    """A PodDisruptionBudget with the disruption controller's own count.

    ``problem`` says why the status cannot be trusted (no status yet, unreadable selector); then nothing is allowed.
    ``disrupted_pods`` are names of pods whose eviction was granted and which are still there.
    """

    namespace: str
    name: str
    uid: str = ""
    selector: LabelSelector | None = None
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    generation: int = 0
    observed_generation: int = 0
    disrupted_pods: tuple[str, ...] = ()
    unhealthy_pod_eviction_policy: str = "IfHealthyBudget"
    min_available: str | None = None
    max_unavailable: str | None = None
    problem: str | None = None

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"


class Namespace(Struct, frozen=True, gc=False):
    """A namespace with the labels that namespace selectors look at; ``annotations`` as far as they steer disruption."""

    name: str
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class ResourceQuota(Struct, frozen=True, gc=False):
    """What pods of a namespace may ask for together, and what they do, by the quota's own names (requests.cpu, pods).

    Cpu is in millicores. ``scopes``: names of its scopes; with any, it counts only some of the pods.
    """

    namespace: str
    name: str
    hard: tuple[tuple[str, int], ...] = ()
    used: tuple[tuple[str, int], ...] = ()
    scopes: tuple[str, ...] = ()


class PodAutoscaler(Struct, frozen=True, gc=False):
    """A HorizontalPodAutoscaler: which workload it scales, and what it is at.

    Counts and the time of its last change (seconds since the epoch) are None where it does not say.
    ``target_group``: as in references.
    """

    namespace: str
    name: str
    target_kind: str = ""
    target_name: str = ""
    current_replicas: int | None = None
    desired_replicas: int | None = None
    last_scale_at: float | None = None
    target_group: str | None = None


class Service(Struct, frozen=True, gc=False):
    """A Service; its selector feeds kube-scheduler's default spreading."""

    namespace: str
    name: str
    selector: Mapping[str, str] = {}


class NetworkPolicy(Struct, frozen=True, gc=False):
    """A NetworkPolicy, as far as it says which pods it is about.

    ``selectors``: of the pods that it holds for, and of those that it lets talk to them or be talked to.
    """

    namespace: str
    name: str
    selectors: tuple[LabelSelector, ...] = ()


class PriorityClass(Struct, frozen=True, gc=False):
    """A named priority. ``is_default``: of pods that name no class."""

    name: str
    value: int
    preemption_policy: str = "PreemptLowerPriority"
    is_default: bool = False


SYSTEM_CLASSES: Final = (
    PriorityClass("system-cluster-critical", 2_000_000_000),
    PriorityClass("system-node-critical", 2_000_001_000),
)
"""Those that every cluster has."""
