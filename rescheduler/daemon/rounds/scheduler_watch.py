"""Tells when a scheduler has fallen silent: pods wait that it has not tried, and it gives no other sign of life."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from rescheduler.model.objects.annotations import MIRROR
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod

GATED: Final = "SchedulingGated"
"""Why a pod has no node while it is gated, in the API server's word; it stays until a scheduler has tried the pod."""


class SchedulerWatch:
    """Watches schedulers by name, from snapshot to snapshot.

    A pod counts from its creation on, one that was gated from when it was first seen without its gates.
    """

    def __init__(self, schedulers: Collection[str]) -> None:
        """``schedulers``: those that are configured; pods of others wait for what we know nothing of."""
        self._schedulers = frozenset(schedulers)
        self._freed_at: dict[str, float] = {}

    def silent_seconds(self, cluster: Cluster) -> float | None:
        """How long the most silent scheduler has left a pod untried; None where no pod waits for its first try.

        A scheduler that is busy with others binds them, or says of them that they find no place: since then it has
        not been silent.
        """
        untried = [pod for pod in cluster.pending_pods if self._is_untried(pod)]
        freed = {pod.uid: pod for pod in untried if pod.unscheduled == GATED}
        known = self._freed_at  # taken once: whoever approves a plan asks from another thread
        self._freed_at = freed_at = {uid: known.get(uid, cluster.taken_at) for uid in freed}
        if not untried:
            return None
        heard_at = _heard_at(cluster)
        since = [
            max(_waits_since(pod, cluster, freed_at), heard_at.get(pod.spec.scheduler_name, 0.0)) for pod in untried
        ]
        return max(0.0, cluster.taken_at - min(since))

    def _is_untried(self, pod: Pod) -> bool:
        """Whether its scheduler could have tried it and has not; one with needs that we do not model may have to wait
        for something else first."""
        is_ours_to_judge = pod.spec.scheduler_name in self._schedulers and not pod.spec.unmodelled
        return is_ours_to_judge and not pod.scheduling_gates and pod.unscheduled in ("", GATED)


def _waits_since(pod: Pod, cluster: Cluster, freed_at: Mapping[str, float]) -> float:
    if pod.unscheduled == GATED:
        return freed_at[pod.uid]
    return cluster.taken_at if pod.created_at is None else pod.created_at


def _heard_at(cluster: Cluster) -> dict[str, float]:
    """The newest sign of life of each scheduler, seconds since the epoch."""
    newest: dict[str, float] = {}
    for name, at in _signs(cluster):
        newest[name] = max(at, newest.get(name, 0.0))
    return newest


def _signs(cluster: Cluster) -> Iterator[tuple[str, float]]:
    for pod in cluster.pods:
        at = pod.scheduled_at if pod.node_name is not None else pod.unscheduled_at
        # The kubelet says of its own pods that they are scheduled; no scheduler has seen them.
        if at is not None and pod.unscheduled != GATED and MIRROR not in pod.annotations:
            yield pod.spec.scheduler_name, at
