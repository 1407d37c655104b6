"""One plan on its way: the order of its steps, from the first reading to the verification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rescheduler.execution.departures import Departure, Departures, selector_of, siblings
from rescheduler.execution.evicting import is_leaving
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.holding import HoldSettings, needed_holds
from rescheduler.execution.holds import Holds
from rescheduler.execution.leading import Leader
from rescheduler.execution.outcomes import Outcomes
from rescheduler.execution.placing import Placer
from rescheduler.execution.resuming import Remainder, made_at, rest_of, still_needed, what_is_left
from rescheduler.execution.settling import Settler
from rescheduler.execution.stopping import PlanStoppedError, Waiter
from rescheduler.execution.verifier import verify
from rescheduler.execution.waves import WaveSender
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, Gate, Progress
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import OutcomeKind, Plan

HOLD = "Hold"
SURE_DEATH_SECONDS = 5.0
"""A placeholder is gone this long after its deadline at the latest."""
RECOUNT_SECONDS = 5.0
"""After a wave the disruption controller is given this long to count replacements that are Ready."""


class RunSettings(NamedTuple):
    """What holds for every plan of one executor."""

    hold: HoldSettings
    guidance: str
    timeout_seconds: float
    proof: Callable[[Cluster, Plan], Sequence[str]]
    as_seen: Callable[[Cluster], Cluster]
    progress: Progress


class PlanRun:
    """Everything known of one plan while it is carried out. ``has_begun``: something may have been written."""

    def __init__(
        self, plan: Plan, plan_id: str, target: ExecutionTarget, gate: Gate, clock: Clock, settings: RunSettings
    ) -> None:
        self.outcomes = Outcomes(plan)
        self.has_begun = False
        self._plan = plan
        self._plan_id = plan_id
        self._target = target
        self._settings = settings
        self._fresh = FreshCluster(target, clock, settings.as_seen)
        self._holds = Holds(target, clock)
        self._waiter = waiter = Waiter(clock, settings.timeout_seconds, self._holds.keep)
        self._leader = leader = Leader(target, self._holds, clock)
        self._settler = Settler(target, self._holds, leader, waiter, clock, self.outcomes, settings.progress)
        self._placer = Placer(target, self._holds, leader, waiter, self.outcomes, settings.progress)
        self._sender = WaveSender(target, gate, self._fresh, waiter, self._holds, self._settler, leader, self.outcomes)

    def carry_out(self) -> None:
        """Do what is left of the plan. Raises PlanStoppedError at the first surprise."""
        rest = self._begin()
        if rest is None:
            return
        for item in rest.placements if rest.moves else ():
            if item.wave == 0:
                self._leader.suggest(item.pod, item.node)
        while rest.moves:
            self._settings.progress("moving pods", len(self._sender.sent), len(self._plan.moves))
            self.has_begun = True
            departures = self._sender.send([move for move in rest.moves if move.wave == 1])
            self._settler.settle(departures)
            gone = {departure.move.pod for departure in departures.all}
            rest = rest_of(rest, [move for move in rest.moves if move.pod not in gone], rest.placements)
            if any(departure.landed_on != departure.move.to_node for departure in departures.all):
                rest = self._look_again(rest)
            rest = self._place(rest)
            self._settler.wait_ready(departures)
            rest = self._look_again(rest) if rest.moves else rest
        self._place(rest)
        self._verify()

    def close(self) -> None:
        """Remove every placeholder; what cannot be removed is told, and goes by itself."""
        for is_last in (False, True):
            try:
                self._holds.release_all()
            except (KeyboardInterrupt, ClusterError) as error:
                if is_last:
                    seconds = self._settings.hold.deadline_seconds + SURE_DEATH_SECONDS
                    self.outcomes.warnings.append(
                        f"placeholders could not be removed ({error}); they go by themselves within {seconds:.0f} s, "
                        "or at once with `rescheduler clean`"
                    )
            else:
                return

    def tell_open_departures(self, *, is_interrupted: bool) -> None:
        """After a stop: see where the pods that left have gone, and tell of an eviction whose answer is not known."""
        flying = self._sender.evictor.in_flight
        if flying is not None and not self.outcomes.is_told(flying):
            try:
                left = is_leaving(self._target.read_pod(flying.pod.namespace, flying.pod.name), flying)
                said = "the pod has left" if left else "the pod still stands"
            except ClusterError as error:
                said = str(error)
            message = f"stopped while its eviction was under way: {said}"
            self.outcomes.of_move(flying, OutcomeKind.UNKNOWN, None, message)
        self._settler.tell_open(wait=not is_interrupted)

    def _begin(self) -> Plan | None:
        """Read, sort out what is left, prove it, and keep its holes; None if nothing is left to do."""
        self._settings.progress("reading the cluster")
        left = self._await_earlier(what_is_left(self._plan, self._fresh.read(), self.outcomes))
        if not left.moves and not left.placements:
            if self._plan.moves:
                self.outcomes.message = "nothing left to do"
            return None
        rest = rest_of(self._plan, left.moves, left.placements)
        self._prove(rest)
        self._sender.permit([move for move in rest.moves if move.wave == 1])
        self._leader.is_guided = self._can_guide()
        if self._leader.is_guided and rest.moves:
            self._hold(rest)
        return rest

    def _await_earlier(self, left: Remainder) -> Remainder:
        """Let an earlier run's last moves come to rest before anything else is done."""
        if not left.leaving and not left.homeless:
            return left
        since = made_at(self._plan)
        departures = Departures(self._target)
        for move in left.leaving:
            pod = self._fresh.now.pod_by_key[move.pod.key]
            family = siblings(pod, self._fresh.now.pods)
            known = frozenset(other.uid for other in family if (other.created_at or 0.0) < since)
            departures.all.append(Departure(move, pod, selector_of(pod, self._fresh.now), known | {pod.uid}))
        self._settler.settle(departures)
        self._placer.wait_for_homes(left.homeless)
        self.outcomes.clear()
        left = what_is_left(self._plan, self._fresh.read(), self.outcomes)
        if left.leaving or left.homeless:
            raise PlanStoppedError("pods that an earlier run moved have not come to rest; plan again when they have")
        return left

    def _can_guide(self) -> bool:
        if self._settings.guidance != HOLD or not self._plan.moves:
            return False
        reason = self._target.can_hold()
        if reason is not None:
            self.outcomes.warnings.append(
                f"placeholders cannot be used here ({reason}): carried out as with guidance: Predict, where the "
                "replacements of moved pods may take the room that is made"
            )
        return reason is None

    def _hold(self, rest: Plan) -> None:
        """Keep all holes, before the first eviction; another run's holes are waited for."""
        others: Sequence[str] = ()
        for _ in self._waiter.polls(self._settings.hold.deadline_seconds + SURE_DEATH_SECONDS):
            others = self._target.leftovers()
            if not others:
                break
            self._settings.progress("waiting for the placeholders of another run")
        if others:
            raise PlanStoppedError(
                f"placeholders of another run stand ({', '.join(others[:5])}): let it end first, or remove them with "
                "`rescheduler clean`"
            )
        holds = needed_holds(rest, self._fresh.now, self._plan_id, self._settings.hold.deadline_seconds)
        self._settings.progress("keeping room", 0, len(holds))
        self.has_begun = True
        self._holds.set(holds)

    def _place(self, rest: Plan) -> Plan:
        """Let the pods in whose room is free; the others wait for a later wave."""
        self._placer.place([item for item in rest.placements if item.wave == 0])
        return rest_of(rest, rest.moves, [item for item in rest.placements if item.wave > 0])

    def _look_again(self, rest: Plan) -> Plan:
        """Take a fresh snapshot and prove what is left of the plan on it; counts that lag behind may catch up."""
        left = rest
        for _ in self._waiter.polls(RECOUNT_SECONDS):
            cluster = self._fresh.read()
            moves, placements = still_needed(self._plan, rest.moves, rest.placements, cluster, self.outcomes)
            left = rest_of(rest, moves, placements)
            if not self._settings.proof(cluster, left):
                return left
        self._prove(left)
        return left

    def _prove(self, rest: Plan) -> None:
        objections = self._settings.proof(self._fresh.now, rest)
        if objections:
            more = f" (and {len(objections) - 3} more)" if len(objections) > 3 else ""
            told = "; ".join(objections[:3])
            raise PlanStoppedError(f"the plan does not hold in the cluster as it is now: {told}{more}; plan again")

    def _verify(self) -> None:
        """Compare promise and world; what differs is told as a warning."""
        if not self.has_begun:
            return
        self._holds.release_all()
        self._settings.progress("verifying")
        ours = [name for name in self._target.leftovers() if self._plan_id in name] if self._leader.is_guided else []
        self.outcomes.warnings.extend(verify(self.outcomes.result(), self._fresh.read(), ours))
