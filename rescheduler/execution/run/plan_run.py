"""One plan on its way: the order of its steps, from the first reading to the verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from rescheduler.execution.eviction.evicting import is_leaving
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.guidance.gated_moves import GatedMoves
from rescheduler.execution.guidance.gates import Gates
from rescheduler.execution.guidance.guidance_support import GuidanceSupport, usable_guidance, with_gates, without_gates
from rescheduler.execution.guidance.guiding import Guide
from rescheduler.execution.guidance.hold_maker import HoldMaker, HoldSettings
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.guidance.leaving_nothing import SURE_DEATH_SECONDS, leave_nothing
from rescheduler.execution.guidance.room import RoomKeeper
from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of, true_siblings
from rescheduler.execution.landing.emptied import emptied_nodes, promised_empty
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.landing.placing import Nominator, Placer
from rescheduler.execution.landing.settling import Settler
from rescheduler.execution.landing.verifier import still_used, verify
from rescheduler.execution.ledger.ledger_rules import LedgerSettings
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.ledger.repayment import when_repaid
from rescheduler.execution.ledger.told_audit_log import ToldAuditLog
from rescheduler.execution.migration.migration_core import MigrationRules
from rescheduler.execution.migration.migration_moves import MigrationMoves
from rescheduler.execution.pacing import RequestPace
from rescheduler.execution.run.leading import ReplacementGuide
from rescheduler.execution.run.leaving_out import LeavingOut
from rescheduler.execution.run.move_news import MoveNews
from rescheduler.execution.run.other_runs import OtherRuns, remove_expired
from rescheduler.execution.run.proving import Proof, RestProver, Stray, strays_of
from rescheduler.execution.run.resuming import Remainder, made_at, require_standing, rest_of, what_is_left
from rescheduler.execution.run.segments import is_special, segment_end
from rescheduler.execution.run.sending import Sender
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError, RunEnding, Waiter
from rescheduler.execution.surge.surge_core import SurgeRules
from rescheduler.execution.surge.surge_moves import SurgeMoves
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, Gate, Progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.plan import Move, OutcomeKind, Plan, PodReference


class RunSettings(NamedTuple):
    """What holds for every plan of one executor."""

    hold: HoldSettings
    guidance: str
    timeout_seconds: float
    proof: Proof
    as_seen: Callable[[Cluster], Cluster]
    progress: Progress
    ledger: LedgerSettings
    ending: Callable[[], str | None] = lambda: None
    news: MoveNews | None = None
    in_flight: int = 10
    surge: SurgeRules | None = None
    migration: MigrationRules | None = None
    pace: RequestPace | None = None
    earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS
    together: Callable[[Cluster], Iterable[Sequence[int]]] = lambda _: ()

    def telling(self, news: MoveNews) -> RunSettings:
        """The same for one plan, of whose moves somebody hears."""
        ledger = self.ledger._replace(audit=ToldAuditLog(self.ledger.audit, news.learn))
        return self._replace(ledger=ledger, news=news)


class PlanRun:
    """Everything known of one plan while it is carried out. ``has_begun``: something may have been written."""

    def __init__(
        self, plan: Plan, plan_id: str, target: ExecutionTarget, gate: Gate, clock: Clock, settings: RunSettings
    ) -> None:
        self.outcomes = Outcomes(plan)
        self.has_begun = False
        self._plan = plan
        self._plan_id = plan_id
        self._ending = RunEnding(settings.ending)
        self._target = target
        self._settings = settings
        self._fresh = FreshCluster(target, clock, settings.as_seen)
        self._holds = Holds(target, clock)
        self._gates = Gates(target, clock, plan_id, settings.hold.deadline_seconds)
        self._waiter = waiter = Waiter(clock, settings.timeout_seconds, self._keep_up, settings.pace)
        earlier = settings.earlier
        self._leaving_out = LeavingOut(plan, self._fresh, self.outcomes, [move.pod for move in earlier.sent])
        self._session = session = LedgerSession(settings.ledger, target, self._fresh, waiter, clock, earlier)
        self._nominator = nominator = Nominator(target, self._holds, clock)
        self._settler = Settler(
            target, self._holds, nominator, waiter, clock, self.outcomes, settings.progress, session.failed
        )
        self._placer = Placer(target, self._holds, nominator, waiter, self.outcomes, settings.progress)
        self._sender = Sender(
            target, gate, self._fresh, waiter, self._holds, self._settler, nominator, self.outcomes, session,
            settings.in_flight, self._leaving_out,
        )  # fmt: skip
        self._room: RoomKeeper | None = None
        self._support = GuidanceSupport()
        self._clock = clock
        self._prover = RestProver(plan, self._fresh, settings.proof, waiter, self.outcomes, self._leaving_out)

    def carry_out(self) -> None:
        """Do what is left of the plan. Raises PlanStoppedError where nothing more may be done.

        Where the plan has been overtaken, what is under way comes to rest before that.
        """
        try:
            rest = self._begin()
            if rest is not None:
                self._carry_out(rest)
        except PlanOvertakenError:
            self._come_to_rest()
            raise
        self.outcomes.message = self.outcomes.message or self._leaving_out.told

    @property
    def ready(self) -> frozenset[PodReference]:
        """Pods whose replacements work."""
        return self._session.ready

    def _come_to_rest(self) -> None:
        """Nothing more is kept or led: moved pods find their nodes, and work, before anything else is planned."""
        self.close()
        self._nominator.is_guided = False
        departures = self._settler.departures
        self._settler.settle(departures)
        self._settler.wait_ready(departures)
        self._session.landed(self.outcomes.landed_on, departures.pods)

    def _carry_out(self, rest: Plan) -> None:
        for item in rest.placements if rest.moves else ():
            if item.wave == 0:
                self._nominator.suggest(item.pod, item.node)
        while rest.moves:
            gone_before = len(self._settings.earlier.sent)
            self._settings.progress("moving pods", len(self._leaving_out.sent) - gone_before, len(self._plan.moves))
            self.has_begun = True
            self._session.await_room()
            rest = when_repaid(rest, self._next_of, self._session.await_repaid, self._fresh, self._look_again)
            if not rest.moves:
                break
            departures = self._move_segment(rest, self._next_of(rest, self._fresh.now))
            gone = departures.pods
            rest = self._leaving_out.without(rest)
            rest = rest_of(rest, [move for move in rest.moves if move.pod not in gone], rest.placements)
            if any(departure.landed_on != departure.move.to_node for departure in departures.all):
                rest = self._look_again(rest, strays_of(departures.all))
            rest = self._place(rest)
            self._settler.wait_ready(departures)
            self._session.landed(self.outcomes.landed_on, gone)
            rest = self._look_again(rest) if rest.moves else rest
        self._place(rest)
        self._verify()

    def _next_of(self, rest: Plan, cluster: Cluster) -> Sequence[Move]:
        """The moves that may be on their way together, of a rest that was proven on this snapshot.

        Without guidance, and at a gate, waves follow one another. Otherwise none waits for what a workload owes that
        has nothing to do with its own purpose.
        """
        by_waves = self._sender.guide is None or self._sender.gated is not None
        strict = self._settings.ledger.rules.waits_until_repaid
        last = segment_end(rest, cluster, by_waves=by_waves, waits_until_repaid=strict)
        moves = [move for move in rest.moves if move.wave <= last]
        owing = () if by_waves or any(map(is_special, moves)) else self._session.owing(moves)
        if not owing:
            return moves
        self._leaving_out.now_at(rest, cluster)
        tied = self._leaving_out.tied_to(owing)
        return [move for move in moves if move.pod not in tied] or moves

    def _move_segment(self, rest: Plan, moves: Sequence[Move]) -> Departures:
        """Let the moves of one segment happen, with the room kept that they need, until all have landed."""
        self._leaving_out.now_at(rest, self._fresh.now)
        self._sender.permit([move for move in moves if move.wave == 1])
        fallen = self._leaving_out.fallen.moves
        moves = [move for move in moves if move.pod not in fallen]
        if self._room is not None:
            self._room.before_segment(rest, moves, self._fresh.now)
        departures = self._sender.send(moves)
        self._settler.settle(departures)
        if self._room is not None:
            self._room.after_segment()
        return departures

    def _groups_of(self, moves: Sequence[Move]) -> Sequence[frozenset[PodReference]]:
        """Pods of moves that go all or not at all."""
        moved, pods = {move.pod.key: move.pod for move in moves}, self._fresh.now.pods
        found = [
            {pods[number].key for number in group} & moved.keys() for group in self._settings.together(self._fresh.now)
        ]
        return [frozenset(moved[key] for key in keys) for keys in found if len(keys) > 1]

    def _keep_up(self) -> None:
        """Renew what would run out, unless the plan is to end."""
        self._ending.check()
        self._holds.keep()
        self._gates.keep()
        if self._settings.news is not None:
            self._settings.news.seen(self._settler.departed)

    def close(self) -> None:
        """Remove every placeholder and open the gate; what cannot be removed is told, and goes by itself."""
        if (left := leave_nothing(self._holds, self._gates, self._settings.hold.deadline_seconds)) is not None:
            self.outcomes.warnings.append(left)

    def close_books(self) -> None:
        """Write down where pods landed, and let what was told in passing come to its end, as the last that is done."""
        try:
            trouble = self._session.close(self.outcomes.result())
        except KeyboardInterrupt:
            trouble = "where pods landed was not written down; the next plan finds out by itself"
        with suppress(KeyboardInterrupt):
            self._target.finish_telling()
        if trouble is not None:
            self.outcomes.warnings.append(trouble)

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
        self._settler.tell_open(wait=not (self._ending.came() or is_interrupted))
        self.outcomes.warnings.extend(self._nominator.end())

    def _begin(self) -> Plan | None:
        """Read, sort out what is left, prove it, and keep its holes; None if nothing is left to do."""
        self._settings.progress("reading the cluster")
        cluster = self._fresh.read()
        remove_expired(self._fresh, self._target, self._settings.guidance, self.outcomes)
        standing = [move for move in self._plan.moves if not is_leaving(cluster.pod_by_key.get(move.pod.key), move)]
        if standing:
            self._session.open(standing)
        rest = self._sort_out(self._plan)
        if rest is None:
            return None
        self._leaving_out.groups = self._groups_of(rest.moves)
        self._leaving_out.now_at(rest, self._fresh.now)
        self._sender.permit([move for move in rest.moves if move.wave == 1])
        rest = self._leaving_out.without(rest)
        emptied = emptied_nodes(self._plan, rest.moves, self._fresh.now)
        self._leaving_out.promised_empty = promised_empty(rest.moves, emptied)
        guidance = self._settings.guidance
        support = usable_guidance(guidance, self._plan, rest, self._target, self.outcomes)
        self._support = with_gates(support, guidance, rest, self._target, self.outcomes)
        self._nominator.is_guided = self._support.has_placeholders
        if self._support.is_any and rest.moves:
            self._hold(rest, emptied)
        self._prepare_methods()
        if rest.moves:  # last, since this stops every other plan: one that could not keep its room stops nobody
            self._session.begin(self._plan)
        return self._without_sent(rest) if self._session.were_sent(rest.moves) else rest

    def _sort_out(self, plan: Plan) -> Plan | None:
        """What is left of the plan, once an earlier run's moves of it have come to rest, and proven; None: nothing."""
        left = self._await_earlier(plan)
        if not left.moves and not left.placements:
            if self._plan.moves:
                self.outcomes.message = "nothing left to do"
            return None
        rest = rest_of(plan, left.moves, left.placements)
        self._prover.prove(rest)
        return rest

    def _without_sent(self, rest: Plan) -> Plan | None:
        """The rest, of which another run has sent pods between our snapshot and our number, without them."""
        self._fresh.read()
        self._session.open(rest.moves)
        left = self._sort_out(rest)
        self._holds.release(_pods_of(rest) - (_pods_of(left) if left is not None else set()))
        return left

    def _prepare_methods(self) -> None:
        """What moves pods otherwise than by eviction, with whatever leads replacements here."""
        gates = self._gates if self._support.has_gates else None
        sender, settings = self._sender, self._settings
        sender.surges = SurgeMoves(
            sender.tools, settings.surge, self._plan_id, self._clock, gates, sender.guide, settings.progress
        )
        leading = ReplacementGuide(sender.tools, gates, sender.guide)
        sender.migrations = MigrationMoves(sender.tools, settings.migration, leading, settings.progress)

    def _await_earlier(self, plan: Plan) -> Remainder:
        """Let an earlier run's last moves come to rest before anything else is done."""
        left = what_is_left(plan, self._fresh.now, self.outcomes)
        if not left.leaving and not left.homeless:
            return left
        since = made_at(self._plan)
        departures = Departures(self._target)
        for move in left.leaving:
            pod = self._fresh.now.pod_by_key[move.pod.key]
            family = true_siblings(pod, self._fresh.now)
            known = frozenset(other.uid for other in family if (other.created_at or 0.0) < since)
            departures.all.append(EvictedPod(move, pod, selector_of(pod, self._fresh.now), known | {pod.uid}))
        self._settler.settle(departures)
        self._placer.wait_for_homes(left.homeless)
        self.outcomes.forget(plan)
        left = what_is_left(plan, self._fresh.read(), self.outcomes)
        if left.leaving or left.homeless:
            raise PlanStoppedError("pods that an earlier run moved have not come to rest; plan again when they have")
        return left

    def _hold(self, rest: Plan, emptied: Sequence[str]) -> None:
        """Keep all holes, before the first eviction; another run's holes are waited for."""
        run = OtherRuns(self._plan_id, self._settings.guidance, self._support, self._target, self._fresh, self.outcomes)
        run.wait(self._waiter.polls(self._settings.hold.deadline_seconds + SURE_DEATH_SECONDS), self._settings.progress)
        require_standing(rest, self._fresh.now)  # the other run may have moved some of them
        self._settings.progress("keeping room")
        self.has_begun = True
        maker = HoldMaker(rest, self._fresh.now, self._plan_id, self._settings.hold.deadline_seconds)
        if self._support.has_placeholders:
            self._sender.guide = Guide(self._holds, maker)
        if self._has_gates(rest):
            self._sender.gated = GatedMoves(
                self._target, self._gates, self._holds, maker, self._nominator, self._waiter
            )
        self._room = RoomKeeper(self._holds, maker, self._plan, self._support)
        self._room.begin(rest, emptied, self._fresh.now)
        self.outcomes.warnings.extend(self._room.warnings)

    def _has_gates(self, rest: Plan) -> bool:
        """Put the rule of the gate in force, where there is to be one; a rule that does not bite is none."""
        missing = self._gates.begin() if self._support.has_gates else None
        if missing is not None:
            self._gates.end()
            self._support = without_gates(self._support, self._settings.guidance, rest, missing, self.outcomes)
        return self._support.has_gates

    def _place(self, rest: Plan) -> Plan:
        """Let the pods in whose room is free; the others wait for a later wave."""
        self._placer.place([item for item in rest.placements if item.wave == 0])
        return rest_of(rest, rest.moves, [item for item in rest.placements if item.wave > 0])

    def _look_again(self, rest: Plan, strays: Sequence[Stray] = ()) -> Plan:
        """Prove what is left anew; room that is kept on a node that is no destination any more is let go."""
        left = self._prover.look_again(rest, strays)
        kept = {move.pod: move.to_node for move in left.moves}
        self._holds.release(move.pod for move in rest.moves if kept.get(move.pod) != move.to_node)
        return left

    def _verify(self) -> None:
        """Compare promise and world; what differs is told as a warning."""
        if not self.has_begun:
            return
        self._holds.release_all()
        self._gates.end()
        self._settings.progress("verifying")
        ours = [name for name in self._target.leftovers() if self._plan_id in name] if self._nominator.is_guided else []
        cluster = self._fresh.read()
        self.outcomes.warnings.extend(verify(self.outcomes.result(), cluster, ours))
        promised = self._leaving_out.promised_empty
        used = still_used(promised, cluster)
        if used:
            self.outcomes.message = f"{len(used)} of {len(promised)} nodes that were to be empty are not"
            self.outcomes.warnings.extend(used)


def _pods_of(plan: Plan) -> set[PodReference]:
    """Those that it moves or lets in."""
    return {move.pod for move in plan.moves} | {item.pod for item in plan.placements}
