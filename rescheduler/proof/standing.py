"""Where pods stand once a plan is carried out."""

from __future__ import annotations

from typing import TypeAlias

from rescheduler.model.cluster import Cluster
from rescheduler.model.node import Node
from rescheduler.model.plan import Plan
from rescheduler.model.pod import Pod

Standing: TypeAlias = list[tuple[Pod, Node]]


def standing_after(cluster: Cluster, plan: Plan) -> Standing:
    """Each pod that stays, with its node; finished and terminating pods, and those on unknown nodes, are left out."""
    targets = {move.pod.key: move.to_node for move in plan.moves}
    targets |= {placement.pod.key: placement.node for placement in plan.placements}
    found: Standing = []
    for pod in cluster.pods:
        name = targets.get(pod.key, pod.node_name)
        node = None if name is None else cluster.node_by_name.get(name)
        if node is not None and not pod.is_finished and not pod.is_terminating:
            found.append((pod, node))
    return found
