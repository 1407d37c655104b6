"""ResourceQuotas: whether a namespace has room for one more pod while the old one still counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from rescheduler.model.cluster import Cluster
from rescheduler.model.pod import Pod
from rescheduler.model.workload import ResourceQuota

_OTHERS: Final = frozenset({"Terminating", "BestEffort"})
"""Scopes of pods that we never move: with a time limit of their own, or without any request."""


class Quotas:
    """Quotas by namespace. A quota with other scopes is taken to count every pod."""

    def __init__(self, cluster: Cluster) -> None:
        self._quotas: defaultdict[str, list[ResourceQuota]] = defaultdict(list)
        for quota in cluster.quotas:
            if not _OTHERS.intersection(quota.scopes):
                self._quotas[quota.namespace].append(quota)

    def objection(self, pod: Pod) -> str | None:
        """The quota that would refuse a replacement made before the old pod is gone; None: there is room."""
        asked = _asked(pod)
        for quota in self._quotas.get(pod.namespace, ()):
            used = dict(quota.used)
            for name, hard in quota.hard:
                if used.get(name, 0) + asked.get(name, 0) > hard and asked.get(name):
                    return f"ResourceQuota {quota.namespace}/{quota.name} leaves no room for another pod ({name})"
        return None


def _asked(pod: Pod) -> Mapping[str, int]:
    """What one pod adds to each counted name."""
    asked = {"pods": 1, "count/pods": 1}
    for name, amount in pod.spec.requests:
        asked[name] = asked[f"requests.{name}"] = amount
    return asked
