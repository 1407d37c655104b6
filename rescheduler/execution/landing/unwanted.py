"""Pods that left and that nobody wants replaced any more: their owner is gone, or has all the pods that it wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rescheduler.execution.landing.departures import EvictedPod, true_siblings
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod

COUNTED_OWNERS: Final = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController"})
"""Kinds that make a pod for each one that they want and do not have; others have reasons of their own to wait."""
FIRST_SECONDS: Final = 5.0
"""So long after a pod went its replacement is late, and it is asked whether one is wanted; later each time."""


def why_unwanted(departure: EvictedPod, cluster: Cluster) -> str | None:
    """Why nothing will come for a pod that is gone, by a snapshot that was taken since; None: something may.

    An owner that its controller has not looked at since it was changed may want more in a moment.
    """
    reference, pod = departure.pod.controller, departure.pod
    if reference is None or reference.kind not in COUNTED_OWNERS or reference.group is not None:
        return None
    standing = [other for other in true_siblings(pod, cluster) if other.is_active]
    if any(other.uid == pod.uid for other in standing):
        return None
    owner = cluster.workload_by_uid.get(reference.uid)
    if owner is None:
        return f"{reference.written} is gone" if cluster.would_hold(reference.kind, reference.group) else None
    if owner.is_terminating:
        return f"{reference.written} is being deleted"
    is_seen = owner.observed_generation >= owner.generation
    if owner.desired_replicas is not None and is_seen and len(standing) >= owner.desired_replicas:
        return f"{reference.written} wants no more than {owner.desired_replicas} by now"
    return None


class UnwantedPods:
    """Looks for them among pods whose replacements are late; ``read`` takes a snapshot."""

    def __init__(self, read: Callable[[], Cluster]) -> None:
        self._read = read
        self._due: dict[str, tuple[float, float]] = {}

    def find(self, departures: Iterable[EvictedPod], now: float) -> None:
        """Note what nobody wants; reads at most once, and most often not at all. Raises ClusterError."""
        late = [item for item in departures if self._is_due(item, now)]
        if not late:
            return
        cluster = self._read()
        for item in late:
            item.unwanted = why_unwanted(item, cluster)

    def _is_due(self, item: EvictedPod, now: float) -> bool:
        """Whether it is time to ask about a pod for which nothing has come."""
        is_missing = item.is_gone and item.has_owner and item.replacement is None
        if not is_missing or item.move.method is not MoveMethod.EVICT:
            self._due.pop(item.pod.uid, None)
            return False
        at, pause = self._due.setdefault(item.pod.uid, (now + FIRST_SECONDS, FIRST_SECONDS))
        if now < at:
            return False
        self._due[item.pod.uid] = now + pause * 2, pause * 2
        return True
