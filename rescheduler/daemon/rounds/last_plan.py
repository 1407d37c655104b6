"""What of a round's plan still stands when the next one begins, so that its search need not find it again."""

from __future__ import annotations

from msgspec.structs import replace as with_changes

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PodReference


class LastPlan:
    """The newest plan of one policy. What was carried out of it, or came to nothing meanwhile, is no start."""

    def __init__(self) -> None:
        self._plan: Plan | None = None

    def keep(self, plan: Plan) -> Plan:
        """The next round begins with this one."""
        self._plan = plan
        return plan

    def standing(self, cluster: Cluster) -> Plan | None:
        """Moves of pods that are where they were, and places of pods that still wait; None: nothing is left."""
        if self._plan is None:
            return None

        def stands(reference: PodReference, node: str | None) -> bool:
            pod = cluster.pod_by_key.get(reference.key)
            return pod is not None and pod.uid == reference.uid and pod.node_name == node and not pod.is_terminating

        moves = tuple(move for move in self._plan.moves if stands(move.pod, move.from_node))
        placements = tuple(place for place in self._plan.placements if stands(place.pod, None))
        return with_changes(self._plan, moves=moves, placements=placements) if moves or placements else None
