"""Pending pods that are helped all or none: those of one PodGroup, or with the same value of a label."""

from __future__ import annotations

from collections import defaultdict

from rescheduler.model.objects.cluster import Cluster
from rescheduler.planning.problem.moving_together import POD_GROUP_LABELS


def groups_helped_together(cluster: Cluster, label: str | None = None) -> tuple[tuple[int, ...], ...]:
    """Indices of pending pods of one namespace that share a PodGroup, or the value of ``label``; at least two each.

    Pods that run already or are finished are not among them. A pod may be in two groups, which are then one.
    """
    found: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, pod in enumerate(cluster.pods):
        if pod.node_name is None and not pod.is_finished and not pod.is_terminating:
            for key in (*POD_GROUP_LABELS, *((label,) if label else ())):
                value = pod.labels.get(key)
                if value:
                    found[pod.namespace, key, value].append(number)
    return tuple(tuple(pods) for pods in found.values() if len(pods) > 1)
