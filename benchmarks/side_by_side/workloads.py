"""Random workloads, as manifests: from a seed, until they ask for so much CPU."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.cluster.api import Manifest
from tests.cluster.shapes import deployment, disruption_budget, node, stateful_set

NODE_MILLICORES, NODE_GIBIBYTES = 8000, 32
ZONES = 3
ZONE, POOL = "topology.kubernetes.io/zone", "pool"
"""Labels of nodes."""


@dataclass(frozen=True)
class Taste:
    """What the workloads of a cluster are like."""

    millicores: tuple[int, ...] = (250, 500, 750, 1000, 1500, 2000)
    """What one pod asks for."""
    mebibytes_per_core: tuple[int, ...] = (1024, 2048, 3072)
    replicas: tuple[int, int] = (2, 6)
    """Fewest and most."""
    stateful_share: float = 0.25
    guarded_share: float = 0.3
    """Of workloads, those with a PodDisruptionBudget that lets one pod go at a time."""
    locked_share: float = 0.0
    """Of workloads, those with a PodDisruptionBudget that lets none go."""


def nodes(count: int, prefix: str) -> tuple[Manifest, ...]:
    """Equal nodes, in turn over the zones; their prefix is the name of their pool."""
    cpu, memory = f"{NODE_MILLICORES}m", f"{NODE_GIBIBYTES}Gi"
    return tuple(
        node(f"{prefix}-{number:02}", cpu=cpu, memory=memory, labels={POOL: prefix, ZONE: f"zone-{number % ZONES}"})
        for number in range(count)
    )


def workloads(random_: random.Random, millicores: int, taste: Taste) -> tuple[Manifest, ...]:
    """Deployments and StatefulSets that together ask for nearly so much CPU, each with its budget, if any."""
    found: list[Manifest] = []
    left = millicores
    for number in range(1000):
        replicas, size = random_.randint(*taste.replicas), random_.choice(taste.millicores)
        manifests = list(_workload(random_, f"app-{number:02}", replicas, size, taste))
        if replicas * size > left:
            if left < taste.replicas[0] * min(taste.millicores):
                break
            continue
        left -= replicas * size
        found.extend(manifests)
    return tuple(found)


def _workload(random_: random.Random, name: str, replicas: int, size: int, taste: Taste) -> Iterator[Manifest]:
    """One workload, and the budget over it where it has one."""
    memory = size * random_.choice(taste.mebibytes_per_core) // 1000
    make: Callable[..., Manifest] = stateful_set if random_.random() < taste.stateful_share else deployment
    yield make(name, replicas=replicas, cpu=f"{size}m", memory=f"{memory}Mi")
    draw = random_.random()
    if draw < taste.locked_share:
        yield disruption_budget(name, minAvailable=replicas)
    elif draw < taste.locked_share + taste.guarded_share:
        yield disruption_budget(name, maxUnavailable=1)
