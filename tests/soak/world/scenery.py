"""The cluster that a simulated run begins with, drawn from its seed: owners, budgets, protected pods."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from msgspec import structs

from rescheduler.model.objects.annotations import (
    DO_NOT_DISRUPT,
    DO_NOT_EVICT,
    MIRROR,
    PREFER_NO_EVICTION,
    SAFE_TO_EVICT,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    LabelSelector,
    PodAffinityTerm,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
    Volume,
)
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import OwnerReference, Pod, PodSpec
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, resources
from rescheduler.model.objects.workload import DisruptionBudget, Namespace, PriorityClass, Workload

BEGAN = 1_768_478_400.0
"""When every run takes place: 2026-01-15 12:00 UTC."""
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODE_MILLICORES = 4000
GIBIBYTE = 2**30
DAY = 86_400.0
NAMESPACES = ("shop", "pay", "search", "kube-system")
SIZES = (100, 250, 250, 500, 500, 500, 1000, 1000, 1500)
HARMLESS_MARKS = {SAFE_TO_EVICT: "true", DO_NOT_DISRUPT: "false"}
MARKS = ({SAFE_TO_EVICT: "false"}, {DO_NOT_DISRUPT: "true"}, {PREFER_NO_EVICTION: ""}, {DO_NOT_EVICT: "true"})


class Shape(NamedTuple):
    """One application: its owner's kind, its pods' size and number, and what is special about it."""

    name: str
    namespace: str
    kind: str
    replicas: int
    millicores: int
    special: str = ""

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"


def new_node(name: str, zone: str, created_at: float) -> Node:
    """A ready node of the one size that there is."""
    allocatable = resources({CPU: NODE_MILLICORES, MEMORY: 16 * GIBIBYTE, PODS: 60}.items())
    labels = {HOSTNAME: name, ZONE: zone}
    return Node(
        name=name, uid=f"uid-{name}", allocatable=allocatable, capacity=allocatable, labels=labels,
        created_at=created_at,
    )  # fmt: skip


def selector_of(name: str) -> LabelSelector:
    """What selects the pods of an application."""
    return LabelSelector((Requirement("app", "In", (name,)),))


def draw_shapes(random: Random, nodes: int) -> list[Shape]:
    """Applications that fill half to four fifths of so many nodes."""
    room = int(nodes * NODE_MILLICORES * random.uniform(0.45, 0.8))
    shapes = [Shape("agent", "kube-system", "DaemonSet", nodes, 100)]
    while room > 0:
        kind = random.choices(["Deployment", "StatefulSet", "ReplicaSet", "Job", ""], [70, 14, 5, 5, 4])[0]
        replicas = random.choice([1, 2, 2, 3, 3, 3, 4, 5, 6, 8, 12]) if kind else 1
        namespace = random.choices(NAMESPACES, [50, 25, 20, 5])[0]
        special = random.choices(
            ["", "apart", "spread", "local", "marked", "claims", "system", "mirror"], [68, 8, 6, 4, 5, 3, 3, 3]
        )[0]
        shape = Shape(f"a{len(shapes)}", namespace, kind, min(replicas, 2 * nodes), random.choice(SIZES), special)
        shapes.append(shape)
        room -= shape.replicas * shape.millicores
    return shapes


def spec_of(shape: Shape, random: Random) -> PodSpec:
    """What its pods ask for."""
    requests = resources({CPU: shape.millicores, MEMORY: shape.millicores * GIBIBYTE // 500}.items())
    grace = random.choices([5, 30, 60, 300, 3600], [30, 50, 10, 6, 4])[0]
    apart = PodAffinityTerm(HOSTNAME, selector_of(shape.name))
    spread = TopologySpreadConstraint(HOSTNAME, 2, selector=selector_of(shape.name))
    return PodSpec(
        requests=requests,
        scored_requests=requests,
        priority=2_000_000_000 if shape.special == "system" else random.choice([0, 0, 0, 0, 100]),
        priority_class_name={"system": "system-cluster-critical"}.get(shape.special, ""),
        anti_affinity=(apart,) if shape.special == "apart" else (),
        topology_spread=(spread,) if shape.special == "spread" else (),
        tolerations=(Toleration(operator="Exists"),) if shape.kind == "DaemonSet" else (),
        termination_grace_seconds=grace,
        preemption_policy="Never",
    )


def template_of(shape: Shape, owner: OwnerReference | None, random: Random) -> Pod:
    """A pod of it that has neither name nor place."""
    annotations: dict[str, str] = {}
    if shape.special == "marked":
        annotations = dict(random.choice(MARKS))
    elif shape.special == "mirror":
        annotations = {MIRROR: "x"}
    elif random.random() < 0.1:
        annotations = dict(HARMLESS_MARKS)
    volumes = {"local": (Volume("EmptyDir"),), "claims": (Volume("PersistentVolumeClaim", claim="none"),)}
    return Pod(
        namespace=shape.namespace, name=shape.name, uid="", spec=spec_of(shape, random), labels={"app": shape.name},
        annotations=annotations, owners=() if owner is None else (owner,), volumes=volumes.get(shape.special, ()),
        phase="Pending", is_ready=False,
    )  # fmt: skip


def workloads_of(shape: Shape) -> list[Workload]:
    """Its owners, the direct one first; none for a pod that nobody owns."""
    if not shape.kind:
        return []
    number = shape.replicas
    top = Workload(
        kind=shape.kind, namespace=shape.namespace, name=shape.name, uid=f"{shape.kind}-{shape.key}",
        selector=selector_of(shape.name), desired_replicas=number, ready_replicas=number, updated_replicas=number,
        current_replicas=number, generation=1, observed_generation=1,
    )  # fmt: skip
    return [top] if shape.kind != "Deployment" else [replica_set_of(top, 1), top]


def replica_set_of(deployment: Workload, revision: int) -> Workload:
    """The ReplicaSet of one revision of a Deployment."""
    return Workload(
        kind="ReplicaSet", namespace=deployment.namespace, name=f"{deployment.name}-r{revision}",
        uid=f"ReplicaSet-{deployment.namespace}/{deployment.name}-r{revision}",
        owner=OwnerReference(deployment.kind, deployment.name, deployment.uid), selector=deployment.selector,
        desired_replicas=deployment.desired_replicas, ready_replicas=deployment.ready_replicas,
        updated_replicas=deployment.desired_replicas, current_replicas=deployment.desired_replicas,
        generation=1, observed_generation=1,
    )  # fmt: skip


def budget_of(shape: Shape, random: Random, name: str) -> DisruptionBudget:
    """One of the usual PodDisruptionBudgets over it, its status still to be counted."""
    minimum = random.choices([None, "50%", str(max(0, shape.replicas - 1)), str(shape.replicas)], [60, 15, 15, 10])[0]
    return DisruptionBudget(
        namespace=shape.namespace, name=name, uid=f"PodDisruptionBudget-{shape.namespace}/{name}",
        selector=selector_of(shape.name), generation=1, expected_pods=shape.replicas,
        min_available=minimum, max_unavailable=None if minimum else random.choice(["0", "1", "1", "1", "2", "25%"]),
        unhealthy_pod_eviction_policy=random.choice(["IfHealthyBudget", "IfHealthyBudget", "AlwaysAllow"]),
    )  # fmt: skip


class Scenery(NamedTuple):
    """``cluster`` as it begins, with its ``shapes``, and a ``template`` for each direct owner (by uid)."""

    cluster: Cluster
    shapes: list[Shape]
    templates: dict[str, Pod]


def draw_scenery(random: Random, node_count: int, zone_count: int) -> Scenery:
    """A cluster in which every pod has its place, spread as a scheduler may have left it months ago."""
    nodes = [new_node(f"n{number:02}", f"z{number % zone_count}", BEGAN - 40 * DAY) for number in range(node_count)]
    free = {node.name: NODE_MILLICORES for node in nodes}
    pods: list[Pod] = []
    workloads: list[Workload] = []
    budgets: list[DisruptionBudget] = []
    templates: dict[str, Pod] = {}
    shapes = draw_shapes(random, node_count)
    for shape in shapes:
        owners = workloads_of(shape)
        reference = OwnerReference(owners[0].kind, owners[0].name, owners[0].uid) if owners else None
        template = template_of(shape, reference, random)
        workloads += owners
        if owners:
            templates[owners[0].uid] = template
        pods += _placed(shape, template, owners[0].name if owners else shape.name, free, random)
        if shape.kind not in ("DaemonSet", "Job", "") and random.random() < 0.45:
            budgets.append(budget_of(shape, random, shape.name))
    cluster = Cluster(
        nodes=tuple(nodes), pods=tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name))),
        workloads=tuple(workloads), budgets=tuple(budgets), taken_at=BEGAN, source="simulated world",
        namespaces=tuple(Namespace(name, {"kubernetes.io/metadata.name": name}) for name in NAMESPACES),
        priority_classes=(PriorityClass("system-cluster-critical", 2_000_000_000),), server_version="v1.36.3",
    )  # fmt: skip
    return Scenery(cluster, shapes, templates)


def _placed(shape: Shape, template: Pod, stem: str, free: dict[str, int], random: Random) -> list[Pod]:
    """Its pods, each on a node with room; those that find none are left out (their owner will make them)."""
    found: list[Pod] = []
    for number in range(shape.replicas):
        used = {pod.node_name for pod in found} if shape.special == "apart" else set()
        fitting = [name for name, left in free.items() if left >= shape.millicores and name not in used]
        if not fitting:
            break
        node = list(free)[number] if shape.kind == "DaemonSet" else random.choice(fitting)
        if shape.special == "spread":
            node = min(fitting, key=lambda name: sum(pod.node_name == name for pod in found))
        free[node] -= shape.millicores
        began = BEGAN - random.uniform(0.01, 30) * DAY
        name = f"{stem}-{number}" if shape.kind == "StatefulSet" else f"{stem}-x{number:02}"
        found.append(
            structs.replace(
                template,
                name=name,
                uid=f"{shape.key}-{number}",
                node_name=node,
                phase="Running",
                is_ready=True,
                created_at=began,
                started_at=began,
                scheduled_at=began,
                ready_at=began,
                resource_version=str(number + 1),
            )
        )
    return found
