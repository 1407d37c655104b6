"""Room that is open for one replacement at a time: what kept it closed stands back, and is kept again."""

from __future__ import annotations

from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.guidance.holds import Holds
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move


class Way:
    """Of the move at hand. Raises ClusterError, and PlanStoppedError where a placeholder is lost."""

    def __init__(self, holds: Holds) -> None:
        self._holds = holds
        self._others: list[HeldRoom] = []
        self._own: list[HeldRoom] = []

    def open(self, move: Move, pod: Pod, cluster: Cluster) -> None:
        """Let the replacement of a move find its room.

        Kept out by its own placeholder it would go elsewhere, or throw others out. Only room that the plan made stays
        closed until the replacement is led into it.
        """
        holds, own = self._holds, self._holds.of(move.pod)
        self._others = [hold for hold in holds.in_the_way(pod, move.to_node, cluster) if holds.stands(hold)]
        is_own_in_the_way = own is not None and (not own.is_made_by_plan or can_preempt(pod, cluster))
        self._own = [own] if own is not None and is_own_in_the_way else []
        holds.remove(self._others)
        holds.remove(self._own)

    @property
    def is_open_to_others(self) -> bool:
        """Whether somebody else's room is open as well, for as long as the replacement looks for its own."""
        return bool(self._others)

    def close(self) -> None:
        """Keep others' room again."""
        self._holds.set(self._others)
        self._others = []

    def shut_again(self) -> None:
        """Keep all of it again, for a move that does not start after all."""
        self._holds.set([*self._others, *self._own])
        self._others, self._own = [], []


def can_preempt(pod: Pod, cluster: Cluster) -> bool:
    """Whether a new pod of this kind may throw a running one out when it finds no room."""
    return pod.spec.preemption_policy != "Never" and any(
        other.spec.priority < pod.spec.priority for other in cluster.pods if other.node_name and not other.is_finished
    )
