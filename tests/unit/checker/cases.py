"""Plans for tests of the checker, and what it finds wrong in them."""

from __future__ import annotations

from typing import Any

from rescheduler.checker.checker import check_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import (
    Move,
    ObjectiveResult,
    Plan,
    PlannedPlacement,
    PodReference,
    SnapshotSummary,
    Status,
)


def reference(key: str, namespace: str = "default") -> PodReference:
    """A pod of the builders, by name."""
    return PodReference(namespace, key, f"uid-{namespace}-{key}")


def move(name: str, from_node: str, to_node: str, wave: int = 1, **fields: Any) -> Move:
    """A move for MakeRoom."""
    return Move(
        **{
            "pod": reference(name),
            "from_node": from_node,
            "to_node": to_node,
            "wave": wave,
            "objective": "MakeRoom",
            "reason": "makes room",
            **fields,
        }
    )


def place(name: str, node: str, wave: int = 0, **fields: Any) -> PlannedPlacement:
    """A pending pod that gets a place."""
    return PlannedPlacement(**{"pod": reference(name), "node": node, "wave": wave, **fields})


def plan(*steps: Move | PlannedPlacement, **result: Any) -> Plan:
    """A plan of moves and placements whose claims agree with them, unless ``result`` says otherwise."""
    moves = tuple(step for step in steps if isinstance(step, Move))
    placements = tuple(step for step in steps if isinstance(step, PlannedPlacement))
    claims: dict[str, Any] = {
        "name": "MakeRoom",
        "status": Status.OPTIMAL,
        "value": len(moves),
        "bound": len(moves),
        "gap": 0.0,
        "unit": "evictions",
        "seconds": 0.1,
        "helped": len(placements),
        "wanted": len(placements),
    }
    return Plan(
        snapshot=SnapshotSummary(None, 0, 0, 0, "test"),
        objectives=(ObjectiveResult(**{**claims, **result}),),
        moves=moves,
        placements=placements,
    )


def anything_goes(
    cluster: Cluster, groups: tuple[DisruptionGroup, ...] = (), limits: MoveLimits | None = None
) -> Eligibility:
    """Every pod on a node may be moved, every pending one helped."""
    running = tuple(index for index, pod in enumerate(cluster.pods) if pod.node_name is not None)
    pending = tuple(index for index, pod in enumerate(cluster.pods) if pod.node_name is None)
    return Eligibility(running, {}, pending, {}, groups, limits or MoveLimits())


def broken(cluster: Cluster, checked: Plan, eligibility: Eligibility | None = None) -> set[str]:
    """The rules that a plan breaks."""
    return {violation.rule for violation in check_plan(cluster, checked, eligibility or anything_goes(cluster))}
