"""ReplicaSets take pods that their selectors match and that nobody owns, and delete those that are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.components.owners import is_active
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import Workload

_PHASES = ("Pending", "Unknown", "Running")


class Adoption:
    """The part of the ReplicaSet controller that looks at pods without a controller."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings, kubelet: Kubelet) -> None:
        self._store = store
        self._settings = settings
        self._kubelet = kubelet
        store.on_pod_change(self._pod_changed)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Only a pod that has just lost its controller, or whose labels have changed, may be taken by another."""
        if new is None or old is None or any(owner.is_controller for owner in new.owners):
            return
        if old.labels != new.labels and is_active(new):
            self._store.clock.after(self._settings.replacement_seconds, lambda: self._adopt(new))

    def _adopt(self, pod: Pod) -> None:
        now = self._store.same(pod)
        if now is None or not is_active(now) or any(owner.is_controller for owner in now.owners):
            return
        owner = next((item for item in self._store.workloads.values() if _wants(item, now)), None)
        if owner is None:
            return
        others = (item for item in now.owners if item.uid != owner.uid)
        reference = OwnerReference(owner.kind, owner.name, owner.uid)
        self._store.put_pod(structs.replace(now, owners=(*others, reference)))
        self._shrink(owner)

    def _shrink(self, owner: Workload) -> None:
        """Delete as many as there are too many."""
        active = [pod for pod in self._store.members(owner.uid) if is_active(pod)]
        for pod in surplus(active, owner.desired_replicas or 0):
            self._store.event("SuccessfulDelete", pod, f"{owner.key} has pods too many")
            self._kubelet.delete(pod)


def surplus(pods: Sequence[Pod], wanted: int) -> list[Pod]:
    """The pods that a ReplicaSet deletes, in the order of its controller: without a node first, then unready ones,
    those of the lowest deletion cost, those with most siblings on their node, and of these the youngest."""
    on_node = Counter(pod.node_name for pod in pods)

    def rank(pod: Pod) -> tuple[bool, int, bool, int, int, float, int, float]:
        return (
            pod.node_name is not None,
            _PHASES.index(pod.phase) if pod.phase in _PHASES else 0,
            pod.is_ready,
            _cost(pod),
            -on_node[pod.node_name],
            -(pod.ready_at or 0.0),
            -pod.restart_count,
            -(pod.created_at or 0.0),
        )

    return sorted(pods, key=rank)[: max(0, len(pods) - wanted)]


def _cost(pod: Pod) -> int:
    try:
        return int(pod.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0


def _wants(owner: Workload, pod: Pod) -> bool:
    is_own = owner.kind == "ReplicaSet" and owner.namespace == pod.namespace and not owner.is_terminating
    return is_own and owner.selector is not None and selects(owner.selector, pod.labels)
