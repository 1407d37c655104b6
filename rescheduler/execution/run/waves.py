"""The evictions of one wave: permitted together, sent one by one, each with a glance at where it leads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rescheduler.execution.guidance.gated_moves import GatedMoves
from rescheduler.execution.guidance.guiding import MOST_SHUT, Guide, by_destination, is_guided
from rescheduler.execution.guidance.hold_maker import free_room, take
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.run.departures import Departures, EvictedPod, selector_of
from rescheduler.execution.run.evicting import EvictionKind, Evictor
from rescheduler.execution.run.fresh_cluster import FreshCluster
from rescheduler.execution.run.outcomes import Outcomes
from rescheduler.execution.run.own_verdict import OwnVerdict
from rescheduler.execution.run.placing import Nominator
from rescheduler.execution.run.settling import Settler
from rescheduler.execution.run.stopping import PlanStoppedError, Waiter
from rescheduler.extension_points import ExecutionTarget, Gate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, OutcomeKind, PodReference, Refusal

# Whether a wave may go on after one of its pods landed elsewhere than expected, or others' pods took room.


def is_harmless(
    departure: EvictedPod, wave: Iterable[Move], departures: Sequence[EvictedPod], cluster: Cluster
) -> bool:
    """Whether everybody of the wave who is expected on the node where this pod landed still finds room there.

    Only for pods that stand in nobody's way but by their requests. ``cluster``: read before the wave, or amid it.
    """
    node = departure.landed_on
    spec = departure.pod.spec
    if node is None or node not in cluster.node_by_name or node == departure.move.from_node:
        return False
    if spec.affinity or spec.anti_affinity or spec.topology_spread or spec.host_ports:
        return False
    room = free_room(cluster, node)
    for move in wave:
        if move.to_node == node and move.pod.key in cluster.pod_by_key:
            take(room, cluster.pod_by_key[move.pod.key].spec.requests)
    for other in departures:
        if other.landed_on == node != other.move.to_node:
            take(room, other.pod.spec.requests)
    return all(amount >= 0 for amount in room.values())


class WaveSender:
    """Sends evictions. ``sent`` are the pods that left or may have left, in order.

    ``guide``: brings pods to nodes that the scheduler would not choose; None: nobody does. ``gated``: does so by a
    gate, and lets pods change places; None: there is none.
    """

    def __init__(
        self,
        target: ExecutionTarget,
        gate: Gate,
        fresh: FreshCluster,
        waiter: Waiter,
        holds: Holds,
        settler: Settler,
        nominator: Nominator,
        outcomes: Outcomes,
        session: LedgerSession,
        in_flight: int = 10,
    ) -> None:
        """``in_flight``: so many moves of a wave are under way at once, but for those led by the gate."""
        self.sent: list[PodReference] = []
        self.evictor = Evictor(target, waiter, session)
        self.guide: Guide | None = None
        self.gated: GatedMoves | None = None
        self._target = target
        self._gate = gate
        self._fresh = fresh
        self._holds = holds
        self._settler = settler
        self._nominator = nominator
        self._outcomes = outcomes
        self._session = session
        self._in_flight = in_flight
        self._verdict = OwnVerdict(gate, fresh, waiter, session, self.sent)

    def permit(self, moves: Sequence[Move]) -> None:
        """Ask the gate for a whole wave. Raises PlanStoppedError on one refusal, before any of the moves is sent.

        That may only forbid: what lets a pod go is its own verdict, right before it is sent.
        """
        self._fresh.require_fast()
        ledger = self._session.look() if moves else self._session.ledger
        verdicts = self._gate.permit(moves, self._fresh.now, self.sent, ledger)
        refused = [
            (move, verdict) for move, verdict in zip(moves, verdicts, strict=True) if isinstance(verdict, Refusal)
        ]
        for move, refusal in refused:
            self._outcomes.of_move(move, OutcomeKind.REFUSED, None, f"{refusal.rule}: {refusal.message}")
        if refused:
            move, refusal = refused[0]
            raise PlanStoppedError(f"the gate refuses a move: {refusal.rule}: {refusal.message}")

    def send(self, moves: Sequence[Move]) -> Departures:
        """Evict one wave's pods; fewer, if a replacement landed in the way of others. Raises PlanStoppedError.

        Those that are brought to their very nodes come last, since all other nodes are shut while they move.
        """
        self.permit(moves)
        departures = Departures(self._target)
        self._settler.watch(departures)
        if any(move.evict_first for move in moves):
            self._exchange(moves, departures)
            return departures
        guided = [move for move in moves if self.guide is not None and is_guided(move, self._pod(move))]
        others = [move for move in moves if move not in guided]
        if self._send_each(others, departures, more_follow=bool(guided)) and guided:
            self._send_guided(guided, departures)
        return departures

    def _exchange(self, moves: Sequence[Move], departures: Departures) -> None:
        """Evict pods that leave before they arrive."""
        if self.gated is None:
            raise PlanStoppedError("pods that leave before they arrive need guidance: Guide; nothing further is moved")
        self.gated.exchange(moves, departures, lambda move: self._send_gated(move, departures), self._fresh.now)

    def _send_gated(self, move: Move, departures: Departures) -> EvictedPod:
        return self._send(move, departures, frees_its_place=False)

    def _send_guided(self, moves: Sequence[Move], departures: Departures) -> None:
        """Evict pods that the scheduler would put elsewhere: by the gate, or one destination after the other."""
        assert self.guide is not None
        cluster = self._fresh.read() if departures.all else self._fresh.now
        if self.gated is not None:
            self.gated.lead(moves, departures, lambda move: self._send_gated(move, departures), cluster)
            return
        too_many = self.guide.shut([self._pod(move) for move in moves], cluster)
        if too_many:
            self._tell_unguided([move for move in moves if move.needs_guidance], too_many)
            self._send_each(moves, departures)
            return
        groups = by_destination(moves)
        for number, (node, group) in enumerate(groups.items(), 1):
            self.guide.open(node)
            is_as_planned = self._send_each(group, departures, must_land=True, more_follow=number < len(groups))
            self.guide.shut_again(node)
            if not is_as_planned:
                break
        self.guide.end()

    def _tell_unguided(self, moves: Sequence[Move], nodes: int) -> None:
        if moves:
            self._outcomes.warnings.append(
                f"{len(moves)} of the pods that need guidance go where the scheduler likes them best: {nodes} nodes "
                f"would have to be shut to them, and {MOST_SHUT} at most are"
            )

    def _send_each(
        self, moves: Sequence[Move], departures: Departures, *, must_land: bool = False, more_follow: bool = False
    ) -> bool:
        """Evict one pod after the other; False, and no more of them, if one landed in the way of others.

        Pods whose destination others' placeholders close come first: these stand back until the replacement is in.
        """
        blocked = {move.pod: self._holds.in_the_way(self._pod(move), move.to_node, self._fresh.now) for move in moves}
        order = sorted(moves, key=lambda move: not blocked[move.pod])
        for move in order:
            self._settler.wait_below(self._in_flight)
            in_the_way = [hold for hold in blocked[move.pod] if self._holds.stands(hold)]
            self._holds.remove(in_the_way)
            departure = self._send(move, departures)
            has_more = more_follow or move is not order[-1]
            if in_the_way or has_more or must_land:
                self._settler.look_after(departure, must_land=must_land or bool(in_the_way))
            self._holds.set(in_the_way)
            if has_more and not self._may_go_on(departure, moves, departures):
                return False
        return True

    def _may_go_on(self, departure: EvictedPod, moves: Sequence[Move], departures: Departures) -> bool:
        """Whether a pod landed where it was expected, is still on its way, or is in nobody's way where it is."""
        node = departure.landed_on
        if node is None or node == departure.move.to_node or not departure.move.has_destination:
            return True
        is_closed = any(hold.pod is None for hold in self._holds.on([node]))
        return not is_closed and is_harmless(departure, moves, departures.all, self._fresh.now)

    def _send(self, move: Move, departures: Departures, *, frees_its_place: bool = True) -> EvictedPod:
        pod = self._pod(move)
        selector = selector_of(pod, self._fresh.now)
        departure = EvictedPod(move, pod, selector, departures.known_before(pod, selector))
        hold = self._holds.of(move.pod)
        must_free = hold is not None and (not hold.is_made_by_plan or can_preempt(pod, self._fresh.now))
        if frees_its_place and must_free:
            # The replacement has to find its room free: kept out by its own placeholder it would go elsewhere, or
            # throw others out. Only room that the plan made stays closed until the replacement is led into it.
            self._holds.release([move.pod])
        verdict = self._verdict
        eviction = self.evictor.evict(
            move, pod, lambda: verdict.objection(move, departures.all), lambda: verdict.ask(move)
        )
        if eviction.kind is not EvictionKind.SENT:
            is_refused = eviction.kind is EvictionKind.REFUSED
            outcome = OutcomeKind.REFUSED if is_refused else OutcomeKind.UNKNOWN
            self._outcomes.of_move(move, outcome, None, eviction.message)
            raise PlanStoppedError(eviction.message)
        departures.all.append(departure)
        self.sent.append(move.pod)
        self.evictor.in_flight = None
        if self._nominator.is_guided:
            self._target.record(
                move.pod, "Moved", f"from {move.from_node}, to {move.to_node} if the scheduler agrees: {move.reason}"
            )
        return departure

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
