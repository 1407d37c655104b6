"""Which pending pods make room is to help, and the problem as it begins: without what earlier objectives used up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec.structs import replace as with_changes

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.problem.moving_together import POD_GROUP_LABELS
from rescheduler.planning.problem.pending_groups import PendingGroups
from rescheduler.planning.problem.plan_request import PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import moved_already, remaining_limits
from rescheduler.planning.waves.free_places import seat_nominated


@dataclass(frozen=True)
class HelpWanted:
    """A request, and which pending pods are to be helped.

    Pods that are not where the snapshot has them have moved already: they stay, and count against the limits of the
    plan; pending pods that have a place wait no more. ``evictions_per_pod``: what helping one more pod may take (None:
    any number); a group is worth that for each of its pods. ``together``: groups of pending pods that are helped all
    or none; ``all_or_nothing``: all pods are one group.
    """

    request: PlanRequest
    evictions_per_pod: int | None = None
    all_or_nothing: bool = False
    together: tuple[tuple[int, ...], ...] = ()

    def problem(self, pending: Collection[int] | None = None, limits: MoveLimits | None = None) -> Problem:
        """The problem of the request.

        ``pending``: only these pods are to be helped (None: all that wait); ``limits``: in place of the request's.
        """
        request = self.request
        waiting = self.helpable() if pending is None else pending
        movable = np.setdiff1d(np.array(request.eligibility.movable, dtype=np.int64), moved_already(request.placement))
        eligibility = with_changes(
            request.eligibility,
            movable=tuple(movable.tolist()),
            helpable=tuple(sorted(waiting)),
            limits=request.eligibility.limits if limits is None else limits,
        )
        together: Sequence[Sequence[int]] = [tuple(waiting)] if self.all_or_nothing else self.together
        groups = PendingGroups(request.prediction.columns.cluster, waiting, together, self.evictions_per_pod)
        remaining = remaining_limits(eligibility.limits, request.placement)
        return Problem(request.prediction, request.placement, eligibility, groups, remaining)

    def with_nominated_seated(self) -> tuple[HelpWanted, list[str]]:
        """The same with pods on their nominated nodes that only wait for others to end there, and a note on them."""
        start = self.request.placement.copy()
        seated = seat_nominated(self.request.prediction, start)
        if not seated:
            return self, []
        cluster = start.columns.cluster
        told = ", ".join(f"{cluster.pods[pod].key} on {cluster.nodes[node].name}" for pod, node in seated.items())
        note = f"the scheduler has made room already, and only waits for pods to end there: {told}"
        return replace(self, request=replace(self.request, placement=start)), [note]

    def waiting(self) -> tuple[int, ...]:
        """Pods that wait for a place."""
        node_of = self.request.placement.node_of
        return tuple(pod for pod in self.request.eligibility.helpable if node_of[pod] == NOWHERE)

    def helpable(self) -> tuple[int, ...]:
        """Pods that wait for a place, without those of groups that cannot be whole."""
        lost = set(self.incomplete())
        return tuple(pod for pod in self.waiting() if pod not in lost)

    def incomplete(self) -> tuple[int, ...]:
        """Pods that wait, in groups of which another pod waits too but may not be helped: they cannot be whole."""
        may = set(self.request.eligibility.helpable)
        node_of = self.request.placement.node_of
        lost: set[int] = set()
        for group in self.together:
            if any(node_of[pod] == NOWHERE and pod not in may for pod in group):
                lost.update(group)
        return tuple(pod for pod in self.waiting() if pod in lost)


def groups_helped_together(cluster: Cluster, label: str | None = None) -> tuple[tuple[int, ...], ...]:
    """Indices of pending pods of one namespace that share a PodGroup, or the value of ``label``; at least two each.

    Pods that run already or are finished are not among them. A pod may be in two groups, which are then one.
    """
    found: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    for number, pod in enumerate(cluster.pods):
        if pod.node_name is None and pod.is_active:
            for key in (*POD_GROUP_LABELS, *((label,) if label else ())):
                value = pod.labels.get(key)
                if value:
                    found[pod.namespace, key, value].append(number)
    return tuple(tuple(pods) for pods in found.values() if len(pods) > 1)
