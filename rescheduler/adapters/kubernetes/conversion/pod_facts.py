"""What is asked about all pods of a snapshot together, kept up to date pod by pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from rescheduler.model.pod import Pod


class PodFacts(NamedTuple):
    """``nodes``: the names of all nodes that pods name. ``latest_created``: no pod was created later than this."""

    nodes: frozenset[str]
    latest_created: float
    has_double_uids: bool


class PodTally:
    """Counts pods as they come and go."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._nodes: Counter[str] = Counter()
        self._uids: Counter[str] = Counter()
        self._doubles = 0
        self._latest = -inf
        for pod in pods:
            self.add(pod)

    def add(self, pod: Pod) -> None:
        """Count a pod."""
        if pod.node_name is not None:
            self._nodes[pod.node_name] += 1
        if pod.created_at is not None and pod.created_at > self._latest:
            self._latest = pod.created_at
        if pod.uid:
            self._uids[pod.uid] += 1
            self._doubles += self._uids[pod.uid] > 1

    def remove(self, pod: Pod) -> None:
        """Count a pod, which was counted, no more."""
        if pod.node_name is not None:
            _take_one(self._nodes, pod.node_name)
        if pod.uid:
            self._doubles -= self._uids[pod.uid] > 1
            _take_one(self._uids, pod.uid)

    def facts(self) -> PodFacts:
        """As it stands."""
        return PodFacts(frozenset(self._nodes), self._latest, self._doubles > 0)


def _take_one(counts: Counter[str], key: str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
