"""When the number of replicas that each workload wants was last changed, as far as snapshots show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Workload


class Wanted(NamedTuple):
    """How many replicas a workload wanted when last seen, and since when it is known to have been changed to that."""

    replicas: int
    changed_at: float | None = None


def remember_wanted(
    before: Mapping[str, Wanted], cluster: Cluster, *, is_first_a_change: bool = False
) -> dict[str, Wanted]:
    """What is known after one more snapshot, by uid; a number that differs was changed by now.

    ``is_first_a_change``: so was one that is seen for the first time, unless the workload tells of an earlier time;
    nobody else knows what it was before.
    """
    found = {}
    for workload in cluster.workloads:
        if workload.desired_replicas is not None:
            known = before.get(workload.uid)
            if known is None or known.replicas == workload.desired_replicas:
                found[workload.uid] = known or Wanted(
                    workload.desired_replicas, _since(workload, cluster.taken_at) if is_first_a_change else None
                )
            else:
                found[workload.uid] = Wanted(workload.desired_replicas, cluster.taken_at)
    return found


def _since(workload: Workload, now: float) -> float:
    return now if workload.scaled_at is None else min(workload.scaled_at, now)
