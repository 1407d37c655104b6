"""A Kubernetes cluster in memory, with its own clock: what a plan can be carried out on without Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.components.adoption import Adoption
from rescheduler.adapters.simulated.components.budgets import DisruptionController, selects
from rescheduler.adapters.simulated.components.kubelet import Kubelet
from rescheduler.adapters.simulated.components.machines import Machines
from rescheduler.adapters.simulated.components.owners import OwnerControllers
from rescheduler.adapters.simulated.components.scheduler import SimulatedScheduler
from rescheduler.adapters.simulated.detaching import Detacher
from rescheduler.adapters.simulated.evictions import EvictionHandler
from rescheduler.adapters.simulated.gates import GateKeeper
from rescheduler.adapters.simulated.holds import SimulatedHoldKeeper
from rescheduler.adapters.simulated.identity import Identity
from rescheduler.adapters.simulated.object_store import Event, ObjectStore, Write
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.taints import SimulatedNodeTaints
from rescheduler.adapters.vicinity import NarrowReads, read_vicinity
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionTarget, HoldRequest
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.detachment import Detachment, as_of_its_owner
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers


class SimulatedCluster(ExecutionTarget, NarrowReads):
    """A target for plans, and a reader: owners, PodDisruptionBudgets, kubelets, and a scheduler of our own.

    It begins as ``cluster`` and lives on ``clock``, which stands still but for its ``sleep`` and for the little time
    that calls take. ``schedulers`` place pods (by default one, as kube-scheduler comes). The same cluster, seed and
    calls lead to the same end. What runs in it may be replaced in a subclass, part by part.
    """

    kubelet_class: ClassVar = Kubelet
    owners_class: ClassVar = OwnerControllers
    scheduler_class: ClassVar = SimulatedScheduler

    def __init__(
        self,
        cluster: Cluster,
        *,
        seed: int = 0,
        schedulers: Schedulers = DEFAULTS,
        settings: SimulationSettings | None = None,
        clock: SimulatedClock | None = None,
    ) -> None:
        self.settings = settings or SimulationSettings()
        self.clock = clock or SimulatedClock(cluster.taken_at)
        random = np.random.default_rng(seed)
        identity = Identity(random)
        self._store = ObjectStore(cluster, self.clock)
        self._kubelet = self.kubelet_class(self._store, self.settings)
        self._owners = self.owners_class(self._store, self.settings, identity)
        self._budgets = budgets = DisruptionController(self._store, self.settings)
        machines = Machines(self._store, self.settings, self._kubelet, identity)
        self._evictions = EvictionHandler(self._store, budgets, self._kubelet, machines)
        Adoption(self._store, self.settings, self._kubelet)
        self._detacher = Detacher(self._store, self.settings, cluster.services)
        self._gates = GateKeeper(self._store, self.settings)
        self._holds = SimulatedHoldKeeper(self._store, self.settings, identity, cluster)
        self._taints = SimulatedNodeTaints(self._store, self.settings)
        self._scheduler = self.scheduler_class(self._store, self.settings, schedulers, random)

    @property
    def writes(self) -> Sequence[Write]:
        """Every mutating call that came in and was granted, in order; dry runs left out."""
        return tuple(self._store.writes)

    @property
    def events(self) -> Sequence[Event]:
        """What happened to pods, in order."""
        return tuple(self._store.events)

    @property
    def ties(self) -> Mapping[str, Sequence[str]]:
        """By the key of a pod that was placed, the nodes that scored alike, where there were several: one was drawn."""
        return self._scheduler.ties

    def read(self) -> Cluster:
        """A fresh snapshot, taken now, sorted as a reader sorts it."""
        return as_read(self._store.snapshot())

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it stands now, or None."""
        found = self._store.pods.get(f"{namespace}/{name}")
        return None if found is None else as_of_its_owner(found)

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """Pods of a namespace that a selector matches (None: all), as they stand now, by name."""
        pods = self._store.in_namespace(namespace)
        found = (pod for pod in pods if selector is None or selects(selector, pod.labels))
        return [as_of_its_owner(pod) for pod in sorted(found, key=lambda pod: pod.name)]

    def pods_on(self, node: str) -> Sequence[Pod]:
        """The pods that are bound to a node."""
        return [as_of_its_owner(pod) for pod in self._store.snapshot().pods if pod.node_name == node]

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """The PodDisruptionBudgets of one namespace."""
        return [budget for budget in self._store.budgets.values() if budget.namespace == namespace]

    def read_node(self, name: str) -> Node | None:
        """A node as it stands now, or None."""
        return self._store.nodes.get(name)

    def read_workload(self, known: Workload) -> Workload | None:
        """An owner of this kind and name, or None."""
        return next((found for found in self._store.workloads.values() if found.key == known.key), None)

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """What a move depends on, as it stands now."""
        return read_vicinity(self, move, cluster)

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Ask for one eviction; see EvictionHandler for what is checked."""
        self.clock.sleep(self.settings.api_seconds)
        return self._evictions.evict(pod, resource_version, dry_run=dry_run)

    def can_hold(self) -> str | None:
        """None if placeholders work here, else the reason why not."""
        return self.settings.cannot_hold

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders and nominate them; raises ClusterError where that is not possible."""
        if self.settings.cannot_hold is not None:
            raise ClusterError(self.settings.cannot_hold)
        for request in requests:
            self._holds.make(request)
        self.clock.sleep(self.settings.hold_seconds)

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Give placeholders their whole deadline again, counted from now; the names of those that are gone."""
        self.clock.sleep(self.settings.api_seconds)
        return [request.name for request in requests if not self._holds.renew(request)]

    def release(self, names: Sequence[str]) -> None:
        """Remove placeholders by the names they were requested with; unknown names are fine."""
        for name in names:
            self._holds.remove(name)
        self.clock.sleep(self.settings.release_seconds)

    def can_gate(self) -> str | None:
        """None if new pods can be held at a scheduling gate here, else the reason why not."""
        return self.settings.cannot_gate

    def gate_replacements(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Hold new pods of these owners (uids) at our gate; raises ClusterError where another plan's rule stands."""
        self._gates.put(owners, plan_id, deadline_seconds)

    def ungate(self, pod: PodReference) -> bool:
        """Take our gate off a pod; False if it is gone or another by now."""
        return self._gates.let_go(pod)

    def can_taint(self) -> str | None:
        """None if nodes can be tainted here, else the reason why not."""
        return self.settings.cannot_taint

    def taint(self, nodes: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Put our own taint on nodes, or renew it; raises ClusterError where another plan's stands or ours was lost."""
        self._taints.put(nodes, plan_id, deadline_seconds)

    def untaint(self, nodes: Sequence[str]) -> None:
        """Take our own taint off nodes."""
        self._taints.take_off(nodes)

    def can_surge(self) -> str | None:
        """None if pods can be taken out of their ReplicaSets here, else the reason why not."""
        return self.settings.cannot_surge

    def detach(self, pod: PodReference, resource_version: str, detachment: Detachment) -> bool:
        """Take exactly this pod out of its ReplicaSet; False if it has changed since it was read."""
        return self._detacher.detach(pod, resource_version, detachment)

    def give_back(self, pod: PodReference) -> bool:
        """Undo ``detach``; False if there is nothing to give back."""
        return self._detacher.give_back(pod)

    def read_endpoints(self, namespace: str) -> Sequence[ServiceEndpoints]:
        """Who answers for the Services of one namespace."""
        return self._detacher.endpoints(namespace)

    def leftovers(self) -> Sequence[str]:
        """Names of placeholders that still exist."""
        return self._holds.names()

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Set nominatedNodeName of a pending pod; False if it is bound, gone or another by now."""
        self.clock.sleep(self.settings.api_seconds)
        standing = self._store.pods.get(pod.key)
        if standing is None or not standing.is_pending or (pod.uid and pod.uid != standing.uid):
            return False
        self._store.write("patch", "pods/status", pod.namespace, pod.name, node)
        self._store.put_pod(structs.replace(standing, nominated_node=node))
        return True

    def withdraw_nomination(self, pod: PodReference, node: str) -> bool:
        """Take a nomination to this node off a pending pod; False if it does not stand (any more)."""
        self.clock.sleep(self.settings.api_seconds)
        standing = self._store.pods.get(pod.key)
        if standing is None or not standing.is_pending or standing.nominated_node != node:
            return False
        if pod.uid and pod.uid != standing.uid:
            return False
        self._store.write("patch", "pods/status", pod.namespace, pod.name, "")
        self._store.put_pod(structs.replace(standing, nominated_node=None))
        return True

    def record(
        self, pod: PodReference, reason: str, message: str, *, action: str = "", is_warning: bool = False
    ) -> None:
        """Tell of an act by an Event on the pod; its action and its type are not kept."""
        del action, is_warning
        self._store.write("create", "events", pod.namespace, pod.name, reason)
        self._store.events.append(Event(self.clock.now(), reason, pod.key, message))

    def settle(self, limit_seconds: float = 60.0) -> bool:
        """Let time pass until nothing is under way, at most ``limit_seconds``; True if it has become quiet.

        Pods that fit nowhere or never become ready do not count as under way, nor do placeholders.
        """
        until = self.clock.monotonic() + limit_seconds
        while not self.clock.is_quiet and self.clock.monotonic() < until:
            step = self.clock.seconds_to_next() or 0.0
            self.clock.sleep(min(step, until - self.clock.monotonic()))
        return self.clock.is_quiet

    def recount_budgets(self) -> None:
        """The disruption controller comes by at once for every PodDisruptionBudget."""
        self._budgets.recount_all()

    def put(self, *objects: Pod | Node | DisruptionBudget | Workload) -> None:
        """Somebody else creates or changes objects; their writes are not among ours.

        A pod under the name of another (by uid) takes its place at once.
        """
        for item in objects:
            if isinstance(item, Pod):
                standing = self._store.pods.get(item.key)
                if standing is not None and standing.uid != item.uid:
                    self._store.remove_pod(item.key)
                self._store.put_pod(item)
            elif isinstance(item, Node):
                self._store.put_node(item)
            elif isinstance(item, DisruptionBudget):
                self._store.put_budget(item)
            else:
                self._store.put_workload(item)

    def delete_pod(self, namespace: str, name: str) -> None:
        """Somebody else deletes a pod, gracefully; budgets do not bind deletions."""
        pod = self._store.pods.get(f"{namespace}/{name}")
        if pod is not None:
            self._kubelet.delete(pod)

    def remove_node(self, name: str) -> None:
        """Somebody else deletes a node; its pods stay as they are."""
        self._store.remove_node(name)


def as_read(cluster: Cluster) -> Cluster:
    """A snapshot as readers show it: who was taken out of his ReplicaSet still counts for it."""
    if not any(SURGE in pod.annotations for pod in cluster.pods):
        return cluster
    return replace(cluster, pods=tuple(map(as_of_its_owner, cluster.pods)))
