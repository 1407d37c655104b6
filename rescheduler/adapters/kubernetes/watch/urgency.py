"""Which changes of the cluster are worth a look at once: those that a round may be wanted for."""

from __future__ import annotations

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


def is_urgent(before: object, found: object) -> bool:
    """Whether a pod has become unschedulable, or a node has come or changed; all else may wait for the next look.

    ``before``: the object as it stood, None for a new one. A pod that its scheduler has not looked at yet will most
    likely have a place in a moment, and one that is tried again in vain has nothing new to tell.
    """
    if isinstance(found, Pod):
        is_stuck = found.is_pending and found.unscheduled == "Unschedulable"
        return is_stuck and not (isinstance(before, Pod) and _plight(before) == _plight(found))
    return isinstance(found, Node) and found != before


def _plight(pod: Pod) -> tuple[object, ...]:
    """What decides whether and when a waiting pod asks for room."""
    return pod.uid, pod.unscheduled, pod.unscheduled_at, pod.nominated_node, pod.scheduling_gates
