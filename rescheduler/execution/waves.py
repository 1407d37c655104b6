"""The evictions of one wave: permitted together, sent one by one, each with a glance at where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.execution.departures import Departure, Departures, selector_of
from rescheduler.execution.evicting import EvictionKind, Evictor
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.holds import Holds
from rescheduler.execution.leading import Leader
from rescheduler.execution.outcomes import Outcomes
from rescheduler.execution.settling import Settler
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.extension_points import ExecutionTarget, Gate
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Move, OutcomeKind, PodReference, Refusal
from rescheduler.model.pod import Pod

OLDEST_SNAPSHOT_SECONDS: Final = 10.0
"""No eviction is sent on an older snapshot than this."""


class WaveSender:
    """Sends evictions. ``sent`` are the pods that left or may have left, in order."""

    def __init__(
        self,
        target: ExecutionTarget,
        gate: Gate,
        fresh: FreshCluster,
        waiter: Waiter,
        holds: Holds,
        settler: Settler,
        leader: Leader,
        outcomes: Outcomes,
    ) -> None:
        self.sent: list[PodReference] = []
        self.evictor = Evictor(target, waiter)
        self._target = target
        self._gate = gate
        self._fresh = fresh
        self._waiter = waiter
        self._holds = holds
        self._settler = settler
        self._leader = leader
        self._outcomes = outcomes

    def permit(self, moves: Sequence[Move]) -> None:
        """Ask the gate for a whole wave. Raises PlanStoppedError on one refusal, before any of the moves is sent."""
        verdicts = self._gate.permit(moves, self._fresh.now, self.sent)
        refused = [
            (move, verdict) for move, verdict in zip(moves, verdicts, strict=True) if isinstance(verdict, Refusal)
        ]
        for move, refusal in refused:
            self._outcomes.of_move(move, OutcomeKind.REFUSED, None, f"{refusal.rule}: {refusal.message}")
        if refused:
            move, refusal = refused[0]
            raise PlanStoppedError(f"the gate refuses a move: {refusal.rule}: {refusal.message}")

    def send(self, moves: Sequence[Move]) -> Departures:
        """Evict one wave's pods; fewer, if a replacement landed where it was not expected. Raises PlanStoppedError.

        Pods whose destination others' placeholders close come first: these stand back until the replacement is in.
        """
        self.permit(moves)
        departures = Departures(self._target)
        self._settler.watch(departures)
        blocked = {move.pod: self._holds.in_the_way(self._pod(move), move.to_node, self._fresh.now) for move in moves}
        order = sorted(moves, key=lambda move: not blocked[move.pod])
        for move in order:
            in_the_way = [hold for hold in blocked[move.pod] if self._holds.of(hold.pod) is not None]
            self._holds.release(hold.pod for hold in in_the_way)
            departure = self._send(move, departures)
            has_more = move is not order[-1]
            if in_the_way or has_more:
                self._settler.look_after(departure, must_land=bool(in_the_way))
            self._holds.set(in_the_way)
            if has_more and departure.landed_on not in (None, move.to_node):
                break
        return departures

    def _send(self, move: Move, departures: Departures) -> Departure:
        pod = self._pod(move)
        selector = selector_of(pod, self._fresh.now)
        departure = Departure(move, pod, selector, departures.known_before(pod, selector))
        hold = self._holds.of(move.pod)
        if hold is not None and (not hold.is_made_by_plan or can_preempt(pod, self._fresh.now)):
            # The replacement has to find its room free: kept out by its own placeholder it would go elsewhere, or
            # throw others out. Only room that the plan made stays closed until the replacement is led into it.
            self._holds.release([move.pod])
        eviction = self.evictor.evict(move, pod, lambda: self._objection(move))
        if eviction.kind is not EvictionKind.SENT:
            is_refused = eviction.kind is EvictionKind.REFUSED
            outcome = OutcomeKind.REFUSED if is_refused else OutcomeKind.UNKNOWN
            self._outcomes.of_move(move, outcome, None, eviction.message)
            raise PlanStoppedError(eviction.message)
        departures.all.append(departure)
        self.sent.append(move.pod)
        self.evictor.in_flight = None
        if self._leader.is_guided:
            self._target.record(
                move.pod, "Moved", f"from {move.from_node}, to {move.to_node} if the scheduler agrees: {move.reason}"
            )
        return departure

    def _objection(self, move: Move) -> str | None:
        """What the gate says against one move now; a snapshot that has grown old is taken anew."""
        self._waiter.check_time()
        if self._fresh.age_seconds <= OLDEST_SNAPSHOT_SECONDS:
            return None
        if move.pod.key not in self._fresh.read().pod_by_key:
            return f"{move.pod.key} is gone"
        verdict = self._gate.permit([move], self._fresh.now, self.sent)[0]
        return f"{verdict.rule}: {verdict.message}" if isinstance(verdict, Refusal) else None

    def _pod(self, move: Move) -> Pod:
        """The pod of a move in the newest snapshot, which may be newer than the wave's beginning."""
        pod = self._fresh.now.pod_by_key.get(move.pod.key)
        if pod is None or pod.uid != move.pod.uid:
            raise PlanStoppedError(f"{move.pod.key}, which is to move, is gone or another pod of the same name by now")
        return pod


def can_preempt(pod: Pod, cluster: Cluster) -> bool:
    """Whether a new pod of this kind may throw a running one out when it finds no room."""
    return pod.spec.preemption_policy != "Never" and any(
        other.spec.priority < pod.spec.priority for other in cluster.pods if other.node_name and not other.is_finished
    )
