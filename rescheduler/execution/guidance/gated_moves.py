"""Moves whose replacements are created at our gate and led to their very nodes, also onto nodes that are full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rescheduler.execution.eviction.evicting import ATTEMPTS, TRY_LATER
from rescheduler.execution.guidance.gates import Gates, is_gated
from rescheduler.execution.guidance.hold_maker import HeldRoom, HoldMaker, leavers_by_node
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of, siblings
from rescheduler.execution.landing.placing import Nominator
from rescheduler.execution.landing.settling import CREATION_SECONDS
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError, Waiter
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionTarget
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod, PodSpec
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

    @property
    def has_come(self) -> bool:
        """Whether the old pod is gone, and the new one, if there is to be one, is there."""
        return self.departure.is_gone and (self.new is not None or not self.departure.has_owner)


class GatedMoves:
    """Carries moves out so that nobody takes a replacement's place and no replacement goes anywhere else."""

    def __init__(
        self,
        target: ExecutionTarget,
        gates: Gates,
        holds: Holds,
        maker: HoldMaker,
        nominator: Nominator,
        waiter: Waiter,
    ) -> None:
        self._target = target
        self._gates = gates
        self._holds = holds
        self._maker = maker
        self._nominator = nominator
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
            self._waiter.pause(max(answer.retry_after_seconds or PAUSE_SECONDS, PAUSE_SECONDS))

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
        self._holds.set([self._hole(move, cluster.pod_by_key[move.pod.key].spec) for move in missing])

    def _hole(self, move: Move, spec: PodSpec) -> HeldRoom:
        return self._maker.hold(move.to_node, spec.requests, spec.scheduler_name, pod=move.pod)

    def _carry_out(
        self,
        moves: Sequence[Move],
        departures: Departures,
        evict: Callable[[Move], EvictedPod],
        cluster: Cluster,
        *,
        all_leave_first: bool,
    ) -> None:
        pods = {move.pod: cluster.pod_by_key[move.pod.key] for move in moves}
        self._gates.close((pod, selector_of(pod, cluster)) for pod in pods.values())
        leaving = leavers_by_node(moves, cluster) if all_leave_first else {}
        found = [
            hold
            for move in moves
            for hold in self._holds.in_the_way(pods[move.pod], move.to_node, cluster, leaving.get(move.to_node, ()))
        ]
        in_the_way = list(dict.fromkeys(found))
        guests: list[_Guest] = []
        try:
            guests.extend(_Guest(evict(move)) for move in moves)
            self._bring(guests, departures, in_the_way, all_leave_first=all_leave_first)
        except (PlanStoppedError, ClusterError):
            self._give_up(guests, departures, HOME_SECONDS, all_leave_first=all_leave_first)
            raise
        except KeyboardInterrupt:
            self._give_up(guests, departures, 0.0, all_leave_first=all_leave_first)
            raise
        self._gates.open()

    def _bring(
        self, guests: Sequence[_Guest], departures: Departures, in_the_way: Sequence[HeldRoom], *, all_leave_first: bool
    ) -> None:
        """Let the new pods in as their places are free, and watch them for a moment."""
        expected = [guest for guest in guests if guest.departure.has_owner]
        grace = max(guest.departure.pod.spec.termination_grace_seconds for guest in guests)
        for _ in self._waiter.polls(grace + CREATION_SECONDS):
            self._look(expected, departures)
            if not all_leave_first or all(guest.has_come for guest in guests):
                self._let_in(expected, in_the_way)
            if all(guest.is_free for guest in expected):
                break
        else:
            raise PlanStoppedError(_what_is_missing(guests))
        for _ in self._waiter.polls(LANDING_SECONDS):
            self._look(expected, departures)
            if all(guest.departure.landed_on is not None for guest in expected):
                break
        own = {guest.departure.move.pod for guest in guests}
        self._holds.set([hold for hold in in_the_way if hold.pod not in own and not self._holds.stands(hold)])

    def _look(self, guests: Sequence[_Guest], departures: Departures) -> None:
        """Look for new pods; one that is somebody's stays his, however the departures are matched anew."""
        with suppress(ClusterError):  # who fails for the moment is asked again at the next look
            departures.look()
        taken = {guest.new.uid for guest in guests if guest.new is not None}
        found = [guest.departure.replacement for guest in guests]
        fresh = [pod for pod in found if pod is not None and pod.uid not in taken]
        for guest in guests:
            if guest.new is None:
                guest.new = next(iter(siblings(guest.departure.pod, fresh)), None)
                fresh = [pod for pod in fresh if pod is not guest.new]

    def _let_in(self, guests: Iterable[_Guest], in_the_way: Sequence[HeldRoom]) -> None:
        """Nominate first: a gated pod with a nomination keeps its room itself, so the placeholder may go.

        Who is gone, or bound without ever having been gated, is nobody's new pod any more: the next look tells.
        """
        led: list[tuple[_Guest, Pod]] = []
        for guest in guests:
            new = guest.new
            if new is not None and not guest.is_free:
                is_there = new.node_name is not None or self._nominator.nominate(
                    reference_to(new), guest.departure.move.to_node
                )
                guest.new = new if is_there else None
                led += [(guest, new)] if is_there else []
        nodes = {guest.departure.move.to_node for guest, _ in led}
        self._holds.release(guest.departure.move.pod for guest, _ in led)
        self._holds.remove(hold for hold in in_the_way if hold.request.node in nodes)
        for guest, new in led:
            guest.is_free = not is_gated(new) or self._gates.let_go(new)

    def _give_up(
        self, guests: Sequence[_Guest], departures: Departures, seconds: float, *, all_leave_first: bool
    ) -> None:
        """Nominate the pods that still wait, where their room is certain; whoever closes the run lets them go.

        Of those that all leave first, everybody's room is at home until the first one is let in.
        """
        waiting = [guest for guest in guests if not guest.is_free]
        go_home = all_leave_first and not any(guest.is_free for guest in guests)
        with suppress(PlanStoppedError):  # no time is left to wait for others, but those that came are led
            for _ in self._waiter.polls(seconds):
                self._look(waiting, departures)
                if all(guest.has_come for guest in waiting):
                    break
        with suppress(ClusterError):  # the first error is the one to tell; the gate is opened in any case
            for guest in waiting:
                move = guest.departure.move
                if guest.new is not None:
                    self._nominator.nominate(reference_to(guest.new), move.from_node if go_home else move.to_node)


def _what_is_missing(guests: Sequence[_Guest]) -> str:
    for guest in guests:
        if not guest.departure.is_gone:
            return f"{guest.departure.move.pod.key} was evicted, but it has not gone yet; nothing further is moved"
    late = next(guest.departure.move.pod for guest in guests if guest.departure.has_owner and not guest.is_free)
    return f"{late.key} was evicted, but nothing has replaced it yet; nothing further is moved"
