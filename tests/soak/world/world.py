"""The simulated cluster with everything that happens to clusters: scaling, rollouts, failing nodes, other evictors."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from msgspec import structs

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.plan import PodReference
from tests.soak.clock import WorldClock
from tests.soak.surging import hashed, hashed_pod
from tests.soak.world.components import WorldKubelet, WorldOwners, WorldScheduler, with_ready
from tests.soak.world.conditions import Conditions, settings_of
from tests.soak.world.scenery import Scenery

NOT_READY = "node.kubernetes.io/not-ready"
DELETED_SOON = "ToBeDeletedByClusterAutoscaler"
UNREACHABLE_POD_SECONDS = 300.0
POD_COLLECTION_SECONDS = 20.0


class World(SimulatedCluster):
    """What others than us do to the cluster. All methods return at once; their consequences take their time."""

    kubelet_class = WorldKubelet
    owners_class = WorldOwners
    scheduler_class = WorldScheduler

    def __init__(self, scenery: Scenery, clock: WorldClock, random: Random, seed: int) -> None:
        self.conditions = Conditions(random)
        super().__init__(scenery.cluster, seed=seed, settings=settings_of(self.conditions), clock=clock)
        self.templates = dict(scenery.templates)
        self._node_listeners: list[Callable[[Node | None, Node | None], None]] = []
        self._known_nodes = dict(self._store.nodes)
        self._store.on_node_change(self._tell_nodes)
        for key in self._store.budgets:
            self._budgets.budget_changed(key)
        for workload in list(self._store.workloads.values()):
            if workload.uid in self.templates and workload.kind not in ("DaemonSet", "Job"):
                self.reconcile(workload.uid)

    @property
    def store(self) -> ObjectStore:
        """The objects as they truly are."""
        return self._store

    def on_node_change(self, listener: Callable[[Node | None, Node | None], None]) -> None:
        """Call ``listener(old, new)`` after each change of a node."""
        self._node_listeners.append(listener)

    def _tell_nodes(self) -> None:
        for name in {**self._known_nodes, **self._store.nodes}:
            old, new = self._known_nodes.get(name), self._store.nodes.get(name)
            if old is not new:
                for listener in self._node_listeners:
                    listener(old, new)
        self._known_nodes = dict(self._store.nodes)

    def reconcile(self, uid: str) -> None:
        """Let a direct owner have as many pods as it wants."""
        owner = self._store.workloads.get(uid)
        if owner is not None and uid in self.templates:
            self._owners.reconcile(owner, self.templates[uid], self._kubelet)

    def scale(self, uid: str, replicas: int) -> None:
        """Somebody sets the replicas of a top workload; its controllers follow."""
        top = self._store.workloads[uid]
        self._store.put_workload(structs.replace(top, desired_replicas=replicas, generation=top.generation + 1))
        self.clock.after(0.5, lambda: self._follow_scale(uid))

    def _follow_scale(self, uid: str) -> None:
        top = self._store.workloads.get(uid)
        if top is None:
            return
        observed = structs.replace(
            top, observed_generation=top.generation, current_replicas=top.desired_replicas,
            updated_replicas=top.desired_replicas if not self.is_rolling(uid) else top.updated_replicas,
        )  # fmt: skip
        self._store.put_workload(observed)
        if top.kind != "Deployment":
            self.reconcile(uid)
        elif not self.is_rolling(uid):
            for child in self.children(uid):
                if child.desired_replicas:
                    self.set_direct(child.uid, top.desired_replicas or 0)
                    break
            else:
                newest = max(self.children(uid), key=lambda item: len(item.uid) * 1000 + item.generation, default=None)
                if newest is not None:
                    self.set_direct(newest.uid, top.desired_replicas or 0)

    def is_rolling(self, uid: str) -> bool:
        """Whether a Deployment has pods of two revisions by right."""
        return sum(bool(child.desired_replicas) for child in self.children(uid)) > 1

    def children(self, uid: str) -> list[Workload]:
        """ReplicaSets of a Deployment, oldest first."""
        return [item for item in self._store.workloads.values() if item.owner is not None and item.owner.uid == uid]

    def set_direct(self, uid: str, replicas: int) -> None:
        """A Deployment sets the replicas of one of its ReplicaSets."""
        child = self._store.workloads[uid]
        if child.desired_replicas != replicas:
            number = child.generation + 1
            changed = structs.replace(
                child, desired_replicas=replicas, generation=number, observed_generation=number,
                current_replicas=replicas, updated_replicas=replicas,
            )  # fmt: skip
            self._store.put_workload(changed)
        self.reconcile(uid)

    def add_workload(self, owners: list[Workload], template: Pod) -> None:
        """Somebody creates a workload."""
        for owner in owners:
            self._store.put_workload(owner)
        self.templates[owners[0].uid] = template
        self.reconcile(owners[0].uid)

    def add_revision(self, deployment: Workload, revision: int) -> Workload:
        """A ReplicaSet without pods for a new template of a Deployment."""
        oldest = self.children(deployment.uid)[0]
        child = structs.replace(
            oldest, name=f"{deployment.name}-r{revision}",
            uid=f"ReplicaSet-{deployment.namespace}/{deployment.name}-r{revision}",
            desired_replicas=0, ready_replicas=0, updated_replicas=0, current_replicas=0,
        )  # fmt: skip
        template = self.templates[oldest.uid]
        owner = OwnerReference("ReplicaSet", child.name, child.uid)
        template = structs.replace(template, owners=(owner,))
        if TEMPLATE_HASH in template.labels:
            child, template = hashed(child, f"r{revision}"), hashed_pod(template, f"r{revision}")
        self._store.put_workload(child)
        self.templates[child.uid] = template
        return child

    def remove_workload(self, uid: str) -> None:
        """Somebody deletes a top workload with all that it owns."""
        for item in [*self.children(uid), self._store.workloads[uid]]:
            self._store.put_workload(structs.replace(item, is_terminating=True, desired_replicas=0))
            out = [pod for pod in self._store.pods.values() if SURGE in pod.annotations and _is_owned(pod, item.uid)]
            for pod in (*self._store.members(item.uid), *out):  # whoever has an owner goes with it
                self._kubelet.delete(pod)
            self.clock.after(60.0, lambda uid=item.uid: self._store.remove_workload(uid), is_background=True)

    def put_budget(self, budget: DisruptionBudget) -> None:
        """Somebody creates or changes a PodDisruptionBudget; its controller comes by when it does."""
        old = self._store.budgets.get(budget.key)
        generation = 1 if old is None else old.generation + 1
        self._store.put_budget(structs.replace(budget, generation=generation))
        self._budgets.budget_changed(budget.key)

    def remove_budget(self, key: str) -> None:
        """Somebody deletes a PodDisruptionBudget."""
        self._store.remove_budget(key)

    def evict_by_others(self, pod: Pod) -> str:
        """Somebody else evicts a pod; what the API server answered."""
        reference = PodReference(pod.namespace, pod.name, pod.uid)
        return self._evictions.evict(reference, "", dry_run=False).kind

    def evict_now(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Our own request has reached the API server."""
        return self._evictions.evict(pod, resource_version, dry_run=dry_run)

    def finish(self, pod: Pod) -> None:
        """A Job's pod is done."""
        owner = self._store.owner_of(pod)
        if owner is not None and owner.uid in self._store.workloads:
            left = max(0, (owner.desired_replicas or 1) - 1)
            self._store.put_workload(structs.replace(owner, desired_replicas=left))
        self._store.put_pod(structs.replace(pod, phase="Succeeded", is_ready=False, ready_at=None))
        self.clock.after(120.0, lambda: self._collect(pod), is_background=True)

    def _collect(self, pod: Pod) -> None:
        if self._store.same(pod) is not None:
            self._store.remove_pod(pod.key)

    def take_down(self, name: str) -> None:
        """A node stops answering: its pods count as not ready, and after five minutes they are deleted."""
        node = self._store.nodes[name]
        taints = (*(taint for taint in node.taints if taint.key != NOT_READY), Taint(NOT_READY, "", "NoSchedule"))
        self._store.put_node(structs.replace(node, is_ready=False, taints=taints))
        for pod in [pod for pod in self._store.pods.values() if pod.node_name == name and pod.is_ready]:
            self._store.put_pod(with_ready(pod, 0.0, is_ready=False))
        self.clock.after(UNREACHABLE_POD_SECONDS, lambda: self._give_up(name), is_background=True)

    def _give_up(self, name: str) -> None:
        node = self._store.nodes.get(name)
        if node is not None and not node.is_ready:
            for pod in [pod for pod in self._store.pods.values() if pod.node_name == name]:
                if not pod.belongs_to_its_node:
                    self._kubelet.delete(pod)

    def bring_up(self, name: str) -> None:
        """The node answers again."""
        node = self._store.nodes.get(name)
        if node is not None and not node.is_ready:
            taints = tuple(taint for taint in node.taints if taint.key != NOT_READY)
            self._store.put_node(structs.replace(node, is_ready=True, taints=taints))
            self.clock.after(3.0, lambda: self._kubelet.recover(name))

    def add_node(self, node: Node) -> None:
        """An autoscaler or a person adds a node, and DaemonSets come to it."""
        self._store.put_node(node)
        for owner in [item for item in self._store.workloads.values() if item.kind == "DaemonSet"]:
            placed = structs.replace(self.templates[owner.uid], node_name=node.name)
            self._owners._replace(placed)

    def mark_for_removal(self, name: str) -> None:
        """The autoscaler says that it will take the node."""
        node = self._store.nodes[name]
        taints = (*node.taints, Taint(DELETED_SOON, str(int(self.clock.now())), "NoSchedule"))
        self._store.put_node(structs.replace(node, taints=taints))

    def vanish(self, name: str) -> None:
        """The node is deleted; a little later its pods are collected."""
        self._store.remove_node(name)
        gone = [pod for pod in self._store.pods.values() if pod.node_name == name]
        for pod in gone:
            if pod.is_ready:
                self._store.put_pod(with_ready(pod, 0.0, is_ready=False))
        self.clock.after(POD_COLLECTION_SECONDS, lambda: [self._collect(pod) for pod in gone] and None)

    def look_at_pods_again(self) -> None:
        """The scheduler takes up pods that it had passed over."""
        self._scheduler.look_again()


def _is_owned(pod: Pod, uid: str) -> bool:
    return any(owner.uid == uid for owner in pod.owners)
