"""Clusters that hold little, and plans made by first fit that empty some of their nodes."""

from __future__ import annotations

from collections.abc import Collection

from rescheduler.execution.guidance.hold_maker import fits, free_room, take
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of


def sparse(nodes: int = 6, replicas: int = 2, **fields: object) -> Cluster:
    """Nodes of 4 CPU with a pod of 1 CPU of each of ``replicas`` workloads on each: app0-N and app1-N on node nN."""
    pods = [
        pod(f"app{app}-{number}", "1", "256Mi", node=f"n{number}", owner=f"app{app}", **fields)  # type: ignore[arg-type]
        for app in range(replicas)
        for number in range(nodes)
    ]
    return cluster(
        *(node(f"n{number}", "4") for number in range(nodes)),
        *pods,
        *(workload(f"app{app}", nodes) for app in range(replicas)),
    )


def emptying(start: Cluster, emptied: Collection[str], *, in_a_wave: int = 2, objective: str = "EmptyNodes") -> Plan:
    """Moves all pods off some nodes, each to the first other node with room."""
    rooms = {item.name: free_room(start, item.name) for item in start.nodes if item.name not in emptied}
    moves: list[tuple[str, str, int]] = []
    for item in start.pods:
        if item.node_name in emptied:
            target = next(name for name, room in rooms.items() if fits(room, item.spec.requests))
            take(rooms[target], item.spec.requests)
            moves.append((item.name, target, len(moves) // in_a_wave + 1))
    return plan_of(start, moves, objective=objective)
