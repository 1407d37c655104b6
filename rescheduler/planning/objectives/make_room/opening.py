"""The question as make room begins with it: without what earlier objectives have moved, placed and used up."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as with_changes

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.make_room.request import MakeRoomRequest
from rescheduler.planning.problem.pending_groups import PendingGroups
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import moved_already, remaining_limits
from rescheduler.planning.waves.free_places import seat_nominated


def open_problem(
    request: MakeRoomRequest, pending: Collection[int] | None = None, limits: MoveLimits | None = None
) -> Problem:
    """The problem of a request.

    ``pending``: only these pods are to be helped (None: all that wait); ``limits``: in place of the request's.
    """
    start = request.placement
    waiting = helpable(request) if pending is None else pending
    movable = np.setdiff1d(np.array(request.eligibility.movable, dtype=np.int64), moved_already(start))
    eligibility = with_changes(
        request.eligibility,
        movable=tuple(movable.tolist()),
        helpable=tuple(sorted(waiting)),
        limits=request.eligibility.limits if limits is None else limits,
    )
    cluster = request.prediction.columns.cluster
    together: Sequence[Sequence[int]] = request.together
    if request.all_or_nothing:
        together = [tuple(waiting)]
    pending_groups = PendingGroups(cluster, waiting, together, request.prize)
    return Problem(request.prediction, start, eligibility, pending_groups, remaining_limits(eligibility.limits, start))


def with_nominated_seated(request: MakeRoomRequest) -> tuple[MakeRoomRequest, list[str]]:
    """The request with pods on their nominated nodes that only wait for others to end there, and a note on them."""
    start = request.placement.copy()
    seated = seat_nominated(request.prediction, start)
    if not seated:
        return request, []
    cluster = start.columns.cluster
    told = ", ".join(f"{cluster.pods[pod].key} on {cluster.nodes[node].name}" for pod, node in seated.items())
    note = f"the scheduler has made room already, and only waits for pods to end there: {told}"
    return replace(request, placement=start), [note]


def helpable(request: MakeRoomRequest) -> tuple[int, ...]:
    """Pods that wait for a place, without those of groups that cannot be whole."""
    lost = set(incomplete(request))
    return tuple(pod for pod in _waiting(request) if pod not in lost)


def number_wanted(request: MakeRoomRequest) -> int:
    """How many pods wait for a place."""
    return len(_waiting(request))


def incomplete(request: MakeRoomRequest) -> tuple[int, ...]:
    """Pods that wait, in groups of which another pod waits too but may not be helped: they cannot be whole."""
    may = set(request.eligibility.helpable)
    node_of = request.placement.node_of
    lost: set[int] = set()
    for group in request.together:
        if any(node_of[pod] == NOWHERE and pod not in may for pod in group):
            lost.update(group)
    return tuple(pod for pod in _waiting(request) if pod in lost)


def _waiting(request: MakeRoomRequest) -> tuple[int, ...]:
    return tuple(pod for pod in request.eligibility.helpable if request.placement.node_of[pod] == NOWHERE)
