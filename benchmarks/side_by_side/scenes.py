"""The clusters on which both are compared, each drawn from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.side_by_side.workloads import NODE_MILLICORES, POOL, Taste, nodes, workloads
from tests.cluster.api import Manifest
from tests.cluster.shapes import daemon_set, deployment


@dataclass(frozen=True)
class Scene:
    """What is created, in this order; pods find their places by themselves."""

    nodes: tuple[Manifest, ...]
    standing: tuple[Manifest, ...]
    """Workloads and budgets that all find room."""
    new_nodes: tuple[Manifest, ...] = ()
    """Nodes that come when the workloads stand."""
    waiting: tuple[Manifest, ...] = ()
    """Workloads that come last and find no room on ``nodes``, the only ones that they may use."""

    @property
    def old_nodes(self) -> frozenset[str]:
        """Names of the nodes that were there from the start."""
        return frozenset(node["metadata"]["name"] for node in self.nodes)


def consolidation(seed: int, size: int = 24) -> Scene:
    """24 nodes, or so many, about 40 % of their CPU asked for."""
    random_ = random.Random(f"consolidation {seed}")
    return Scene(nodes(size, "node"), (_agent(), *workloads(random_, _share(size, 0.4), Taste())))


def spreading(seed: int) -> Scene:
    """16 nodes, about 80 % of their CPU asked for, and 8 nodes that were just added."""
    random_ = random.Random(f"spreading {seed}")
    taste = Taste(millicores=(250, 500, 750, 1000, 1500))
    return Scene(nodes(16, "full"), (_agent(), *workloads(random_, _share(16, 0.8), taste)), nodes(8, "new"))


def pending(seed: int) -> Scene:
    """12 nodes, about 72 % of their CPU asked for, tight budgets, 4 new nodes, and pods that may use old ones only."""
    random_ = random.Random(f"pending {seed}")
    taste = Taste(guarded_share=0.4, locked_share=0.25)
    standing = workloads(random_, _share(12, 0.72), taste)
    waiting = tuple(
        deployment(
            f"large-{number}", replicas=2, cpu=f"{random_.choice((3500, 4000, 4500))}m", memory="4Gi",
            spec={"nodeSelector": {POOL: "old"}},
        )
        for number in range(2)
    )  # fmt: skip
    return Scene(nodes(12, "old"), (_agent(), *standing), nodes(4, "new"), waiting)


def _share(count: int, share: float) -> int:
    """A share of the CPU of so many nodes, in millicores."""
    return round(count * NODE_MILLICORES * share)


def _agent() -> Manifest:
    """A DaemonSet, as every cluster has some; a node on which only its pods run counts as empty."""
    return daemon_set("agent", cpu="50m", memory="64Mi")
