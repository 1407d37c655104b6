"""When the number of replicas that each workload wants was last changed, as far as snapshots show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Workload


class Wanted(NamedTuple):
    """How many replicas a workload wanted when last seen, and since when it is known to have been changed to that.

    ``generation``: the workload's own, which each change of its specification raises by one.
    """

    replicas: int
    changed_at: float | None = None
    generation: int = 0


SCALED_AND_BACK = 2
"""Changes in which a number of replicas can be changed, and be what it was again."""


def remember_wanted(
    before: Mapping[str, Wanted], cluster: Cluster, *, is_first_a_change: bool = False
) -> dict[str, Wanted]:
    """What is known after one more snapshot, by uid; a number that differs, or may have done so, was changed by now.

    ``is_first_a_change``: so was one that is seen for the first time, unless the workload tells of an earlier time;
    nobody else knows what it was before.
    """
    found = {}
    for workload in cluster.workloads:
        wanted = workload.desired_replicas
        if wanted is None:
            continue
        known = before.get(workload.uid)
        if known is None:
            changed_at = _since(workload, cluster.taken_at) if is_first_a_change else None
        elif known.replicas != wanted or _may_be_back(workload, known):
            changed_at = cluster.taken_at
        else:
            changed_at = known.changed_at
        found[workload.uid] = Wanted(wanted, changed_at, workload.generation)
    return found


def _may_be_back(workload: Workload, known: Wanted) -> bool:
    """Whether the number may have been another between the two looks."""
    return known.generation > 0 and workload.generation - known.generation >= SCALED_AND_BACK


def _since(workload: Workload, now: float) -> float:
    return now if workload.scaled_at is None else min(workload.scaled_at, now)
