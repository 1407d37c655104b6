"""Undoes surges: labels back first, gates off second, then a wait until each ReplicaSet has its pod again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.execution.guidance.gates import Gates
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, NotSentError
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.detachment import detachment_of
from rescheduler.model.plan.plan import PodReference

PATIENCE_SECONDS: Final = 20.0
"""An API server that fails is asked again for so long; after that a guardian goes on, or the next run."""
TAKING_SECONDS: Final = 10.0
"""How long a ReplicaSet may take to take a pod again; it needs a fraction of a second."""
PAUSE_SECONDS: Final = 0.1


def give_back(pods: Sequence[PodReference], target: ExecutionTarget, clock: Clock, gates: Gates | None) -> str | None:
    """Give back all of these pods, whatever else is forbidden by now; in words what could not be.

    The gate is opened last: until then the ReplicaSet, which has a pod too many, deletes the one that waits there.
    """
    left, refused, trouble = list(pods), list[PodReference](), ""
    until = clock.monotonic() + PATIENCE_SECONDS
    while True:
        still = []
        for pod in left:
            try:
                target.give_back(pod)
            except NotSentError as error:  # we lead no more: a guardian goes on, and whoever leads now
                refused.append(pod)
                trouble = str(error)
            except ClusterError as error:
                still.append(pod)
                trouble = str(error)
        left = still
        if not left or clock.monotonic() >= until:
            break
        clock.sleep(1.0)
    left += refused
    _await_taken([pod for pod in pods if pod not in left], target, clock)
    if gates is not None and gates.stands:
        try:
            gates.open()
        except ClusterError as error:
            trouble = trouble or str(error)
    if not left:
        return None
    names = ", ".join(pod.key for pod in left)
    return f"{names} could not be given back ({trouble}): `rescheduler clean` does that"


def _await_taken(pods: Sequence[PodReference], target: ExecutionTarget, clock: Clock) -> None:
    """Until no pod of these is without a controller that stands; pods that are gone are fine."""
    until = clock.monotonic() + TAKING_SECONDS
    waiting = list(pods)
    while waiting and clock.monotonic() < until:
        waiting = [pod for pod in waiting if not _is_taken(pod, target)]
        if waiting:
            clock.sleep(PAUSE_SECONDS)


def _is_taken(reference: PodReference, target: ExecutionTarget) -> bool:
    try:
        pod: Pod | None = target.read_pod(reference.namespace, reference.name)
    except ClusterError:
        return False
    if pod is None or pod.uid != reference.uid or pod.is_terminating:
        return True
    return detachment_of(pod) is None and pod.controller is not None
