"""A synthetic cluster for timing the scheduler: mixed nodes, replicas of many templates, a part of them with ties."""

from __future__ import annotations

import random

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    LabelSelector,
    PodAffinityTerm,
    PreferredPodAffinityTerm,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.resources import resources

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
GIB, MIB = 2**30, 2**20
_NODE_TYPES = ((8, 32), (16, 64), (16, 128), (32, 64), (32, 128))  # cores, GiB
_POOLS = ("general", "general", "general", "batch")  # the last one is tainted
_TIED_SHARE = 0.1


def make_cluster(node_count: int, pod_count: int, seed: int) -> Cluster:
    """Nodes of five types in two pools and three zones; pods on random nodes that have room for them."""
    draw = random.Random(f"scheduling/{node_count}/{pod_count}/{seed}")
    nodes = [_node(draw, number) for number in range(node_count)]
    room = [[dict(node.allocatable)[name] for name in ("cpu", "memory", "pods")] for node in nodes]
    pods: list[Pod] = []
    while len(pods) < pod_count:
        name = f"w{len(pods):06d}"
        spec, labels = _template(draw, name), {"app": name}
        for replica in range(min(1 + int(draw.paretovariate(0.9)), 60, pod_count - len(pods))):
            place = _place(draw, room, dict(spec.requests))
            node = None if place is None else nodes[place].name
            pods.append(_pod(f"{name}-{replica:02d}", spec, labels, node))
    return Cluster(nodes=tuple(nodes), pods=tuple(pods), taken_at=1_760_000_000.0, source=f"seed {seed}")


def _node(draw: random.Random, number: int) -> Node:
    cores, memory = draw.choice(_NODE_TYPES)
    amounts = resources((("cpu", cores * 1000), ("memory", memory * GIB), ("pods", 110)))
    pool, name = draw.choice(_POOLS), f"n{number:05d}"
    labels = {HOST: name, ZONE: draw.choice("abc"), "pool": pool}
    taints = (Taint("pool", pool),) if pool == "batch" else ()
    return Node(name=name, allocatable=amounts, capacity=amounts, labels=labels, taints=taints)


def _template(draw: random.Random, name: str) -> PodSpec:
    """One workload's pods; every tenth workload is spread over zones, kept apart, and drawn to itself."""
    millicores = 50 * max(1, min(80, round(draw.lognormvariate(1.6, 0.9))))
    mebibytes = 64 * max(1, min(256, round(millicores / 1000 * draw.lognormvariate(0.8, 0.6) * 16)))
    amounts = resources((("cpu", millicores), ("memory", mebibytes * MIB)))
    selector = LabelSelector((Requirement("app", "In", (name,)),))
    is_tied = draw.random() < _TIED_SHARE
    return PodSpec(
        requests=amounts,
        scored_requests=amounts,
        node_selector=((ZONE, draw.choice("abc")),) if draw.random() < 0.2 else (),
        tolerations=(Toleration("pool", "Equal", "batch", "NoSchedule"),) if draw.random() < 0.3 else (),
        anti_affinity=(PodAffinityTerm(HOST, selector),) if is_tied else (),
        preferred_affinity=(PreferredPodAffinityTerm(50, PodAffinityTerm(ZONE, selector)),) if is_tied else (),
        topology_spread=(
            TopologySpreadConstraint(ZONE, 5, "ScheduleAnyway", selector),
            TopologySpreadConstraint(ZONE, 50, selector=selector),
        )
        if is_tied
        else (),
    )


def _pod(name: str, spec: PodSpec, labels: dict[str, str], node: str | None) -> Pod:
    phase = "Pending" if node is None else "Running"
    return Pod(namespace="default", name=name, uid=name, spec=spec, labels=labels, node_name=node, phase=phase)


def _place(draw: random.Random, room: list[list[int]], requests: dict[str, int]) -> int | None:
    """A random node with room, of a few that are tried."""
    wanted = (requests["cpu"], requests["memory"], 1)
    for _ in range(20):
        node = draw.randrange(len(room))
        if all(free >= amount for free, amount in zip(room[node], wanted, strict=True)):
            room[node] = [free - amount for free, amount in zip(room[node], wanted, strict=True)]
            return node
    return None
