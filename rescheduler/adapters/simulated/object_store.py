"""The objects of the simulated cluster, with resource versions and listeners, as an API server keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.detachment import controller_as_written

# What the simulated cluster remembers: writes that came in through its API, and events on its objects.


class Write(NamedTuple):
    """One mutating call that the API took, dry runs left out; ``resource`` as in an audit log (``pods/eviction``)."""

    at: float
    verb: str
    resource: str
    namespace: str
    name: str
    detail: str = ""


class Event(NamedTuple):
    """Something that happened to a pod, in the words of the component that did it."""

    at: float
    reason: str
    pod: str
    message: str = ""


PodListener: TypeAlias = Callable[[Pod | None, Pod | None], None]


class ObjectStore:
    """All objects as they stand now. Dictionaries, never sets, so that every iteration has one order.

    Pods are kept by ``NAMESPACE/NAME``, workloads by uid, budgets by ``NAMESPACE/NAME``.
    """

    def __init__(self, cluster: Cluster, clock: SimulatedClock) -> None:
        self.clock = clock
        self.nodes = {node.name: node for node in cluster.nodes}
        self.pods = {pod.key: pod for pod in cluster.pods}
        self.budgets = {budget.key: budget for budget in cluster.budgets}
        self.workloads = {workload.uid: workload for workload in cluster.workloads}
        self.writes: list[Write] = []
        self.events: list[Event] = []
        self._initial = cluster
        self._latest = cluster
        self._is_changed = False
        self._version = max([1000, *(int(pod.resource_version) for pod in cluster.pods if _is_number(pod))])
        self._members: dict[str, dict[str, None]] = {}
        self._by_namespace: dict[str, dict[str, None]] = {}
        self._pod_listeners: list[PodListener] = []
        self._node_listeners: list[Callable[[], None]] = []
        self._admitters: list[Callable[[Pod], Pod]] = []
        for pod in cluster.pods:
            self._index(pod)

    def on_pod_change(self, listener: PodListener) -> None:
        """Call ``listener(old, new)`` after each change of a pod, in order of registration."""
        self._pod_listeners.append(listener)

    def on_node_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after each change of the nodes."""
        self._node_listeners.append(listener)

    def on_admission(self, admit: Callable[[Pod], Pod]) -> None:
        """Let ``admit`` change each pod that is created, before anybody sees it."""
        self._admitters.append(admit)

    def put_pod(self, pod: Pod) -> Pod:
        """Create or replace a pod; its resource version is the store's next."""
        old = self.pods.get(pod.key)
        if old is None:
            for admit in self._admitters:
                pod = admit(pod)
        self._version += 1
        new = structs.replace(pod, resource_version=str(self._version))
        if old is not None and controller_as_written(old) != controller_as_written(new):
            self._unindex(old)
        self.pods[new.key] = new
        self._index(new)
        self._tell(old, new)
        return new

    def remove_pod(self, key: str) -> None:
        """Let a pod be gone; unknown keys are fine."""
        old = self.pods.pop(key, None)
        if old is not None:
            self._unindex(old)
            self._tell(old, None)

    def put_budget(self, budget: DisruptionBudget) -> None:
        """Create or replace a PodDisruptionBudget."""
        self.budgets[budget.key] = budget
        self._is_changed = True

    def remove_budget(self, key: str) -> None:
        """Let a PodDisruptionBudget be gone; unknown keys are fine."""
        self.budgets.pop(key, None)
        self._is_changed = True

    def remove_workload(self, uid: str) -> None:
        """Let a workload be gone; its pods stay as they are. Unknown uids are fine."""
        self.workloads.pop(uid, None)
        self._is_changed = True

    def put_workload(self, workload: Workload) -> None:
        """Create or replace a workload."""
        self.workloads[workload.uid] = workload
        self._is_changed = True

    def put_node(self, node: Node) -> None:
        """Create or replace a node."""
        self.nodes[node.name] = node
        self._nodes_changed()

    def remove_node(self, name: str) -> None:
        """Let a node be gone; its pods stay as they are, as they do until the node controller comes by."""
        self.nodes.pop(name, None)
        self._nodes_changed()

    def same(self, pod: Pod) -> Pod | None:
        """The pod of this name and uid as it stands now, or None."""
        now = self.pods.get(pod.key)
        return now if now is not None and now.uid == pod.uid else None

    def members(self, owner_uid: str) -> list[Pod]:
        """Pods whose controller has this uid, in order of creation; those that only say so are none of them."""
        owner = self.workloads.get(owner_uid)
        pods = (self.pods[key] for key in self._members.get(owner_uid, ()))
        return [pod for pod in pods if owner is None or _claims(owner, pod)]

    def in_namespace(self, namespace: str) -> list[Pod]:
        """Pods of a namespace, in order of creation."""
        return [self.pods[key] for key in self._by_namespace.get(namespace, ())]

    def owner_of(self, pod: Pod) -> Workload | None:
        """The workload that recreates the pod; one that is not in the recording wants as many pods as it began with."""
        reference = pod.controller
        known = None if reference is None else self.workloads.get(reference.uid)
        if known is None:
            return self._initial.owner_of(pod)
        return known if _claims(known, pod) else None

    def snapshot(self) -> Cluster:
        """Everything as it stands now, in a reader's order; one object as long as nothing changes."""
        now = self.clock.now()
        if self._is_changed or self._latest.taken_at != now:
            self._latest = replace(
                self._initial,
                nodes=tuple(self.nodes[name] for name in sorted(self.nodes)),
                pods=tuple(sorted(self.pods.values(), key=lambda pod: (pod.namespace, pod.name))),
                workloads=tuple(self.workloads.values()),
                budgets=tuple(self.budgets.values()),
                taken_at=now,
            )
            self._is_changed = False
        return self._latest

    def write(self, verb: str, resource: str, namespace: str, name: str, detail: str = "") -> None:
        """Note a mutating call."""
        self.writes.append(Write(self.clock.now(), verb, resource, namespace, name, detail))

    def event(self, reason: str, pod: Pod, message: str = "") -> None:
        """Note what happened to a pod."""
        self.events.append(Event(self.clock.now(), reason, pod.key, message))

    def _index(self, pod: Pod) -> None:
        self._by_namespace.setdefault(pod.namespace, {})[pod.key] = None
        owner = controller_as_written(pod)
        if owner is not None:
            self._members.setdefault(owner.uid, {})[pod.key] = None

    def _unindex(self, pod: Pod) -> None:
        self._by_namespace[pod.namespace].pop(pod.key)
        owner = controller_as_written(pod)
        if owner is not None:
            self._members[owner.uid].pop(pod.key)

    def _tell(self, old: Pod | None, new: Pod | None) -> None:
        self._is_changed = True
        for listener in self._pod_listeners:
            listener(old, new)

    def _nodes_changed(self) -> None:
        self._is_changed = True
        for listener in self._node_listeners:
            listener()


def _claims(owner: Workload, pod: Pod) -> bool:
    """Whether a controller takes a pod with its uid for its own: one of its namespace that its selector matches."""
    return pod.namespace == owner.namespace and (owner.selector is None or selects(owner.selector, pod.labels))


def _is_number(pod: Pod) -> bool:
    return pod.resource_version.isascii() and pod.resource_version.isdigit() and len(pod.resource_version) < 19
