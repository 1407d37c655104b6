"""ReplicaSets take pods that their selectors match and that nobody owns, and delete those that are too many."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.scale_down_order import first_to_go
from rescheduler.model.objects.workload import Workload


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
        if old.labels != new.labels and new.is_active:
            self._store.clock.after(self._settings.replacement_seconds, lambda: self._adopt(new))

    def _adopt(self, pod: Pod) -> None:
        now = self._store.same(pod)
        if now is None or not now.is_active or any(owner.is_controller for owner in now.owners):
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
        active = self._active(owner)
        too_many = len(active) - (owner.desired_replicas or 0)
        for pod in first_to_go(active, too_many, self._company(owner), self._store.clock.now()):
            self._store.event("SuccessfulDelete", pod, f"{owner.key} has pods too many")
            self._kubelet.delete(pod)

    def _company(self, owner: Workload) -> list[Pod]:
        """Active pods of all ReplicaSets of the same Deployment."""
        above = owner.owner
        if above is None:
            return []
        related = [item for item in self._store.workloads.values() if item.kind == owner.kind and item.owner == above]
        return [pod for item in related for pod in self._active(item)]

    def _active(self, owner: Workload) -> list[Pod]:
        return [pod for pod in self._store.members(owner.uid) if pod.is_active]


def _wants(owner: Workload, pod: Pod) -> bool:
    is_own = owner.kind == "ReplicaSet" and owner.namespace == pod.namespace and not owner.is_terminating
    return is_own and owner.selector is not None and selects(owner.selector, pod.labels)
