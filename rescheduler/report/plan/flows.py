"""Where pods go by a plan, or went when it was carried out: moves and placements in one form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    OutcomeKind,
    PlacementOutcome,
    Plan,
    PlannedPlacement,
    PlanResult,
    PodReference,
)

_STAYED = (OutcomeKind.REFUSED, OutcomeKind.NOT_ATTEMPTED, OutcomeKind.UNDONE)


def is_evicted(move: Move) -> bool:
    """False for a move of a result that was refused, or was not its turn any more; its pod is where it was."""
    return not isinstance(move, MoveOutcome) or move.outcome not in _STAYED


class Flow(NamedTuple):
    """One pod that changes its node in a wave. ``origin`` None: it was pending; ``target`` None: it is not known where.

    ``wave`` 0 is before the first wave: a pending pod that fits already. ``leaves_first``: all pods of the wave leave
    before any of them arrives.
    """

    pod: PodReference
    origin: str | None
    target: str | None
    wave: int
    leaves_first: bool = False


def flows_of(plan: Plan | PlanResult) -> tuple[Flow, ...]:
    """All that moves, by wave, a wave's moves before the placements that it makes room for.

    Of a result that which happened: pods that were not evicted are left out, and others end where they landed.
    """
    flows = [*_moved(plan), *_placed(plan)]
    return tuple(sorted(flows, key=lambda flow: (flow.wave, flow.origin is None)))


def _moved(plan: Plan | PlanResult) -> Iterator[Flow]:
    """A finished pod holds no room, so that nothing moves when it goes."""
    for move in plan.moves:
        if is_evicted(move) and move.destination is not None:
            yield Flow(move.pod, move.from_node, _target(move, move.to_node), move.wave, bool(move.evict_first))


def _placed(plan: Plan | PlanResult) -> Iterator[Flow]:
    for place in plan.placements:
        target = _target(place, place.node)
        if target is not None:
            yield Flow(place.pod, None, target, place.wave)


def _target(item: Move | PlannedPlacement, planned: str) -> str | None:
    """Where the pod is now; where it was expected as long as nothing was carried out, None where nobody knows."""
    if not isinstance(item, MoveOutcome | PlacementOutcome):
        return planned
    if item.landed_on is not None:
        return item.landed_on
    return planned if item.outcome is OutcomeKind.LANDED else None


# Which nodes a plan leaves empty.


def emptied_nodes(plan: Plan | PlanResult, cluster: Cluster) -> tuple[str, ...]:
    """Names of nodes whose last pod leaves, in order; pods that go with their node do not count.

    Of a result those that are empty by what happened.
    """
    flows = flows_of(plan)
    gone = {flow.pod.key for flow in flows}
    used = {flow.target for flow in flows}
    left = {flow.origin for flow in flows if flow.origin is not None and flow.pod.key in cluster.pod_by_key}
    return tuple(sorted(name for name in left - used if _is_empty_without(gone, name, cluster)))


def _is_empty_without(gone: set[str], node: str, cluster: Cluster) -> bool:
    if node not in cluster.node_by_name:
        return False
    pods = cluster.pods_by_node.get(node, ())
    return all(pod.key in gone or pod.is_terminating or pod.belongs_to_its_node for pod in pods)
