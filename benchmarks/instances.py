"""Synthetic clusters with history: filled by a spreading scheduler, then thinned by completions that share nodes.

Without that history there is no fragmentation, and making room would be trivial. Sizes S, M and L have 50, 500 and
5,000 nodes with about 30 pods each; everything follows from the seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.instance_pods import HOST, MIB, TAKEN_AT, ZONE, Workload, pending_pod, pod_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import resources
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility

GIB = 2**30
NODE_TYPES = ((8, 32), (16, 64), (16, 128), (32, 64), (32, 128))  # cores, GiB
POOLS = ("general", "general", "batch", "memory")  # the latter two are tainted
FULL = 0.97
BoolArray = npt.NDArray[np.bool_]
NODES = {"S": 50, "M": 500, "L": 5000}


@dataclass(frozen=True)
class Family:
    """One row of the table: size (S, M, L or a number of nodes), number of pending pods, cpu utilisation, seed."""

    size: str
    pending: int
    utilisation: float
    seed: int

    @property
    def name(self) -> str:
        """Such as ``M K=20 util .80 seed 1``."""
        return f"{self.size} K={self.pending} util {self.utilisation:.2f} seed {self.seed}".replace("0.", ".")


def make_family(family: Family) -> tuple[Cluster, Eligibility]:
    """Build the cluster of one row, with its pending pods, and who may be moved."""
    draw = random.Random(f"{family.size}/{family.utilisation}/{family.seed}")
    nodes = _nodes(draw, NODES.get(family.size) or int(family.size))
    workloads = _workloads(draw, nodes)
    placed = _thin(draw, nodes, _fill(draw, nodes, workloads), family.utilisation)
    pods = [pod_of(workload, replica, nodes[node].name) for workload, replica, node in placed]
    shapes = _pending_shapes(draw, nodes, placed) if family.pending else []
    if family.pending and not shapes:
        raise ValueError(f"{family.name}: no shape was found that fits nowhere; try another seed")
    pods += [pending_pod(number, *shapes[number % len(shapes)]) for number in range(family.pending)]
    pods.sort(key=lambda pod: (pod.namespace, pod.name))
    unread = frozenset({"ReplicaSet"})
    cluster = Cluster(nodes=tuple(nodes), pods=tuple(pods), taken_at=TAKEN_AT, source=family.name, absent_kinds=unread)
    return cluster, _eligibility(cluster, workloads)


def _nodes(draw: random.Random, count: int) -> list[Node]:
    nodes = []
    for number in range(count):
        cores, memory = draw.choice(NODE_TYPES)
        pool, zone = draw.choice(POOLS), draw.choice("abc")
        amounts = resources(
            (("cpu", cores * 1000), ("memory", memory * GIB), ("pods", 110), ("ephemeral-storage", 100 * GIB))
        )
        name = f"n{number:04d}"
        labels = {HOST: name, ZONE: zone, "pool": pool}
        taints = () if pool == "general" else (Taint("pool", pool),)
        nodes.append(Node(name=name, allocatable=amounts, capacity=amounts, labels=labels, taints=taints))
    return nodes


def _workloads(draw: random.Random, nodes: list[Node]) -> list[Workload]:
    """Enough workloads to fill the cluster, small pods and small workloads being the most frequent."""
    wanted = 1.6 * sum(dict(node.allocatable)["cpu"] for node in nodes)  # not all of it will find a place
    found: list[Workload] = []
    while wanted > 0:
        replicas = min(1 + int(draw.paretovariate(0.9)), 60)
        millicores = 50 * max(1, min(160, round(draw.lognormvariate(1.95, 0.95))))
        mebibytes = 64 * max(1, round(millicores / 1000 * draw.lognormvariate(0.8, 0.6) * 16))
        kind, zone, pool = draw.random(), None, None
        if kind < 0.18:
            zone = draw.choice("abc")
        elif kind < 0.45:
            pool = draw.choice(("batch", "memory"))
        found.append(
            Workload(
                number=len(found),
                replicas=replicas,
                millicores=millicores,
                mebibytes=min(mebibytes, 24 * 1024),
                zone=zone,
                pool=pool,
                keeps_apart=replicas <= 6 and draw.random() < 0.05,
                spreads=zone is None and draw.random() < 0.10,
                budget=max(1, int(replicas * draw.uniform(0.01, 0.25))) if draw.random() < 0.20 else None,
                is_fixed=draw.random() < 0.003,
            )
        )
        wanted -= replicas * millicores
    return found


def _fill(draw: random.Random, nodes: list[Node], workloads: list[Workload]) -> list[tuple[Workload, int, int]]:
    """Place replicas in random order on the least allocated node that takes them, as kube-scheduler does."""
    cpu, memory = (
        np.array([dict(node.allocatable)[name] for node in nodes], dtype=float) for name in ("cpu", "memory")
    )
    cpu_room, memory_room, pods_left = cpu * FULL, memory.copy(), np.full(len(nodes), 110)
    score = cpu_room / cpu + memory_room / memory
    open_to = _masks(nodes)
    queue = [(workload, replica) for workload in workloads for replica in range(workload.replicas)]
    draw.shuffle(queue)
    homes: dict[int, list[int]] = {}
    placed = []
    for workload, replica in queue:
        mine = homes.setdefault(workload.number, [])
        allowed = open_to[workload.pool, workload.zone] & (cpu_room >= workload.millicores)
        allowed &= (memory_room >= workload.mebibytes * MIB) & (pods_left > 0)
        if workload.keeps_apart:
            allowed[mine] = False
        if workload.spreads:
            allowed &= _zones_open_to_one_more(nodes, mine, open_to)
        node = int(np.argmax(np.where(allowed, score, -1.0)))
        if not allowed[node]:
            continue
        cpu_room[node] -= workload.millicores
        memory_room[node] -= workload.mebibytes * MIB
        pods_left[node] -= 1
        score[node] = cpu_room[node] / cpu[node] + memory_room[node] / memory[node]
        mine.append(node)
        placed.append((workload, replica, node))
    return placed


def _masks(nodes: list[Node]) -> dict[tuple[str | None, str | None], BoolArray]:
    """Nodes that a workload's pool and zone leave open."""
    zones = np.array([node.labels[ZONE] for node in nodes])
    pools = np.array([node.labels["pool"] for node in nodes])
    in_pool = {None: pools == "general"}
    in_pool.update({pool: in_pool[None] | (pools == pool) for pool in ("batch", "memory")})
    return {
        (pool, zone): mask & (zones == zone) if zone else mask
        for pool, mask in in_pool.items()
        for zone in (None, "a", "b", "c")
    }


