"""The floor under every workload: how many of its pods may be unready at once, moves included."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import NamedTuple

from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload


class WorkloadAvailability(NamedTuple):
    """A workload with its replicas as they stand, in pods. ``limit``: how many may be unready."""

    workload: Workload
    desired: int
    ready: int
    limit: int

    @property
    def unready(self) -> int:
        """Replicas that are missing, pending, terminating or not ready."""
        return max(0, self.desired - self.ready)

    @property
    def allowed(self) -> int:
        """Ready pods that one wave may take away."""
        return max(0, self.limit - self.unready)


def workload_limit(max_unavailable: int | str, desired: int) -> int:
    """Pods of ``desired`` that may be unready at once: the number itself, or a share (``10%``) of at least 1.

    Shares are rounded towards fewer. 0 and 0% let no pod go.
    """
    if isinstance(max_unavailable, int):
        return max_unavailable
    percent = int(max_unavailable.removesuffix("%"))
    return max(1, desired * percent // 100) if percent else 0


class WorkloadBudgets:
    """How each workload of a cluster stands, asked for by pod."""

    def __init__(self, cluster: Cluster, max_unavailable: int | str, remembered: Mapping[str, int]) -> None:
        """The pods of each workload that is asked for are counted once.

        ``remembered``: desired replicas by uid of owners that are known by their pods alone, as counted earlier: while
        such a pod is being replaced, the number of pods says nothing.
        """
        self._cluster = cluster
        self._max_unavailable = max_unavailable
        self._remembered = remembered
        self._statuses: dict[str, WorkloadAvailability] = {}

    def of(self, pod: Pod) -> WorkloadAvailability | None:
        """How the pod's workload stands; None without one."""
        workload = self._cluster.workload_of(pod)
        if workload is None:
            return None
        status = self._statuses.get(workload.uid)
        if status is None:
            status = self._statuses[workload.uid] = self._status(workload)
        return status

    def _status(self, workload: Workload) -> WorkloadAvailability:
        is_ready = [counts_as_ready(pod) for pod in self._cluster.pods_of(workload.uid)]
        desired = len(is_ready) if workload.desired_replicas is None else workload.desired_replicas
        if workload.is_inferred:
            desired = self._remembered.get(workload.uid, desired)
        limit = workload_limit(self._max_unavailable, desired)
        return WorkloadAvailability(workload, desired, sum(is_ready), limit)


class BereftWorkloads(Container[str]):
    """Uids of workloads that want replicas and have not one that is ready; looked up when somebody asks about one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __contains__(self, uid: object) -> bool:
        workload = self._cluster.workload_by_uid.get(str(uid))
        if workload is None or not workload.desired_replicas:
            return False
        return not any(map(counts_as_ready, self._cluster.pods_of(workload.uid)))
