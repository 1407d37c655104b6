"""The simulated world as it truly is, for checkers; nothing under test ever sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rescheduler.adapters.simulated.components.budgets import selects
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.surge_mark import labels_before
from rescheduler.model.objects.workload import DisruptionBudget, Workload


class Recount(NamedTuple):
    """What a PodDisruptionBudget would say if its controller were never late."""

    healthy: int
    desired: int
    expected: int

    @property
    def allowed(self) -> int:
        """Disruptions that are allowed."""
        return max(0, self.healthy - self.desired) if self.expected > 0 else 0


class Truth:
    """All objects as they stand now. Workloads are named by the uid of the TOP owner (the Deployment).

    ``run``: how the run was set up (``settings.RunSettings``): seed, policy, processes, faults.
    """

    def __init__(self, store: ObjectStore, ledger: object, run: object) -> None:
        self._store = store
        self._ledger = ledger
        self.run = run

    @property
    def t(self) -> float:
        """True seconds since the run began."""
        return self._store.clock.monotonic()

    def epoch(self, t: float | None = None) -> float:
        """A true time (by default now) in seconds since 1970."""
        return self._store.clock.now() + ((self.t if t is None else t) - self.t)

    @property
    def pods(self) -> Mapping[str, Pod]:
        """Pods by ``NAMESPACE/NAME``."""
        return self._store.pods

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Nodes by name."""
        return self._store.nodes

    @property
    def budgets(self) -> Mapping[str, DisruptionBudget]:
        """PodDisruptionBudgets by ``NAMESPACE/NAME``, with the status that the controller wrote (maybe late)."""
        return self._store.budgets

    @property
    def workloads(self) -> Mapping[str, Workload]:
        """Workloads by uid, ReplicaSets under their Deployments among them."""
        return self._store.workloads

    @property
    def ledger(self) -> Ledger:
        """The ledger as it stands."""
        return self._ledger.ledger  # type: ignore[attr-defined,no-any-return]

    def pod_of_uid(self, namespace: str, name: str, uid: str) -> Pod | None:
        """The pod, if it still is the one of this uid."""
        pod = self._store.pods.get(f"{namespace}/{name}")
        return pod if pod is not None and pod.uid == uid else None

    def workload_of(self, pod: Pod) -> str:
        """Uid of the top of the pod's chain of owners; "" without one, or where it only claims to have one."""
        reference = pod.controller
        uid = "" if reference is None else reference.uid
        seen: set[str] = set()
        while uid in self._store.workloads and uid not in seen:
            seen.add(uid)
            owner = self._store.workloads[uid]
            if not self.belongs(pod, owner):
                return ""
            if owner.owner is None:
                break
            uid = owner.owner.uid
        return uid

    def belongs(self, pod: Pod, owner: Workload) -> bool:
        """Whether the owner that a pod names can be its owner: of its namespace, by its selector."""
        labels = labels_before(pod.labels, pod.annotations)
        return pod.namespace == owner.namespace and selects(owner.selector, labels)

    def forged(self, pod: Pod) -> bool:
        """Whether the pod names an owner that is not its own."""
        return pod.controller is not None and bool(pod.controller.uid) and not self.workload_of(pod)

    def members(self, workload: str) -> Sequence[Pod]:
        """All pods of a top workload, whatever their state."""
        children = [item.uid for item in self._store.workloads.values() if item.owner and item.owner.uid == workload]
        claiming = [pod for uid in (workload, *children) for pod in self._store.members(uid)]
        return [pod for pod in (*claiming, *self.out()) if self.workload_of(pod) == workload]

    def out(self) -> Sequence[Pod]:
        """Pods that were taken out of their ReplicaSets, which serve on."""
        if not getattr(self.run, "has_surges", False):
            return ()
        pods = [pod for pod in self._store.pods.values() if SURGE in pod.annotations]
        return [pod for pod in pods if not any(owner.is_controller for owner in pod.owners)]

    def desired(self, workload: str) -> int:
        """Replicas that its owner wants now; 0 where it is gone or says nothing."""
        found = self._store.workloads.get(workload)
        return 0 if found is None or found.is_terminating else found.desired_replicas or 0

    def ready(self, workload: str) -> int:
        """Pods of it that run, are Ready and have no deletion mark, on a node that is there and Ready."""
        return sum(self.works(pod) for pod in self.members(workload))

    def works(self, pod: Pod) -> bool:
        """Whether a pod is of use to its workload: running, Ready, staying."""
        node = self._store.nodes.get(pod.node_name or "")
        is_up = node is not None and node.is_ready
        return is_up and pod.phase == "Running" and pod.is_ready and not pod.is_terminating

    def budgets_of(self, pod: Pod) -> Sequence[DisruptionBudget]:
        """Budgets that select the pod."""
        found = (budget for budget in self._store.budgets.values() if budget.namespace == pod.namespace)
        return [budget for budget in found if selects(budget.selector, pod.labels)]

    def recount(self, budget: DisruptionBudget) -> Recount:
        """The counts of a budget by its rules and the pods as they are now."""
        pods = [pod for pod in self._store.in_namespace(budget.namespace) if selects(budget.selector, pod.labels)]
        healthy = sum(self.works(pod) for pod in pods)
        wanted = {
            reference.uid: (self._store.workloads[reference.uid].desired_replicas or 0)
            for pod in pods
            if (reference := pod.controller) is not None and reference.uid in self._store.workloads
        }
        scale = sum(wanted.values())
        if budget.max_unavailable is not None:
            return Recount(healthy, max(0, scale - _share(budget.max_unavailable, scale)), scale)
        if budget.min_available is None:
            return Recount(healthy, budget.desired_healthy, len(pods))
        if budget.min_available.endswith("%"):
            return Recount(healthy, _share(budget.min_available, scale), scale)
        return Recount(healthy, int(budget.min_available), len(pods))

    def ours(self) -> Sequence[str]:
        """What stands and is ours: placeholders, pods gated or out, taints (``pod NS/NAME``, ``node NAME``)."""
        pods = [f"pod {pod.key}" for pod in self._store.pods.values() if _is_ours(pod)]
        nodes = [
            f"node {node.name}"
            for node in self._store.nodes.values()
            if any(taint.key.startswith("rescheduler.dev/") for taint in node.taints)
        ]
        return [*pods, *nodes]


def _is_ours(pod: Pod) -> bool:
    is_made = pod.labels.get("app.kubernetes.io/managed-by") == "rescheduler"
    is_out = SURGE in pod.annotations and not pod.is_terminating  # one that was evicted may take long to end
    return is_made or is_out or any(gate.startswith("rescheduler.dev/") for gate in pod.scheduling_gates)


def _share(text: str, whole: int) -> int:
    return -(-int(text[:-1]) * whole // 100) if text.endswith("%") else int(text)
