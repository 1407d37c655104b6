"""The parts that scenarios are put together from: nodes, and workloads with their pods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec import structs

from rescheduler.model.cluster import Cluster
from rescheduler.model.constraints import LabelSelector, Requirement, Toleration, Volume
from rescheduler.model.node import Node
from rescheduler.model.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.resources import CPU, MEMORY, PODS, resources
from rescheduler.model.workload import DisruptionBudget, Namespace, Workload
from rescheduler.simulation.identity import Identity

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
        identity = Identity(self.random)
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
