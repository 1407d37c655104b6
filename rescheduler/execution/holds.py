"""The placeholders of one plan while it is carried out, from the first to the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rescheduler.execution.holding import Hold, fits, free_room, take
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import PodReference
from rescheduler.model.pod import Pod

RENEWAL_RETRY_SECONDS: Final = 1.0


class Holds:
    """Placeholders that stand, by the pod each is for; those of pods not asked about are left as they are."""

    def __init__(self, target: ExecutionTarget, clock: Clock) -> None:
        self._target = target
        self._clock = clock
        self._standing: dict[PodReference, Hold] = {}
        self._due_at = self._ends_at = 0.0

    def set(self, holds: Sequence[Hold]) -> None:
        """Make placeholders. Raises ClusterError; what was made by then is known and goes with ``release_all``."""
        if not holds:
            return
        # Counted before the call: where it fails half-way, releasing names that never stood does no harm.
        self._standing.update({hold.pod: hold for hold in holds})
        self._target.hold([hold.request for hold in holds])
        self._plan_renewal()

    def keep(self) -> None:
        """Renew all placeholders once half their time is over. Raises PlanStoppedError if one is gone."""
        now = self._clock.monotonic()
        if not self._standing or now < self._due_at:
            return
        try:
            lost = self._target.renew([hold.request for hold in self._standing.values()])
        except ClusterError as error:
            if now >= self._ends_at:
                raise PlanStoppedError(f"the room that was kept could not be kept longer: {error}") from error
            self._due_at = now + RENEWAL_RETRY_SECONDS
            return
        self._plan_renewal()
        if lost:
            nodes = sorted(hold.request.node for hold in self._standing.values() if hold.request.name in lost)
            raise PlanStoppedError(f"the room kept on {', '.join(nodes)} was given up: its placeholder is gone")

    def release(self, pods: Iterable[PodReference]) -> None:
        """Remove the placeholders of these pods, where they have one. Raises ClusterError."""
        found = [self._standing[pod].request.name for pod in pods if pod in self._standing]
        if found:
            self._target.release(found)
            self._standing = {pod: hold for pod, hold in self._standing.items() if hold.request.name not in found}

    def release_all(self) -> None:
        """Remove every placeholder that may stand. Raises ClusterError."""
        self.release(list(self._standing))

    def on(self, nodes: Iterable[str], but_for: Iterable[PodReference]) -> list[Hold]:
        """Placeholders on these nodes, those for the given pods left out."""
        wanted, left_out = set(nodes), set(but_for)
        return [hold for pod, hold in self._standing.items() if hold.request.node in wanted and pod not in left_out]

    def of(self, pod: PodReference) -> Hold | None:
        """The placeholder for a pod, if one stands."""
        return self._standing.get(pod)

    def in_the_way(self, pod: Pod, node: str, cluster: Cluster) -> list[Hold]:
        """Placeholders for others on a node that leave no room there for a pod which is to come now."""
        others = [hold for hold in self._standing.values() if hold.request.node == node and hold.pod.uid != pod.uid]
        room = free_room(cluster, node)
        for hold in others:
            take(room, hold.request.requests)
        return [] if fits(room, pod.spec.requests) else others

    def _plan_renewal(self) -> None:
        if self._standing:
            shortest = min(hold.request.deadline_seconds for hold in self._standing.values())
            now = self._clock.monotonic()
            self._due_at, self._ends_at = now + shortest / 2, now + shortest
