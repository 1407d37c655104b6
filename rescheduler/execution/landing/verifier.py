"""Compares what a plan promised with what a final snapshot shows."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.execution.landing.emptied import standing_on
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PlanResult

MOST_TOLD = 3


def verify(result: PlanResult, cluster: Cluster, leftovers: Sequence[str]) -> list[str]:
    """What is not as it should be: pods promised a place that have none, pods not evicted, things of ours left."""
    pods = cluster.pod_by_key
    complaints = []
    for item in result.placements:
        pod = pods.get(item.pod.key)
        if item.outcome.has_landed and (pod is None or pod.uid != item.pod.uid or pod.node_name != item.landed_on):
            complaints.append(f"{item.pod.key} was placed on {item.landed_on} but is not there any more")
    for move in result.moves:
        pod = pods.get(move.pod.key)
        # One that its owner has moved stays as Succeeded.
        if move.outcome.has_landed and pod is not None and pod.uid == move.pod.uid and pod.is_active:
            complaints.append(f"{move.pod.key} was moved but still stands on {pod.node_name}")
    return complaints + [f"placeholder {name} still stands" for name in leftovers]


def still_used(promised: Sequence[str], cluster: Cluster) -> list[str]:
    """Nodes that were to be empty and are not, each with pods that stand there."""
    complaints = []
    for node in promised:
        pods = [pod.key for pod in standing_on(cluster, node)]
        if pods:
            more = f" and {len(pods) - MOST_TOLD} more" if len(pods) > MOST_TOLD else ""
            stand = "stands" if len(pods) == 1 else "stand"
            complaints.append(f"node {node} was to be empty, but {', '.join(pods[:MOST_TOLD])}{more} {stand} there")
    return complaints
