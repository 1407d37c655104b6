"""The placeholders and taints of one plan while it is carried out, from the first to the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rescheduler.execution.guidance.hold_maker import HeldRoom, fits, room_after, take
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, TaintLostError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference

RENEWAL_RETRY_SECONDS: Final = 1.0
AT_ONCE: Final = 40
"""So many placeholders are made in one go: an unhurried job controller needs five seconds for them."""
MOST_TOLD: Final = 5


class Holds:
    """Placeholders and taints that stand, by name; those of pods not asked about are left as they are."""

    def __init__(self, target: ExecutionTarget, clock: Clock) -> None:
        self._target = target
        self._clock = clock
        self._standing: dict[str, HeldRoom] = {}
        self._names: dict[PodReference, str] = {}  # of each pod's newest placeholder, whether it still stands or not
        self._due_at = self._ends_at = 0.0

    def set(self, holds: Sequence[HeldRoom]) -> None:
        """Make placeholders. Raises ClusterError; what was made by then is known and goes with ``release_all``.

        Where they are many, those made first are renewed meanwhile. Raises PlanStoppedError if one of them is lost.
        """
        for first in range(0, len(holds), AT_ONCE):
            if first:
                self.keep()
            batch = holds[first : first + AT_ONCE]
            began = self._clock.monotonic()
            is_first = not self._standing
            # Counted before the call: where it fails half-way, releasing names that never stood does no harm.
            self._standing.update({hold.request.name: hold for hold in batch})
            self._names.update({hold.pod: hold.request.name for hold in batch if hold.pod is not None})
            self._make(batch)
            if is_first:
                self._plan_renewal(began)

    def keep(self) -> None:
        """Renew all placeholders once a third of their time is over. Raises PlanStoppedError if one is gone."""
        now = self._clock.monotonic()
        if not self._standing or now < self._due_at:
            return
        try:
            lost = self._renew()
        except TaintLostError as error:
            raise PlanStoppedError(str(error)) from error
        except ClusterError as error:
            if now >= self._ends_at:
                raise PlanStoppedError(f"the room that was kept could not be kept longer: {error}") from error
            self._due_at = now + RENEWAL_RETRY_SECONDS
            return
        self._plan_renewal(now)
        if lost:
            nodes = sorted({hold.request.node for hold in self._standing.values() if hold.request.name in lost})
            more = f" and {len(nodes) - MOST_TOLD} more nodes" if len(nodes) > MOST_TOLD else ""
            told = f"the room kept on {', '.join(nodes[:MOST_TOLD])}{more} was given up: its placeholder is gone"
            raise PlanStoppedError(told)

    def release(self, pods: Iterable[PodReference]) -> None:
        """Remove the placeholders of these pods, where they have one. Raises ClusterError."""
        self.remove(hold for pod in pods if (hold := self.of(pod)) is not None)

    def remove(self, holds: Iterable[HeldRoom]) -> None:
        """Remove those of these placeholders and taints that stand. Raises ClusterError."""
        found = [hold for hold in holds if self.stands(hold)]
        placeholders, taints = _by_kind(found)
        try:
            if taints:  # first, since they do not go by themselves
                self._target.untaint([hold.request.node for hold in taints])
                self._forget(taints)
        finally:
            if placeholders:
                self._target.release([hold.request.name for hold in placeholders])
                self._forget(placeholders)

    def release_all(self) -> None:
        """Remove everything that may stand. Raises ClusterError."""
        self.remove(list(self._standing.values()))

    def on(self, nodes: Iterable[str], but_for: Iterable[PodReference] = ()) -> list[HeldRoom]:
        """Placeholders on these nodes, those for the given pods left out."""
        wanted, left_out = set(nodes), set(but_for)
        return [hold for hold in self._standing.values() if hold.request.node in wanted and hold.pod not in left_out]

    def of(self, pod: PodReference) -> HeldRoom | None:
        """The placeholder for a pod, if one stands."""
        name = self._names.get(pod)
        return None if name is None else self._standing.get(name)

    def stands(self, hold: HeldRoom) -> bool:
        """Whether a placeholder has been made and not been removed."""
        return hold.request.name in self._standing

    def in_the_way(self, pod: Pod, node: str, cluster: Cluster, leaving: Iterable[Pod] = ()) -> list[HeldRoom]:
        """Placeholders for others on a node that leave no room there for a pod that comes once these have left it."""
        others = [hold for hold in self.on([node]) if hold.pod is None or hold.pod.uid != pod.uid]
        room = room_after(cluster, node, leaving) if others else {}
        for hold in others:
            take(room, hold.request.requests)
        return others if others and not fits(room, pod.spec.requests) else []

    @property
    def tainted(self) -> list[str]:
        """Nodes that may carry our taint."""
        return [hold.request.node for hold in self._standing.values() if hold.is_taint]

    def _make(self, holds: Sequence[HeldRoom]) -> None:
        placeholders, taints = _by_kind(holds)
        if taints:
            self._taint(taints)
        if placeholders:
            self._target.hold([hold.request for hold in placeholders])

    def _renew(self) -> Sequence[str]:
        """Renew everything; the names of placeholders that are gone."""
        placeholders, taints = _by_kind(self._standing.values())
        lost = self._target.renew([hold.request for hold in placeholders]) if placeholders else ()
        if taints:  # last, since they do not end by themselves
            self._taint(taints)
        return lost

    def _taint(self, holds: Sequence[HeldRoom]) -> None:
        request = holds[0].request
        self._target.taint([hold.request.node for hold in holds], request.plan_id, request.deadline_seconds)

    def _forget(self, holds: Iterable[HeldRoom]) -> None:
        for hold in holds:
            self._standing.pop(hold.request.name)

    def _plan_renewal(self, since: float) -> None:
        """All placeholders were given their whole time at this moment at the earliest."""
        if self._standing:
            shortest = min(hold.request.deadline_seconds for hold in self._standing.values())
            self._due_at, self._ends_at = since + shortest / 3, since + shortest


def _by_kind(holds: Iterable[HeldRoom]) -> tuple[list[HeldRoom], list[HeldRoom]]:
    """Placeholders, and taints."""
    found: tuple[list[HeldRoom], list[HeldRoom]] = ([], [])
    for hold in holds:
        found[hold.is_taint].append(hold)
    return found
