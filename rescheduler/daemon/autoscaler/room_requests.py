"""Requests for room that stand in the cluster: made once, taken back when they have served or run out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rescheduler.extension_points import CapacityTarget, ClusterError
from rescheduler.model.daemon.capacity import BUYING, CAPACITY, CapacityRequest, StandingRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from rescheduler.policy.fields.daemon.autoscaler import ScaleUp

LOOK_SECONDS: Final = 15.0
"""How often is looked what the autoscaler says of a request."""
MOST_STANDING: Final = 20
Tell = Callable[[str, tuple[PodReference, ...], str], None]


class RoomRequests:
    """``target`` None, or everything left to the autoscaler: nothing is ever asked for."""

    def __init__(self, target: CapacityTarget | None, how: ScaleUp) -> None:
        self._target = None if how is ScaleUp.LEAVE else target
        self._how = how.value
        self._standing: dict[str, StandingRequest] | None = None
        self._looked_at = 0.0

    def ask(self, request: CapacityRequest, tell: Tell) -> None:
        """Make a request unless it stands already. Raises ClusterError, also where this way is not to be had."""
        if self._target is None or self._standing is None or request.name in self._standing:
            return
        if len(self._standing) >= MOST_STANDING:
            raise ClusterError(f"{MOST_STANDING} requests for room stand already; no further one is made")
        problem = self._target.cannot(request.how)
        if problem is not None:
            raise ClusterError(f"autoscaler.scaleUp: {request.how} is not possible here: {problem}")
        self._target.ask(request)
        made_at = request.expires_at  # until it is read back
        uids = tuple(pod.uid for pod in request.pods)
        self._standing[request.name] = StandingRequest(request.name, request.how, uids, made_at, request.expires_at)
        self._looked_at = 0.0
        tell(request.how, request.pods, f"no rearrangement helps them; asked for room by {request.how} {request.name}")

    def tend(self, cluster: Cluster) -> None:
        """Look at what stands, and take back what is over. Raises ClusterError."""
        now = cluster.taken_at
        if self._target is None or not self._is_time(now):
            return
        self._standing = {item.name: item for item in self._target.standing(self._how)}
        self._looked_at = now
        over = [item.name for item in self._standing.values() if _is_over(item, cluster)]
        if over:
            self._target.withdraw(self._how, over)
            for name in over:
                del self._standing[name]

    def awaited(self, now: float, came_at: float) -> Mapping[str, StandingRequest]:
        """Pods (by uid) for which room was asked for and has not come yet."""
        return {
            uid: item
            for item in (self._standing or {}).values()
            if now < item.expires_at and not item.failure and came_at < item.made_at
            for uid in item.pods
        }

    def _is_time(self, now: float) -> bool:
        if self._standing is None:  # what an earlier process has asked for
            return True
        return bool(self._standing) and now - self._looked_at >= LOOK_SECONDS


def _is_over(request: StandingRequest, cluster: Cluster) -> bool:
    """Nobody waits for it any more, it has run out or failed, or its room has come and placeholders would fill it."""
    if cluster.taken_at >= request.expires_at or request.failure:
        return True
    if request.name.startswith(BUYING):  # `apply --buy` looks after it: no pod waits for that room
        return False
    if any(pod.labels.get(CAPACITY) == request.name and pod.node_name is not None for pod in cluster.pods):
        return True
    waiting = {pod.uid for pod in cluster.pending_pods}
    return not waiting.intersection(request.pods)
