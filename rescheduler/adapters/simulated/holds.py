"""Placeholders: gated pods nominated to a node, made by a Job with a deadline, so that they vanish by themselves."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.identity import Identity
from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.annotations import HOLD, HOLD_GATE, MANAGED_BY, OURS, PLAN
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, DEFAULT_MEMORY_BYTES, DEFAULT_MILLICORES, MEMORY, resources

_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class SimulatedHoldKeeper:
    """Jobs of placeholders, by the name each was requested with."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings, identity: Identity, cluster: Cluster) -> None:
        self._store = store
        self._settings = settings
        self._identity = identity
        self._priorities = _priorities(cluster)
        self._pods: dict[str, Pod] = {}
        self._ends_at: dict[str, float] = {}

    def make(self, request: HoldRequest) -> None:
        """Create the Job and nominate its gated pod. Raises ClusterError for a name in use or an unknown class."""
        if request.name in self._pods:
            raise ClusterError(f'jobs.batch "{request.name}" already exists')
        priority = self._priorities.get(request.priority_class_name)
        if priority is None:
            wanted = request.priority_class_name
            raise ClusterError(f'pods "{request.name}" is forbidden: no PriorityClass with name {wanted} was found')
        pod = self._store.put_pod(self._placeholder(request, priority))
        self._store.write("create", "jobs", pod.namespace, request.name, request.node)
        self._pods[request.name] = self._store.put_pod(structs.replace(pod, nominated_node=request.node))
        self._store.write("patch", "pods/status", pod.namespace, pod.name, request.node)
        self._set_deadline(request, pod)

    def renew(self, request: HoldRequest) -> bool:
        """Give a placeholder its whole deadline again; False if it is gone."""
        pod = self._pods.get(request.name)
        if pod is None:
            return False
        self._store.write("patch", "jobs", pod.namespace, request.name)
        self._set_deadline(request, pod)
        return True

    def remove(self, name: str) -> None:
        """Delete the Job and its pod; unknown names are fine."""
        pod = self._pods.pop(name, None)
        if pod is not None:
            self._store.write("delete", "jobs", pod.namespace, name)
            self._store.remove_pod(pod.key)

    def names(self) -> list[str]:
        """Names of placeholders that still stand, in order of their making."""
        return list(self._pods)

    def _set_deadline(self, request: HoldRequest, pod: Pod) -> None:
        self._ends_at[pod.uid] = self._store.clock.monotonic() + request.deadline_seconds
        self._store.clock.after(request.deadline_seconds, lambda: self._expire(request.name, pod), is_background=True)

    def _expire(self, name: str, pod: Pod) -> None:
        standing = self._pods.get(name)
        # A renewed placeholder has a later end than the one this alarm was set for.
        if standing is not None and standing.uid == pod.uid and self._ends_at[pod.uid] <= self._store.clock.monotonic():
            self._store.event("DeadlineExceeded", self._pods.pop(name))
            self._store.remove_pod(pod.key)

    def _placeholder(self, request: HoldRequest, priority: int) -> Pod:
        scored = {CPU: DEFAULT_MILLICORES, MEMORY: DEFAULT_MEMORY_BYTES, **dict(request.requests)}
        return Pod(
            namespace=self._settings.hold_namespace,
            name=f"{request.name}-{self._identity.suffix()}",
            uid=self._identity.uid(),
            spec=PodSpec(
                requests=request.requests,
                scored_requests=resources((key, scored[key]) for key in (CPU, MEMORY)),
                priority=priority,
                priority_class_name=request.priority_class_name,
                scheduler_name=request.scheduler_name,
                tolerations=(Toleration(operator="Exists"),),
                termination_grace_seconds=0,
            ),
            labels={MANAGED_BY: OURS, PLAN: request.plan_id, HOLD: request.name},
            phase="Pending",
            is_ready=False,
            created_at=self._store.clock.now(),
            owners=(OwnerReference("Job", request.name, self._identity.uid()),),
            scheduling_gates=(HOLD_GATE,),
        )


def _priorities(cluster: Cluster) -> dict[str, int]:
    """Priority by class name; classes that a recording left out are known by the pods that carry them."""
    by_pods = {pod.spec.priority_class_name: pod.spec.priority for pod in cluster.pods}
    listed = {item.name: item.value for item in cluster.priority_classes}
    return {**by_pods, **_SYSTEM_PRIORITIES, **listed, "": 0}
