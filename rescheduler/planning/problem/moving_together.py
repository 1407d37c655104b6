"""Groups of pods that move together or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from rescheduler.model.objects.cluster import Cluster

POD_GROUP_LABELS = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")


def groups_moving_together(cluster: Cluster, label: str | None) -> tuple[tuple[int, ...], ...]:
    """Running pods of one namespace that share a PodGroup, or the value of ``label``; groups of one are left out."""
    found: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, pod in enumerate(cluster.pods):
        if pod.node_name is None or not pod.is_active:
            continue
        for key in (*POD_GROUP_LABELS, *((label,) if label else ())):
            value = pod.labels.get(key)
            if value:
                found[(pod.namespace, key, value)].append(number)
    return tuple(tuple(pods) for pods in found.values() if len(pods) > 1)


def in_broken_groups(groups: Iterable[Sequence[int]], moved: Collection[int]) -> set[int]:
    """Pods of groups of which some move and some stay."""
    moved = frozenset(moved)
    broken: set[int] = set()
    for group in groups:
        if 0 < sum(pod in moved for pod in group) < len(group):
            broken.update(group)
    return broken
