"""Brings pods to the very nodes that a plan names, by shutting all others while they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.execution.guidance.hold_maker import HeldRoom, HoldMaker, fits, free_room, held_by, take
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.guidance.room import may_receive
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import MAKE_ROOM, Move

MOST_SHUT: Final = 250
"""More nodes are not shut for pods that move: these go where the scheduler likes them best."""
FEW_SHUT: Final = 50
SHUT_A_POD: Final = 10
"""So many nodes are shut in any case, or for each pod, where the scheduler is foretold to bring the pods there."""
LONGEST_GRACE_SECONDS: Final = 30
"""Nodes are not shut for longer than this for a pod that only comes when the old one has ended."""


class Guide:
    """Shuts all nodes while pods move, but for the one that it is the turn of."""

    def __init__(self, holds: Holds, maker: HoldMaker) -> None:
        self._holds = holds
        self._maker = maker
        self._shut: dict[str, list[HeldRoom]] = {}

    def too_many(self, pods: Sequence[Pod], cluster: Cluster, *, is_needed: bool = True) -> int:
        """How many nodes would have to be shut for these pods, if they are more than are shut; else 0.

        ``is_needed``: one of them at least would go elsewhere by itself.
        """
        number = len(open_nodes(pods, cluster, self._holds))
        most = MOST_SHUT if is_needed else min(MOST_SHUT, max(FEW_SHUT, SHUT_A_POD * len(pods)))
        return number if number > most else 0

    def shut(self, pods: Sequence[Pod], cluster: Cluster) -> None:
        """Leave no room for these pods anywhere."""
        nodes = open_nodes(pods, cluster, self._holds)
        self._shut = {node: self._maker.closing(node, self._maker.full) for node in nodes}
        self._holds.set([hold for holds in self._shut.values() for hold in holds])

    def open(self, node: str) -> None:
        """Let pods come to one node."""
        self._holds.remove(self._shut.get(node, ()))

    def shut_again(self, node: str) -> None:
        """Take back ``open``."""
        self._holds.set(self._shut.get(node, ()))

    def end(self) -> None:
        """Open all nodes."""
        self._holds.remove([hold for holds in self._shut.values() for hold in holds])
        self._shut = {}


def is_guided(move: Move, pod: Pod) -> bool:
    """Whether a pod is brought to its very node, even where the scheduler likes others as much or more.

    When room is made it only matters that pods leave, so there the plan says for which ones it matters.
    """
    if move.needs_guidance or move.objective == MAKE_ROOM:
        return move.needs_guidance
    owner = pod.controller
    comes_late = owner is not None and owner.kind == "StatefulSet"
    return not comes_late or pod.spec.termination_grace_seconds <= LONGEST_GRACE_SECONDS


def open_nodes(pods: Sequence[Pod], cluster: Cluster, holds: Holds) -> list[str]:
    """Nodes on which one of these pods, about to leave, finds room by its requests.

    Room that pods on their way out, and these pods themselves, still hold counts as free.
    """
    leaving = {pod.uid for pod in pods}
    kinds = {pod.spec.requests for pod in pods}
    found = []
    for node in cluster.nodes:
        room = free_room(cluster, node.name)
        for pod in cluster.pods_by_node.get(node.name, ()):
            if pod.uid in leaving or pod.is_terminating:
                take(room, held_by(pod), -1)
        for hold in holds.on([node.name]):
            take(room, hold.request.requests)
        if may_receive(node, pods) and any(fits(room, requests) for requests in kinds):
            found.append(node.name)
    return found
