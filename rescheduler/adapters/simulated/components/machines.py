"""Whoever owns the pods of virtual machines: he answers their evictions with no, and moves the machines himself.

As KubeVirt does: a new pod of the same owner comes up beside the old one, the machine moves from one to the other, and
the old pod ends as Succeeded. What does not get that far leaves the old pod as it was.
"""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.components.owners import new_pod
from rescheduler.adapters.simulated.identity import Identity
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS, REQUEST_EVICT_ONLY
from rescheduler.model.objects.pod import Pod


class Machines:
    """The webhook of evictions and the controller behind it, of all pods that carry his annotation."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings, kubelet: Kubelet, identity: Identity) -> None:
        self._store = store
        self._settings = settings
        self._kubelet = kubelet
        self._identity = identity
        self._sources: dict[str, Pod] = {}
        """Pods whose machines are on their way, by uid of the new pod."""
        store.on_pod_change(self._pod_changed)

    def answer(self, pod: Pod, *, dry_run: bool) -> EvictionAnswer | None:
        """What the webhook says of an eviction; None: nothing. It says the same to a dry run, and does nothing."""
        if REQUEST_EVICT_ONLY not in pod.annotations or not pod.is_active or pod.controller is None:
            return None
        if EVICTION_IN_PROGRESS in pod.annotations:
            return EvictionAnswer("OwnerMoves", f"Evacuation in progress: {pod.controller.written}")
        if not dry_run:
            marked = structs.replace(pod, annotations={**pod.annotations, EVICTION_IN_PROGRESS: ""})
            self._store.event("EvacuationTriggered", self._store.put_pod(marked))
            self._store.clock.after(self._settings.replacement_seconds, lambda: self._begin(pod))
        return EvictionAnswer("OwnerMoves", f"Eviction triggered evacuation of {pod.controller.written}")

    def _begin(self, pod: Pod) -> None:
        """Make the new pod, which has time to get Ready and take the machine over."""
        now = self._store.same(pod)
        if now is None or not now.is_active:
            return
        name = f"{pod.name.rsplit('-', 1)[0]}-{self._identity.suffix()}"
        copy = new_pod(pod, name, self._identity.uid(), self._store.clock.now())
        self._sources[copy.uid] = pod
        created = self._store.put_pod(copy)
        self._store.event("SuccessfulCreate", created, f"takes the machine of {pod.name} over")
        self._store.clock.after(self._settings.migration_patience_seconds, lambda: self._give_up(created))

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is None or new.uid not in self._sources or not new.is_ready or (old is not None and old.is_ready):
            return
        seconds = self._settings.migration_of(self._sources[new.uid])
        if seconds is not None:
            self._store.clock.after(seconds, lambda: self._end(new))

    def _end(self, target: Pod) -> None:
        """The machine runs in the new pod, unless one of the two is gone by now."""
        source = self._sources.get(target.uid)
        old = None if source is None else self._store.same(source)
        new = self._store.same(target)
        if old is None or new is None or not (old.is_active and new.is_active):
            return
        del self._sources[target.uid]
        self._store.event("EvacuationSucceeded", old)
        self._store.put_pod(structs.replace(_unmarked(old), phase="Succeeded", is_ready=False))

    def _give_up(self, target: Pod) -> None:
        """The old pod stays as it was, and the new one goes."""
        source = self._sources.pop(target.uid, None)
        if source is None:
            return
        new, old = self._store.same(target), self._store.same(source)
        if new is not None:
            self._kubelet.delete(new)
        if old is not None:
            self._store.event("EvacuationFailed", old)
            self._store.put_pod(_unmarked(old))


def _unmarked(pod: Pod) -> Pod:
    left = {key: value for key, value in pod.annotations.items() if key != EVICTION_IN_PROGRESS}
    return structs.replace(pod, annotations=left)
