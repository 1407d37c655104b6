"""Moves whose replacements are created at our gate and led to their very nodes, also onto nodes that are full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rescheduler.execution.eviction.evicting import ATTEMPTS, TRY_LATER
from rescheduler.execution.guidance.gates import Gates, is_gated
from rescheduler.execution.guidance.hold_maker import HeldRoom, HoldMaker, fits, leavers_by_node, room_after, take
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of
from rescheduler.execution.landing.settling import CREATION_SECONDS
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError, Waiter
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionTarget
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, reference_to

LANDING_SECONDS: Final = 3.0
"""How long pods that were let go are watched here; after that they are led as any other replacement."""
HOME_SECONDS: Final = 15.0
"""How long, after a failure, old pods are given to go and new ones to come before all are let go."""
PAUSE_SECONDS: Final = 5.0
"""Between two questions whether all pods of an exchange may leave."""


@dataclass
class _Guest:
    """A pod on its way: ``new`` is its replacement once that is there; ``is_free``: it was let go to its node."""

    departure: EvictedPod
    new: Pod | None = None
    is_free: bool = False


class GatedMoves:
    """Carries moves out so that nobody takes a replacement's place and no replacement goes anywhere else."""

    def __init__(self, target: ExecutionTarget, gates: Gates, holds: Holds, maker: HoldMaker, waiter: Waiter) -> None:
        self._target = target
        self._gates = gates
        self._holds = holds
        self._maker = maker
        self._waiter = waiter

    def exchange(
        self, moves: Sequence[Move], departures: Departures, evict: Callable[[Move], EvictedPod], cluster: Cluster
    ) -> None:
        """Let all pods leave before any of them arrives. Raises PlanStoppedError, ClusterError.

        The order of these steps is what makes it work against others who wait for the same room: keep the holes, close
        the gate, evict, wait until all are gone, nominate the replacements, let go of the holes, open the gate.
        """
        self._look_before(moves)
        self._keep_holes(moves, cluster)
        self._carry_out(moves, departures, evict, cluster, all_leave_first=True)

    def lead(
        self, moves: Sequence[Move], departures: Departures, evict: Callable[[Move], EvictedPod], cluster: Cluster
    ) -> None:
        """Bring each pod to its node, where there is room for it. Raises PlanStoppedError, ClusterError."""
        self._carry_out(moves, departures, evict, cluster, all_leave_first=False)

    def _look_before(self, moves: Sequence[Move]) -> None:
        """Ask for dry runs of all evictions: an exchange that stops half-way leaves a pod without its place."""
        for attempt in range(ATTEMPTS):
            refused = self._first_refused(moves)
            if refused is None:
                return
            move, answer = refused
            if answer.kind not in TRY_LATER or attempt == ATTEMPTS - 1:
                raise PlanOvertakenError(
                    f"{move.pod.key} cannot leave now ({answer.kind}: {answer.message}), and the pods of its wave "
                    "leave together or not at all; nothing further is moved"
                )
            self._waiter.pause(max(answer.retry_after_seconds or 0.0, PAUSE_SECONDS))

    def _first_refused(self, moves: Sequence[Move]) -> tuple[Move, EvictionAnswer] | None:
        for move in moves:
            live = self._target.read_pod(move.pod.namespace, move.pod.name)
            if live is None or live.uid != move.pod.uid:
                return move, EvictionAnswer("Gone", "it is gone or another pod of the same name by now")
            answer = self._target.evict(move.pod, live.resource_version, dry_run=True)
            if answer.kind != "Accepted":
                return move, answer
        return None

    def _keep_holes(self, moves: Sequence[Move], cluster: Cluster) -> None:
        missing = [move for move in moves if self._holds.of(move.pod) is None]
        self._holds.set([self._hole(move, cluster.pod_by_key[move.pod.key]) for move in missing])

    def _hole(self, move: Move, pod: Pod) -> HeldRoom:
        spec = pod.spec
        return self._maker.hold(move.to_node, spec.requests, spec.scheduler_name, pod=move.pod, is_made_by_plan=True)

    def _in_the_way(self, move: Move, leaving: Sequence[Pod], cluster: Cluster) -> list[HeldRoom]:
        """Placeholders for others on a pod's node that leave no room for it once these pods have left."""
        others = self._holds.on([move.to_node], but_for=[move.pod])
        room = room_after(cluster, move.to_node, leaving)
        for hold in others:
            take(room, hold.request.requests)
        return [] if fits(room, cluster.pod_by_key[move.pod.key].spec.requests) else others

    def _carry_out(
        self,
        moves: Sequence[Move],
        departures: Departures,
        evict: Callable[[Move], EvictedPod],
        cluster: Cluster,
        *,
        all_leave_first: bool,
    ) -> None:
        pods = [cluster.pod_by_key[move.pod.key] for move in moves]
        self._gates.close((pod, selector_of(pod, cluster)) for pod in pods)
        leaving = leavers_by_node(moves, cluster) if all_leave_first else {}
        found = [hold for move in moves for hold in self._in_the_way(move, leaving.get(move.to_node, ()), cluster)]
        in_the_way = list(dict.fromkeys(found))
        guests: list[_Guest] = []
        try:
            guests.extend(_Guest(evict(move)) for move in moves)
            self._bring(guests, departures, in_the_way, all_leave_first=all_leave_first)
        except (PlanStoppedError, ClusterError):
            self._give_up(guests, departures, HOME_SECONDS, go_home=all_leave_first)
            raise
        except KeyboardInterrupt:
            self._give_up(guests, departures, 0.0, go_home=all_leave_first)
            raise
        self._gates.open()

    def _bring(
        self, guests: Sequence[_Guest], departures: Departures, in_the_way: Sequence[HeldRoom], *, all_leave_first: bool
    ) -> None:
        """Let the new pods in as their places are free, and watch them for a moment."""
        expected = [guest for guest in guests if guest.departure.has_owner]
        grace = max((guest.departure.pod.spec.termination_grace_seconds for guest in guests), default=0)
        for _ in self._waiter.polls(grace + CREATION_SECONDS):
            if not self._look(expected, departures):
                continue
            due = [guest for guest in expected if guest.new is not None and not guest.is_free]
            if not all_leave_first or (len(due) == len(expected) and all(item.departure.is_gone for item in guests)):
                self._let_in(due, in_the_way)
            if all(guest.is_free for guest in expected):
                break
        else:
            raise PlanStoppedError(_what_is_missing(guests))
        for _ in self._waiter.polls(LANDING_SECONDS):
            if self._look(expected, departures) and all(guest.departure.landed_on is not None for guest in expected):
                break
        own = {guest.departure.move.pod for guest in guests}
        self._holds.set([hold for hold in in_the_way if hold.pod not in own and not self._holds.stands(hold)])

    def _look(self, guests: Sequence[_Guest], departures: Departures) -> bool:
        """Look for new pods; one that is somebody's stays his, however the departures are matched anew.

        False if the API server fails for the moment.
        """
        try:
            departures.look()
        except ClusterError:
            return False
        known = {guest.new.uid for guest in guests if guest.new is not None}
        fresh = [
            guest.departure.replacement
            for guest in guests
            if guest.departure.replacement is not None and guest.departure.replacement.uid not in known
        ]
        for guest in guests:
            owner = guest.departure.pod.controller
            if guest.new is None and owner is not None:
                own = (pod for pod in fresh if pod.controller is not None and pod.controller.uid == owner.uid)
                guest.new = next(own, None)
                if guest.new is not None:
                    fresh.remove(guest.new)
        return True

    def _let_in(self, guests: Sequence[_Guest], in_the_way: Sequence[HeldRoom]) -> None:
        """Nominate first: a gated pod with a nomination keeps its room itself, so the placeholder may go."""
        for guest in guests:
            assert guest.new is not None
            if guest.new.node_name is None and not self._target.nominate(
                reference_to(guest.new), guest.departure.move.to_node
            ):
                guest.new = None  # gone, or bound without ever having been gated: the next look tells
        nodes = {guest.departure.move.to_node for guest in guests}
        self._holds.release(guest.departure.move.pod for guest in guests)
        self._holds.remove(hold for hold in in_the_way if hold.request.node in nodes)
        for guest in guests:
            if guest.new is not None:
                guest.is_free = not is_gated(guest.new) or self._gates.let_go(guest.new)
                guest.new = guest.new if guest.is_free else None

    def _give_up(self, guests: Sequence[_Guest], departures: Departures, seconds: float, *, go_home: bool) -> None:
        """Nominate the pods that still wait, best where their room is certain; whoever closes the run lets them go."""
        began = [guest for guest in guests if guest.departure.has_owner and not guest.is_free]
        try:
            for _ in self._waiter.polls(seconds):
                if self._look(began, departures) and all(
                    guest.new is not None and guest.departure.is_gone for guest in began
                ):
                    break
            for guest in began:
                move = guest.departure.move
                if guest.new is not None and is_gated(guest.new):
                    self._target.nominate(reference_to(guest.new), move.from_node if go_home else move.to_node)
        except (PlanStoppedError, ClusterError):
            return  # the first error is the one to tell; the gate is opened in any case


def _what_is_missing(guests: Iterable[_Guest]) -> str:
    for guest in guests:
        move = guest.departure.move
        if not guest.departure.is_gone:
            return f"{move.pod.key} was evicted, but it has not gone yet; nothing further is moved"
        if guest.departure.has_owner and guest.new is None:
            return f"{move.pod.key} was evicted, but nothing has replaced it yet; nothing further is moved"
    return "moved pods could not be let go; nothing further is moved"
