"""Seeded clusters for the demo and for tests, each with the property in its name whatever the seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec import structs

from rescheduler.adapters.simulated.identity import Identity
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, Requirement, Toleration, Volume
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, resources
from rescheduler.model.objects.workload import DisruptionBudget, Namespace, Workload

# The parts that scenarios are put together from: nodes, and workloads with their pods.

TAKEN_AT: Final = 1_768_478_400.0
"""When every scenario takes place: 2026-01-15 12:00 UTC."""
_GIBIBYTE: Final = 2**30
_DAY: Final = 86_400.0
ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Application:
    """A workload to be laid out; ``kind`` is that of its top owner, ``request`` in millicores and GiB."""

    name: str
    millicores: int
    memory_gibibytes: int
    namespace: str = "shop"
    kind: str = "Deployment"
    node_selector: tuple[tuple[str, str], ...] = ()
    has_local_storage: bool = False
    budget_max_unavailable: str | None = None


@dataclass
class ClusterDraft:
    """A cluster in the making: nodes first, then pods of applications on them, then pending pods."""

    random: np.random.Generator
    nodes: list[Node] = field(default_factory=list)
    placed: dict[Application, list[str | None]] = field(default_factory=dict)
    free_millicores: dict[str, int] = field(default_factory=dict)

    def add_node(self, name: str, millicores: int, zone: str, labels: dict[str, str] | None = None) -> None:
        """A ready node with 4 GiB of memory for each core."""
        allocatable = resources({CPU: millicores, MEMORY: millicores * 4 * _GIBIBYTE // 1000, PODS: 110}.items())
        self.nodes.append(
            Node(
                name=name,
                uid=f"node-{name}",
                allocatable=allocatable,
                capacity=allocatable,
                labels={"kubernetes.io/hostname": name, ZONE: zone, **(labels or {})},
                created_at=TAKEN_AT - 40 * _DAY,
            )
        )
        self.free_millicores[name] = millicores

    def put(self, application: Application, node: str | None) -> None:
        """One more replica, on a node or pending."""
        self.placed.setdefault(application, []).append(node)
        if node is not None:
            self.free_millicores[node] -= application.millicores

    def build(self, source: str) -> Cluster:
        """The finished cluster, sorted as a reader sorts it."""
        identity = Identity(self.random, "scenario")
        pods: list[Pod] = []
        workloads: list[Workload] = []
        for application, nodes in self.placed.items():
            owners = _workloads(application, nodes)
            workloads.extend(owners)
            pods.extend(_pods(application, owners[0], nodes, identity, self.random))
        budgets = [_budget(item, nodes) for item, nodes in self.placed.items() if item.budget_max_unavailable]
        namespaces = sorted({application.namespace for application in self.placed})
        return Cluster(
            nodes=tuple(sorted(self.nodes, key=lambda node: node.name)),
            pods=tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name))),
            workloads=tuple(workloads),
            budgets=tuple(budgets),
            namespaces=tuple(Namespace(name, {"kubernetes.io/metadata.name": name}) for name in namespaces),
            taken_at=TAKEN_AT,
            source=source,
        )


def _spec(application: Application) -> PodSpec:
    requests = resources({CPU: application.millicores, MEMORY: application.memory_gibibytes * _GIBIBYTE}.items())
    is_daemon = application.kind == "DaemonSet"
    return PodSpec(
        requests=requests,
        scored_requests=requests,
        node_selector=application.node_selector,
        tolerations=(Toleration(operator="Exists"),) if is_daemon else (),
    )


def _workloads(application: Application, nodes: list[str | None]) -> list[Workload]:
    """The direct owner of the pods first; above it the Deployment, if it is one."""
    ready = sum(node is not None for node in nodes)
    top = Workload(
        kind=application.kind,
        namespace=application.namespace,
        name=application.name,
        uid=f"{application.kind}-{application.name}",
        selector=_selector(application),
        desired_replicas=len(nodes),
        ready_replicas=ready,
        updated_replicas=len(nodes),
        current_replicas=len(nodes),
        generation=1,
        observed_generation=1,
    )
    if application.kind != "Deployment":
        return [top]
    owner = OwnerReference(top.kind, top.name, top.uid)
    replica_set = structs.replace(
        top, kind="ReplicaSet", name=f"{top.name}-7c9d8f6b54", uid=f"ReplicaSet-{top.name}", owner=owner
    )
    return [replica_set, top]


def _pods(
    application: Application,
    owner: Workload,
    nodes: list[str | None],
    identity: Identity,
    random: np.random.Generator,
) -> list[Pod]:
    spec = _spec(application)
    labels = {"app": application.name}
    volumes = (Volume("EmptyDir"),) if application.has_local_storage else ()
    pods: list[Pod] = []
    for number, node in enumerate(nodes):
        began = TAKEN_AT - (float(random.integers(2, 30)) * _DAY if node is not None else 180.0)
        suffix = str(number) if application.kind == "StatefulSet" else identity.suffix()
        pods.append(
            Pod(
                namespace=application.namespace,
                name=f"{owner.name}-{suffix}",
                uid=identity.uid(),
                spec=spec,
                labels=labels,
                node_name=node,
                phase="Pending" if node is None else "Running",
                is_ready=node is not None,
                created_at=began,
                started_at=None if node is None else began,
                scheduled_at=None if node is None else began,
                owners=(OwnerReference(owner.kind, owner.name, owner.uid),),
                volumes=volumes,
                resource_version=str(len(pods) + 1),
            )
        )
    return pods


def _budget(application: Application, nodes: list[str | None]) -> DisruptionBudget:
    """A budget of ``maxUnavailable`` pods (a plain number), counted as its controller would."""
    healthy = sum(node is not None for node in nodes)
    desired = max(0, len(nodes) - int(application.budget_max_unavailable or 0))
    return DisruptionBudget(
        namespace=application.namespace,
        name=application.name,
        uid=f"PodDisruptionBudget-{application.name}",
        selector=_selector(application),
        disruptions_allowed=max(0, healthy - desired),
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=len(nodes),
        generation=1,
        observed_generation=1,
        max_unavailable=application.budget_max_unavailable,
    )


def _selector(application: Application) -> LabelSelector:
    return LabelSelector((Requirement("app", "In", (application.name,)),))


_AGENT = Application("node-agent", 200, 1, namespace="kube-system", kind="DaemonSet")
# One replica of each on every node: two pods of 1 core that may move, which is what makes `fragmented` solvable.
_MOVABLE = (Application("web", 1000, 2), Application("catalog", 1000, 2))
_PAYMENTS = Application("payments", 1500, 3, budget_max_unavailable="0")
_REPORTS = Application("reports", 1000, 2)
_CACHE = Application("cache", 1000, 4, kind="StatefulSet", has_local_storage=True)
_FILLERS = (
    Application("search", 500, 1),
    Application("checkout", 1500, 3),
    Application("queue", 1000, 2, budget_max_unavailable="1"),
    _PAYMENTS,
    _CACHE,
)
_SMALLEST_FILLER = _FILLERS[0]
_NODE_MILLICORES = 8000
_LEAST_FREE, _MOST_FREE = 1000, 1900
# The first node keeps this much, so that two pods of 1 core less make room for the large one there.
_LEAST_FREE_AT_FIRST = 1500
_LARGE = Application("model-server", 3400, 7)
_MEDIUM = Application("report-builder", 2500, 5)


def fragmented(seed: int, nodes: int = 6) -> Cluster:
    """A pending pod of 3.4 cores that fits nowhere, though more than that is free in small pieces.

    Each of the ``nodes`` (at least 3) has 1 to 1.9 cores free and no pod of more than 1.5, so that two pods at least
    have to move, and two are enough. DaemonSet pods, a budget that allows nothing, a single replica and
    pods with local storage stand among the others.
    """
    draft = _fragments(seed, max(3, nodes))
    draft.put(_LARGE, None)
    return draft.build(f"demo scenario fragmented, seed {seed}")


def several_pending(seed: int, nodes: int = 8) -> Cluster:
    """Two pending pods of different shapes in a fragmented cluster (at least 6 nodes); both can be helped."""
    draft = _fragments(seed, max(6, nodes))
    draft.put(_LARGE, None)
    draft.put(_MEDIUM, None)
    return draft.build(f"demo scenario several_pending, seed {seed}")


def chain(seed: int) -> Cluster:
    """A pending pod that only a chain can help: one pod makes way for another, which makes way for it.

    The pending pod may sit on ``fast-1`` only, and needs the room of the index replica there. That may go to fast
    nodes only; ``fast-2`` has room for it once the archive has left for a plain node, ``fast-3`` is full. The
    databases are single replicas, which stay.
    """
    random = np.random.default_rng(seed)
    draft = ClusterDraft(random)
    link = 100 * int(random.integers(10, 25))  # what each link of the chain needs, in millicores
    plain = [f"plain-{number}" for number in range(1, int(random.integers(2, 5)))]
    draft.add_node("fast-1", 4 * link, "a", {"disk": "fast", "tier": "gold"})
    draft.add_node("fast-2", 4 * link, "b", {"disk": "fast"})
    draft.add_node("fast-3", 4 * link, "c", {"disk": "fast"})
    for name in plain:
        draft.add_node(name, 4 * link, "b")
    index = Application("index", link, 2, node_selector=(("disk", "fast"),))
    archive = Application("archive", link, 2)
    for application, name in ((index, "fast-1"), (index, "fast-3"), (archive, "fast-2"), (archive, plain[0])):
        draft.put(application, name)
    for number, share in ((1, 25), (2, 25), (3, 30)):  # tenths of a link
        database = Application(f"database-{number}", share * link // 10, 1, kind="StatefulSet")
        draft.put(database, f"fast-{number}")
    draft.put(Application("model-server", link, 2, node_selector=(("tier", "gold"),)), None)
    return draft.build(f"demo scenario chain, seed {seed}")


def infeasible(seed: int) -> Cluster:
    """A pending pod of 3.4 cores where less than that is free in all: no rearrangement helps, a node must be added."""
    draft = _fragments(seed, 5)
    for name in list(draft.free_millicores):
        while draft.free_millicores[name] >= _SMALLEST_FILLER.millicores:
            draft.put(_SMALLEST_FILLER, name)
    draft.put(_LARGE, None)
    return draft.build(f"demo scenario infeasible, seed {seed}")


def _fragments(seed: int, count: int) -> ClusterDraft:
    random = np.random.default_rng(seed)
    draft = ClusterDraft(random)
    for number in range(1, count + 1):
        name = f"node-{number}"
        draft.add_node(name, _NODE_MILLICORES, "abc"[number % 3])
        for application in (_AGENT, *_MOVABLE):
            draft.put(application, name)
    draft.put(_REPORTS, f"node-{int(random.integers(1, count + 1))}")
    for name in list(draft.free_millicores):
        _fill(draft, name, _LEAST_FREE_AT_FIRST if name == "node-1" else _LEAST_FREE)
    return draft


def _fill(draft: ClusterDraft, name: str, least_free: int) -> None:
    """Put pods on a node until ``least_free`` to 1900 millicores are free; the smallest filler always gets there."""
    while draft.free_millicores[name] > _MOST_FREE:
        filler = _FILLERS[int(draft.random.integers(len(_FILLERS)))]
        if draft.free_millicores[name] - filler.millicores < least_free:
            filler = _SMALLEST_FILLER
        draft.put(filler, name)