def _zones_open_to_one_more(
    nodes: list[Node], mine: list[int], open_to: dict[tuple[str | None, str | None], BoolArray]
) -> BoolArray:
    counts = {zone: sum(nodes[node].labels[ZONE] == zone for node in mine) for zone in "abc"}
    least = min(counts.values())
    allowed = np.zeros(len(nodes), dtype=np.bool_)
    for zone, count in counts.items():
        if count == least:
            for pool in (None, "batch", "memory"):
                allowed |= open_to[pool, zone]
    return allowed


def _thin(
    draw: random.Random, nodes: list[Node], placed: list[tuple[Workload, int, int]], utilisation: float
) -> list[tuple[Workload, int, int]]:
    """Let pods complete, on some nodes much more often than on others, down to a cpu utilisation."""
    capacity = sum(dict(node.allocatable)["cpu"] for node in nodes)
    weight = [draw.lognormvariate(0, 0.4) for _ in nodes]
    order = sorted(placed, key=lambda item: draw.expovariate(1.0) / weight[item[2]])
    used = sum(workload.millicores for workload, _, _ in placed)
    gone = 0
    while used > utilisation * capacity and gone < len(order):
        used -= order[gone][0].millicores
        gone += 1
    return order[gone:]


def _pending_shapes(
    draw: random.Random, nodes: list[Node], placed: list[tuple[Workload, int, int]]
) -> list[tuple[int, int]]:
    """One to three shapes (millicores, MiB) that fit on no node without a taint, though such nodes are large enough."""
    room = np.array([[dict(node.allocatable)[name] for node in nodes] for name in ("cpu", "memory")], dtype=np.int64)
    for workload, _, node in placed:
        room[:, node] -= (workload.millicores, workload.mebibytes * MIB)
    room = room[:, [not node.taints for node in nodes]]
    least = next(size for size in range(500, 33_000, 500) if not _fits(room, size))
    sizes = {min(26_000, int(least * factor) // 100 * 100) for factor in (1.0, 1.25, 1.5)[: draw.randint(1, 3)]}
    return [(size, 2 * size) for size in sorted(sizes) if not _fits(room, size)]  # 2 GiB a core


def _fits(room: npt.NDArray[np.int64], millicores: int) -> bool:
    return bool(((room[0] >= millicores) & (room[1] >= 2 * millicores * MIB)).any())


def _eligibility(cluster: Cluster, workloads: list[Workload]) -> Eligibility:
    by_name = {f"w{workload.number:05d}": workload for workload in workloads}
    members: dict[str, list[int]] = {}
    movable = []
    for index, pod in enumerate(cluster.pods):
        if pod.node_name is not None:
            members.setdefault(pod.labels["app"], []).append(index)
            if not by_name[pod.labels["app"]].is_fixed:
                movable.append(index)
    groups = []
    for name, pods in sorted(members.items()):
        budget = by_name[name].budget
        if budget is not None:
            groups.append(DisruptionGroup("PodDisruptionBudget", f"default/{name}", budget, tuple(pods)))
    return Eligibility(
        movable=tuple(movable),
        refusals={},
        helpable=tuple(index for index, pod in enumerate(cluster.pods) if pod.node_name is None),
        not_helpable={},
        groups=tuple(groups),
    )
