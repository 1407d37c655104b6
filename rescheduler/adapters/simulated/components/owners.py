"""The controllers that own pods: each makes a replacement for a pod that leaves."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.gates import without_gate
from rescheduler.adapters.simulated.identity import Identity
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, Requirement
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.detachment import controller_as_written

# These wait until the old pod is gone: their pods have fixed names, or a fixed node. All others replace a pod as soon
# as its deletion has begun, while it still holds its room.
_WAITS_UNTIL_GONE = ("StatefulSet", "DaemonSet", "Node")
_KEEPS_NAME = ("StatefulSet", "Node")


class OwnerControllers:
    """ReplicaSets, StatefulSets, DaemonSets and the like. A pod without a controller is gone for good."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings, identity: Identity) -> None:
        self._store = store
        self._settings = settings
        self._identity = identity
        store.on_pod_change(self._pod_changed)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        self._recount(new if new is not None else old)
        owner = None if old is None else controller_as_written(old)
        if old is None or owner is None:
            return
        has_left = (
            new is None if owner.kind in _WAITS_UNTIL_GONE else old.is_active and (new is None or not new.is_active)
        )
        if new is not None and controller_as_written(new) is None:
            has_left = old.is_active
            self._recount(old)
        if has_left:
            self._store.clock.after(self._settings.replacement_seconds, lambda: self._replace(old))

    def _replace(self, pod: Pod) -> None:
        owner = self._store.owner_of(pod)
        if owner is None or owner.is_terminating:
            return
        active = sum(pod.is_active for pod in self._store.members(owner.uid))
        # A DaemonSet wants one pod a node, whatever its count in the recording.
        if owner.kind != "DaemonSet" and active >= (owner.desired_replicas or 0):
            return
        name = pod.name if owner.kind in _KEEPS_NAME else f"{owner.name}-{self._identity.suffix()}"
        if f"{pod.namespace}/{name}" not in self._store.pods:
            created = self._store.put_pod(self._copy(pod, name, owner))
            self._store.event("SuccessfulCreate", created, f"{owner.key} replaces {pod.name}")

    def _copy(self, pod: Pod, name: str, owner: Workload) -> Pod:
        node = pod.node_name if owner.kind == "Node" else None
        made = new_pod(pod, name, self._identity.uid(), self._store.clock.now(), node)
        return structs.replace(made, spec=_pinned(pod.spec, pod.node_name)) if owner.kind == "DaemonSet" else made

    def _recount(self, pod: Pod | None) -> None:
        """Keep ``ready_replicas`` of the owner, and of the Deployment above it, as their controllers do."""
        reference = None if pod is None else pod.controller
        owner = None if reference is None else self._store.workloads.get(reference.uid)
        if owner is None:
            return
        ready = sum(pod.is_active and pod.is_ready for pod in self._store.members(owner.uid))
        self._set_ready(owner, ready)
        above = None if owner.owner is None else self._store.workloads.get(owner.owner.uid)
        if above is not None:
            children = (item for item in self._store.workloads.values() if item.owner == owner.owner)
            self._set_ready(above, sum(child.ready_replicas or 0 for child in children))

    def _set_ready(self, workload: Workload, ready: int) -> None:
        if workload.ready_replicas is not None and workload.ready_replicas != ready:
            self._store.put_workload(structs.replace(workload, ready_replicas=ready))


def new_pod(pod: Pod, name: str, uid: str, now: float, node: str | None = None) -> Pod:
    """A pod as its controller makes it anew, under another name."""
    return structs.replace(
        without_gate(pod),
        name=name,
        uid=uid,
        node_name=node,
        nominated_node=None,
        phase="Pending",
        is_ready=False,
        deletion_at=None,
        created_at=now,
        started_at=None,
        scheduled_at=None,
        held=None,
        restart_count=0,
        ready_at=None,
        trouble="",
    )


def _pinned(spec: PodSpec, node_name: str | None) -> PodSpec:
    """The spec with the affinity to one node that the DaemonSet controller gives each of its pods."""
    affinity = spec.node_affinity or NodeAffinityRules()
    if node_name is None or any(term.fields for term in affinity.required or ()):
        return spec
    field = (Requirement("metadata.name", "In", (node_name,)),)
    terms = affinity.required if affinity.required is not None else (NodeSelectorTerm(),)
    pinned = tuple(structs.replace(term, fields=field) for term in terms)
    return structs.replace(spec, node_affinity=structs.replace(affinity, required=pinned))
