"""One round, between two triggers: look, settle the ledger, judge the cluster, plan, carry out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from rescheduler.composition.live.executors import OWN_WAYS, Ways, executor_under
from rescheduler.daemon.rounds.first_try import PlanFirstTry
from rescheduler.daemon.rounds.ledger_settling import settled_ledger
from rescheduler.daemon.rounds.nominating import clear_nominations, prepare_ledger
from rescheduler.daemon.rounds.past_states import PastStates
from rescheduler.daemon.rounds.tidying import tidy_up
from rescheduler.daemon.rounds.vigilance import HealthFreeze, Vigilance
from rescheduler.daemon.rounds.world import RoundContext, RoundOutcome
from rescheduler.disruption.earlier.owed_room import placed_by, with_owed_room
from rescheduler.disruption.earlier.ramp_up import let_go_at
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.disruption.gate.breaker import breaker_objection
from rescheduler.disruption.gate.health import lacking_head_room
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.disruption.karpenter import taints_objection
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.ledger.ledger_rules import LedgerRules
from rescheduler.execution.ledger.repayment import seconds_to_repay
from rescheduler.execution.pacing import RequestPace
from rescheduler.execution.run.executor import Executor
from rescheduler.execution.run.planning_again import AttemptEnd, attempted, in_attempts
from rescheduler.execution.stopping import LONGEST_PAUSE_SECONDS, PlanStoppedError, RunEnding, Waiter
from rescheduler.extension_points import Clock, ClusterError, ReschedulerError, StoreError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.daemon.notices import NominationsFound
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.planning.problem.moving_together import groups_moving_together
from rescheduler.policy.fields.policy import Guidance, Mode, Policy, counted_labels, keep_seconds
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

MakePlan = Callable[[Cluster, Ledger, Mapping[str, Wanted]], Plan]
"""Proposes moves for a snapshot, given the ledger and who wanted how many replicas; it is not trusted."""
FAILURES_OF_PLANNERS: Final = (
    ReschedulerError, ArithmeticError, LookupError, MemoryError, RuntimeError, ValueError
)  # fmt: skip
PlanAfter = Callable[[Cluster, Ledger, Mapping[str, Wanted], EarlierAttempts], Plan]
"""The same after other attempts of the round."""


class RoundRunner:
    """Rounds under one policy. Remembers the cluster's health; everything else that counts stands in the ledger."""

    def __init__(
        self,
        world: RoundContext,
        policy: Policy,
        plan: MakePlan,
        *,
        schedulers: Schedulers = DEFAULTS,
        selection: Selection = EVERYTHING,
        timeout_seconds: float = 600.0,
        before: RoundRunner | None = None,
        past: PastStates | None = None,
        ways: Ways = OWN_WAYS,
        again: PlanAfter | None = None,
        plan_first: PlanFirstTry | None = None,
    ) -> None:
        """``before``: the rounds under the policy that was in force until now; what they have seen still counts.
        ``plan_first``: plans first tries; None: there are none.

        ``past``: what the API server has shown so far; None: what those rounds have seen of it. ``again``: how what is
        left of a plan is planned again; None: it is left to a later round.
        """
        self._world = world
        self._policy = policy
        self._plan = plan
        self._plan_first = plan_first
        self._ways = ways
        self._again = again
        self._schedulers = schedulers
        self._selection = selection
        self._timeout_seconds = timeout_seconds
        self.ledger: Ledger = EMPTY_LEDGER if before is None else before.ledger
        self._past: PastStates = past or (PastStates() if before is None else before._past)
        earlier = None if before is None else before._vigilance
        self._vigilance: Vigilance = Vigilance(policy.health, world.clock, world.signals, before=earlier)
        self._is_approved = self._has_cleared = False
        labels = counted_labels(policy)
        self._rules = LedgerRules(world.holder, keep_seconds(policy), waits_until_repaid=True, label_keys=labels)
        self._gate: PolicyGate = self._own_gate(None if before is None else before._gate)

    def _own_gate(self, before: PolicyGate | None) -> PolicyGate:
        world = self._world
        return PolicyGate(
            self._policy,
            self._selection,
            is_confirmed=False,
            is_daemon=True,
            schedulers=self._schedulers.names,
            trust=world.trust,
            stop=world.stopped,
            health=self._vigilance.findings,
            fence=lambda _: world.fence(),
            before=before,
            lenient=self._ways.lenient,
        )

    def watch(self, cluster: Cluster) -> None:
        """Between rounds, whether we lead or not: what the cluster's health was, and who scaled what, must be known.

        The ledger is for rounds to judge.
        """
        self._vigilance.look(cluster, EMPTY_LEDGER)
        self._gate.look(cluster)

    def clear_up(self, cluster: Cluster) -> NominationsFound | None:
        """Between rounds, for whoever leads: what earlier processes left goes at once. Raises ClusterError.

        What is told of pods that an earlier process nominated; None: there are none.
        """
        if not self._clears_up:
            return None
        tidy_up(self._world.target, cluster, self._policy.hold.deadline, self._world.surges_under)
        is_first, self._has_cleared = not self._has_cleared, True
        if not is_first and self._plan_first is None:
            return None
        try:
            if is_first and self._plan_first is not None:
                prepare_ledger(self._world, self._rules, cluster.taken_at)
            ledger = self._world.ledger.read().ledger
            return clear_nominations(self._world, self._rules, ledger, cluster) if ledger.nominations else None
        except (PlanStoppedError, StoreError) as error:
            raise ClusterError(str(error)) from error

    @property
    def _clears_up(self) -> bool:
        return self._policy.mode is not Mode.DRY_RUN and self._policy.guidance is not Guidance.PREDICT

    def run_once(self) -> RoundOutcome:
        """One round. Never raises for what the cluster, the ledger or the planner did: the reason tells."""
        watch = StopWatch(self._world.clock)
        try:
            cluster, ledger = self._seen()
        except (ClusterError, PlanStoppedError, StoreError) as error:
            return RoundOutcome(None, None, str(error), None, watch.lap("look"), is_held=True)
        watch.lap("look")
        try:
            plan = self._plan(cluster, ledger, self._gate.wanted)
        except FAILURES_OF_PLANNERS as error:
            return RoundOutcome(None, None, f"no plan: {told_failure(error)}", cluster, watch.lap("plan"))
        watch.lap("plan")
        reason = self._objection(cluster, ledger, plan)
        if reason is not None:
            is_held = bool(plan.moves) and self._may_carry_out
            return RoundOutcome(plan, None, reason, cluster, watch.seconds, is_held)
        result, message = self._in_attempts(plan, cluster, ledger)
        return RoundOutcome(plan, result, message, cluster, watch.lap("carryOut"))

    def carry_out_approved(self, plan: Plan) -> RoundOutcome:
        """Carry out a plan that a person has approved, within all else that binds; it is proven anew on the way."""
        watch = StopWatch(self._world.clock)
        self._is_approved = True
        try:
            cluster, ledger = self._seen()
            watch.lap("look")
            reason = self._objection(cluster, ledger, plan)
            if reason is not None:
                return RoundOutcome(plan, None, reason, cluster, watch.seconds)
            with self._gate.confirmed():
                result = self._carried_out(plan, cluster, ledger).result
            return RoundOutcome(plan, result, result.message, cluster, watch.lap("carryOut"))
        except (ClusterError, PlanStoppedError, StoreError) as error:
            return RoundOutcome(plan, None, str(error), seconds=watch.seconds)
        finally:
            self._is_approved = False

    def objection_to(self, plan: Plan, cluster: Cluster) -> str | None:
        """What would forbid carrying out a plan that a person approves now; like all here, for the loop's thread."""
        stopped = self._world.stopped()
        return f"stopped: {stopped}" if stopped is not None else self._hindrance(cluster, self.ledger, plan)

    @property
    def freeze(self) -> HealthFreeze | None:
        """Since when the cluster's health forbids to act, and why; None: it does not. May be read from any thread."""
        return self._vigilance.freeze

    @property
    def _may_carry_out(self) -> bool:
        return self._policy.mode is Mode.EXECUTE or self._is_approved

    def _in_attempts(self, plan: Plan, cluster: Cluster, ledger: Ledger) -> tuple[PlanResult | None, str]:
        """What became of a plan that nothing speaks against, and why no more of it was carried out.

        What is left when something came in its way is planned again, as if it were a round of its own.
        """
        seconds = max(self._timeout_seconds, seconds_to_repay(plan, cluster))
        seen, ends_at = (cluster, ledger), self._world.clock.monotonic() + seconds

        def plan_again(earlier: EarlierAttempts) -> Plan | str:
            nonlocal seen
            if self._world.clock.monotonic() >= ends_at:
                return "its time is over"
            self._wait_for_calm(ends_at)
            seen = self._seen()
            return self._planned_again(*seen, earlier)

        def carry_out(some: Plan, earlier: EarlierAttempts) -> AttemptEnd:
            return self._carried_out(some, *seen, earlier, ends_at)

        try:
            is_last = self._again is None
            result = (
                carry_out(plan, NO_EARLIER_ATTEMPTS).result if is_last else in_attempts(plan, carry_out, plan_again)
            )
        except (ClusterError, StoreError) as error:
            return None, str(error)
        return result, result.message

    def _wait_for_calm(self, ends_at: float) -> None:
        """Until the API server was asked for little enough within the minute that another attempt may look and write.

        Raises PlanStoppedError when the plan is to end, or has no time left to wait.
        """
        world = self._world
        ending = RunEnding(lambda: world.stopped() or world.ending() or world.fence())
        seconds = ends_at - world.clock.monotonic()
        waiter = Waiter(world.clock, seconds, ending.check, RequestPace(world.asked))
        while waiter.is_hurried:
            world.progress("waiting to plan again")
            waiter.pause(LONGEST_PAUSE_SECONDS)

    def _planned_again(self, cluster: Cluster, ledger: Ledger, earlier: EarlierAttempts) -> Plan | str:
        """A plan after these attempts that nothing speaks against, or one without anything; else what does."""
        assert self._again is not None
        try:
            again = self._again(cluster, ledger, self._gate.wanted, earlier)
        except FAILURES_OF_PLANNERS as error:
            return told_failure(error)
        is_empty = not again.moves and not again.placements
        return again if is_empty else self._objection(cluster, ledger, again) or again

    def _carried_out(
        self,
        plan: Plan,
        cluster: Cluster,
        ledger: Ledger,
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
        ends_at: float | None = None,
    ) -> AttemptEnd:
        """One attempt. Raises ClusterError, StoreError."""
        granted = self._granted(plan, cluster, ledger)
        seconds = self._timeout_seconds if ends_at is None else ends_at - self._world.clock.monotonic()
        gate = self._gate
        with self._world.running(plan) as run_id, gate.granting(granted), gate.surging(run_id), gate.after(earlier):
            return attempted(self._executor(run_id, ledger, plan, earlier, seconds), plan)

    def _granted(self, plan: Plan, cluster: Cluster, ledger: Ledger) -> frozenset[str]:
        """Pods of the plan, by uid, that the ramp-up lets go now."""
        disruption = self._policy.disruption
        together = groups_moving_together(cluster, disruption.move_together)
        times = let_go_at(plan, cluster, disruption, ledger, together)
        return frozenset(uid for uid, at in times.items() if at <= cluster.taken_at)

    def _seen(self) -> tuple[Cluster, Ledger]:
        """The cluster, and the ledger with what it proves; the cluster's health is judged by both.

        Raises ClusterError, PlanStoppedError, StoreError.
        """
        cluster = self._look()
        self.ledger = settled_ledger(self._world, self._policy, self._rules, cluster)
        self._world.learn(self.ledger.entries)
        self._vigilance.findings(cluster, self.ledger)
        return cluster, self.ledger

    def _look(self) -> Cluster:
        """Read the cluster; what an earlier process left in it goes first. Raises ClusterError."""
        target, policy = self._world.target, self._policy
        read, judge = self._world.snapshot or target.read, self._vigilance.look
        cluster = self._noticed(read(), judge)
        if self._clears_up and tidy_up(target, cluster, policy.hold.deadline, self._world.surges_under):
            cluster = self._noticed(target.read(), judge)
        return cluster

    def _noticed(self, cluster: Cluster, judge: Callable[[Cluster, Ledger], object]) -> Cluster:
        """The same, with what it shows remembered: whatever fails after, it was seen. Raises ClusterError."""
        judge(cluster, EMPTY_LEDGER)
        self._gate.look(self._past.refuse_older(cluster))
        return cluster

    def _objection(self, cluster: Cluster, ledger: Ledger, plan: Plan) -> str | None:
        """What forbids carrying anything out; the gate asks the same again before each eviction."""
        stopped = self._world.stopped()
        if stopped is not None:
            return f"stopped: {stopped}"
        if not plan.moves and not plan.placements:
            return "the plan is empty"
        if not self._may_carry_out:
            return f"the policy's mode is {self._policy.mode.value}"
        return self._hindrance(cluster, ledger, plan)

    def _hindrance(self, cluster: Cluster, ledger: Ledger, plan: Plan) -> str | None:
        """What stands in the way of any plan that may be carried out."""
        refused = self._lacking_right(plan)  # asked for the whole plan, like head room below
        if refused is not None:
            return refused
        fenced = self._world.fence() or taints_objection(cluster, self._policy)
        if fenced is not None:
            return fenced
        for finding in self._vigilance.findings(cluster, ledger):
            return str(finding)
        # Asked for the whole plan: half of it, and then no further, would be evictions for nothing.
        lacking = lacking_head_room(cluster, plan.moves, plan.placements, self._policy.health)
        if lacking is not None:
            return str(lacking)
        return breaker_objection(ledger.breaker, self._policy.disruption.breaker, cluster.taken_at)

    def _lacking_right(self, plan: Plan) -> str | None:
        if all(move.method is not MoveMethod.SURGE for move in plan.moves):
            return None
        try:
            lacking = self._world.why_no_surges()
        except ClusterError as error:
            lacking = str(error)
        return None if lacking is None else f"nothing is moved: moves by surge are not possible here: {lacking}"

    def _executor(
        self,
        run_id: str | None,
        before: Ledger,
        plan: Plan,
        earlier: EarlierAttempts,
        seconds: float,
        keep: Callable[[], None] = lambda: None,
    ) -> Executor:
        """``before``: earlier evictions, to whose replacements room is owed; ``keep`` is called in every wait."""
        world, configured, placed = self._world, self._ways.seen_by(self._schedulers), placed_by(plan)

        def as_seen(found: Cluster) -> Cluster:
            noticed = self._noticed(found, self._vigilance.findings)
            return with_owed_room(configured(noticed), before, placed)

        def ending() -> str | None:
            keep()
            return world.ending() or world.fence()

        return executor_under(
            self._policy, self._ways, world.target, self._gate, world.clock,
            selection=self._selection,
            schedulers=self._schedulers,
            run_id=run_id,
            surges_under=world.surges_under,
            as_seen=as_seen,
            timeout_seconds=seconds,
            progress=world.progress,
            ledger=world.ledger,
            audit=world.audit,
            stopped=world.stopped,
            ending=ending,
            rules=self._rules,
            hear_moves=partial(world.moved, run_id or ""),
            asked=world.asked,
            earlier=earlier,
        )  # fmt: skip


def told_failure(error: Exception) -> str:
    """In words, for the reason why nothing came of a round."""
    return f"the planner failed with {type(error).__name__}: {error}"


class StopWatch:
    """Seconds of each step."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, step: str) -> Mapping[str, float]:
        """A step is over; all seconds so far."""
        now = self._clock.monotonic()
        self.seconds[step], self._since = now - self._since, now
        return self.seconds
