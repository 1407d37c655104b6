"""Compares what a plan promised with what a final snapshot shows."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import OutcomeKind, PlanResult

ENDED = (OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE)


def verify(result: PlanResult, cluster: Cluster, leftovers: Sequence[str]) -> list[str]:
    """What is not as it should be: pods promised a place that have none, pods not evicted, things of ours left."""
    pods = cluster.pod_by_key
    complaints = []
    for item in result.placements:
        pod = pods.get(item.pod.key)
        if item.outcome in ENDED and (pod is None or pod.uid != item.pod.uid or pod.node_name != item.landed_on):
            complaints.append(f"{item.pod.key} was placed on {item.landed_on} but is not there any more")
    for move in result.moves:
        pod = pods.get(move.pod.key)
        if move.outcome in ENDED and pod is not None and pod.uid == move.pod.uid and not pod.is_terminating:
            complaints.append(f"{move.pod.key} was moved but still stands on {pod.node_name}")
    return complaints + [f"placeholder {name} still stands" for name in leftovers]
