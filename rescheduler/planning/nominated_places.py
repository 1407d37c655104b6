"""Pending pods that the scheduler has made room for itself: their nominated node is theirs once pods there are gone."""

from __future__ import annotations

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.arrays import NOWHERE
from rescheduler.model.placement import Placement
from rescheduler.planning.fitting import fits


def seat_nominated(prediction: SchedulerPrediction, placement: Placement) -> dict[int, int]:
    """Put pending pods on the node they are nominated to, in ``placement``, where they only wait for pods to end there.

    Such a pod needs no help, and nobody else may be sent to its room. One that fits there already, and one that would
    not fit even then, waits like any other. Returns the pods with their nodes.
    """
    columns = placement.columns
    seated: dict[int, int] = {}
    for pod, node in sorted(nominations(placement).items(), key=lambda item: _by_priority(placement, item[0])):
        ending = np.flatnonzero(columns.is_terminating & (placement.node_of == node))
        if not len(ending) or not prediction.static_feasible(pod)[node]:
            continue
        request = columns.requests[:, columns.shape_of[pod]]
        room = placement.free()[:, [node]]
        held = np.array([placement.held_at(other, node) for other in ending.tolist()])
        later = room + held.sum(axis=0)[:, None]
        if not fits(request, room)[0] and fits(request, later)[0]:
            placement.assume(pod, node)
            seated[pod] = node
    return seated


def nominations(placement: Placement) -> dict[int, int]:
    """Pending pods without a place, not gated, with the node that they are nominated to."""
    columns = placement.columns
    found = {}
    for number in np.flatnonzero(placement.node_of == NOWHERE).tolist():
        pod = columns.cluster.pods[number]
        node = columns.node_index.get(pod.nominated_node) if pod.nominated_node else None
        if node is not None and pod.is_pending and not pod.scheduling_gates:
            found[number] = node
    return found


def _by_priority(placement: Placement, pod: int) -> tuple[int, int]:
    return -placement.columns.cluster.pods[pod].spec.priority, pod
