"""Carries one plan out on a live cluster, and puts together what carries plans out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.composition.live import buying
from rescheduler.composition.live.cluster_source import ClusterOptions, connected, read_cluster, with_network_policies
from rescheduler.composition.live.executors import OWN_WAYS, Ways, executor_under
from rescheduler.composition.live.ledgers import Ledgers, book_rules, earlier_evictions, ledgers_of
from rescheduler.composition.live.owed_room import OwedRoom
from rescheduler.composition.planning import cycle_options
from rescheduler.composition.replacing import NodesToReplace, plan_replacement
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.gate.gate import USAGE_BASED
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.disruption.karpenter import taints_objection
from rescheduler.execution.buying.orders import bill_of, is_over, machines_of
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.executor import Executor, plan_id_of
from rescheduler.execution.run.planning_again import AttemptEnd, attempted, in_attempts
from rescheduler.execution.run.resuming import what_is_left
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import (
    Clock,
    ClusterError,
    ExecutionInterruptedError,
    ExecutionTarget,
    HearMoves,
    Progress,
    ReschedulerError,
    no_progress,
    nobody_hears,
)
from rescheduler.model.daemon.ledger_changes import repaid
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.policy.fields.policy import Guidance, Policy, may_surge
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

TESTED: Final = (36, 37)
"""Minor versions of Kubernetes 1 whose real control planes the tests run on, oldest and newest."""


def untested_version(server_version: str | None) -> str | None:
    """A warning about a server that is older or newer than those, with the versions; None otherwise, or if unknown."""
    found = re.match(r"v?(\d+)\.(\d+)", server_version or "")
    if found is None:
        return None
    major, minor = int(found.group(1)), int(found.group(2))
    if major == 1 and TESTED[0] <= minor <= TESTED[1]:
        return None
    side = "older" if (major, minor) < (1, TESTED[0]) else "newer"
    return (
        f"the API server is Kubernetes {server_version}, {side} than what this version was tested with "
        f"(1.{TESTED[0]} to 1.{TESTED[1]})"
    )


def apply(
    options: ClusterOptions,
    policy: Policy,
    *,
    confirm: Callable[[Plan, Cluster], bool],
    reviewed: Plan | None = None,
    wanted: NodesToReplace | None = None,
    buys: bool = False,
    selection: Selection,
    schedulers: Callable[[Cluster], Schedulers] = lambda _: DEFAULTS,
    seed: int = 0,
    timeout_seconds: float = 600.0,
    progress: Progress = no_progress,
    hear_moves: HearMoves = nobody_hears,
) -> PlanResult | None:
    """Carry out one plan on a live cluster; None if ``confirm`` said no.

    Until then the connection refuses to write. ``schedulers`` of the cluster that was read first hold for all of it.
    ``reviewed``: a plan that was made before; none but its pods are moved. Otherwise what is left when something came
    in the way is planned again, and ``confirm`` asked again. ``wanted``: nodes to replace by cheaper machines, in place
    of the policy's objectives; ``buys``: machines that a plan names are made first, and then none but its pods are
    moved. Raises ReschedulerError for a plan that needs some and may not have them.
    """
    asked = Applying(options, policy, selection, seed, timeout_seconds, progress, hear_moves, confirm)
    cluster = asked.look()
    asked.schedulers = schedulers(cluster)
    proposed, seen = (reviewed, cluster) if reviewed is not None else asked.proposed(cluster, wanted)
    refuse_taints(proposed, cluster, policy)
    if machines_of(proposed) and not buys:
        raise ReschedulerError(f"the plan needs {bill_of(proposed)}, which is not there; --buy has it made first")
    if not confirm(proposed, seen):
        return None
    if machines_of(proposed) and not is_over(proposed, cluster):
        return asked.buy_and_carry_out(proposed)
    if reviewed is not None or wanted is not None:
        return asked.carry_out(proposed, NO_EARLIER_ATTEMPTS).result
    return in_attempts(proposed, asked.carry_out, asked.plan_again)


class Applying:
    """One call of ``apply``: what it was asked for, and what holds for all its attempts.

    ``cluster``: as it was read last; ``schedulers``: of the one that was read first.
    """

    def __init__(
        self,
        options: ClusterOptions,
        policy: Policy,
        selection: Selection,
        seed: int,
        timeout_seconds: float,
        progress: Progress,
        hear_moves: HearMoves,
        confirm: Callable[[Plan, Cluster], bool],
    ) -> None:
        self.cluster = Cluster()
        self.schedulers = DEFAULTS
        self._options = options
        self._policy = policy
        self._selection = selection
        self._seed = seed
        self._timeout_seconds = timeout_seconds
        self._progress = progress
        self._hear_moves = hear_moves
        self._confirm = confirm
        self._told: list[str] = []
        self._gate: PolicyGate | None = None
        self._clock = SystemClock()
        self._ends_at: float | None = None

    def look(self) -> Cluster:
        """The cluster as it is now. Raises ClusterError."""
        cluster = read_cluster(self._options, self._progress)
        if may_surge(self._policy):
            cluster = with_network_policies(connected(self._options, read_only=True), self._policy, cluster)
        self.cluster = cluster
        return cluster

    def proposed(self, cluster: Cluster, wanted: NodesToReplace | None) -> tuple[Plan, Cluster]:
        """What is proposed first, and the cluster that it is about; ``wanted``: see ``apply``."""
        if wanted is None:
            return self.planned(cluster), cluster
        return plan_replacement(cluster, self._policy, wanted, self._cycle_options(cluster, NO_EARLIER_ATTEMPTS))

    def planned(self, cluster: Cluster, attempts: EarlierAttempts = NO_EARLIER_ATTEMPTS) -> Plan:
        """What is proposed for a cluster, with what these attempts have left of the limits."""
        return make_plan(cluster, self._policy, self._cycle_options(cluster, attempts))

    def _cycle_options(self, cluster: Cluster, attempts: EarlierAttempts) -> CycleOptions:
        earlier = earlier_evictions(self._options, self._policy, cluster, self._told.append)
        ledger = repaid(earlier.ledger, attempts.ready, cluster.taken_at)
        asked = cycle_options(
            self._policy, selection=self._selection, schedulers=self.schedulers, seed=self._seed,
            earlier=earlier._replace(ledger=ledger), progress=self._progress,
        )  # fmt: skip
        return replace(asked, earlier=attempts)

    def plan_again(self, attempts: EarlierAttempts) -> Plan | str:
        """What is proposed after these attempts, where somebody agrees. Raises ClusterError."""
        if self._seconds_left <= 0.0:
            return "its time is over (--timeout)"
        is_by_use = any(name in move.objective for name in USAGE_BASED for move in attempts.sent)
        if is_by_use and self.schedulers.load.windows(self.cluster) is not None:
            return "what was measured is of a time before these pods were moved"
        again = self.planned(self.look(), attempts)
        refuse_taints(again, self.cluster, self._policy)
        if again.moves and not self._confirm(again, self.cluster):
            return "nobody said yes"
        return again

    def buy_and_carry_out(self, plan: Plan) -> PlanResult:
        """Have a plan's machines made, then carry it out on them. Raises ClusterError, ExecutionInterruptedError."""
        self._begin()
        run_id = plan_id_of(plan) + token_hex(2)
        try:
            found = buying.bought(
                plan, self.cluster, self._options, self._policy, run_id, seconds=self._seconds_left, clock=self._clock,
                progress=self._progress, tell=self._told.append,
            )  # fmt: skip
        except PlanStoppedError as stopped:
            return buying.not_bought(plan, str(stopped))
        except KeyboardInterrupt:
            why = "interrupted before anything was moved; nothing asks for machines any more"
            raise ExecutionInterruptedError("interrupted", buying.not_bought(plan, why)) from None
        self.cluster = found.cluster
        result = self.carry_out(found.plan, NO_EARLIER_ATTEMPTS).result
        return buying.told_of_machines(result, plan, found)

    def _begin(self) -> None:
        if self._ends_at is None:
            self._ends_at = self._clock.monotonic() + self._timeout_seconds

    def carry_out(self, plan: Plan, attempts: EarlierAttempts) -> AttemptEnd:
        """One attempt, with the time that is left. Raises ClusterError."""
        self._begin()
        run_id, seconds = plan_id_of(plan) + token_hex(2), self._seconds_left
        if self._gate is None:
            self._gate = gate_of(self._policy, self._selection, self.schedulers)
        gate = self._gate

        def executor(target: ExecutionTarget, clock: Clock, ledgers: Ledgers) -> Executor:
            return executor_for(
                target, clock, self._policy, self._selection, self.schedulers, seconds, self._progress, ledgers, plan,
                run_id, self._hear_moves, gate=gate, earlier=attempts,
            )  # fmt: skip

        with gate.surging(run_id), gate.after(attempts):
            return carried_out(plan, run_id, self.cluster, self._options, self._policy, executor, self._told)

    @property
    def _seconds_left(self) -> float:
        return self._timeout_seconds if self._ends_at is None else self._ends_at - self._clock.monotonic()


def carried_out(
    proposed: Plan,
    run_id: str,
    cluster: Cluster,
    options: ClusterOptions,
    policy: Policy,
    executor: Callable[[ExecutionTarget, Clock, Ledgers], Executor],
    told: list[str],
    grace_seconds: int | None = None,
) -> AttemptEnd:
    """Look at rights, version and what earlier runs left, then carry out under a guardian. Raises ClusterError.

    ``grace_seconds``: given to each pod that is evicted; None: its own.
    """
    from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
    from rescheduler.composition.live.guarding import freed_of_earlier_runs, guarded
    from rescheduler.composition.live.standing_rights import checked_rights, reader_for
    from rescheduler.composition.live.watching import sight_of

    connection = connected(options, read_only=False)
    clock = SystemClock()
    untested = filter(None, [untested_version(cluster.server_version)])
    has_work = _has_work(proposed, cluster)
    rights = checked_rights(connection, proposed) if has_work else ()
    warnings = (*rights, *untested)
    if policy.guidance is not Guidance.PREDICT:
        warnings += freed_of_earlier_runs(connection, cluster, policy)
    seen = proposed if has_work else with_changes(proposed, moves=(), placements=())
    with (
        guarded(options, policy, run_id, connection, proposed) as guard,
        sight_of(seen, connected(options, read_only=True), policy.hold.namespace, clock, told.append) as sight,
    ):
        target = KubernetesTarget(
            connection, reader_for(sight.reader, connection, proposed), clock=clock,
            hold_namespace=policy.hold.namespace, scope=policy.scope.namespaces.include or (), guard=guard.start,
            grace_seconds=grace_seconds, reads=sight.reads,
        )  # fmt: skip
        done = attempted(executor(target, clock, ledgers_of(connection, policy, clock, told.append)), proposed)
    before = (*warnings, *dict.fromkeys(told), *done.result.warnings)
    return done._replace(result=with_changes(done.result, warnings=before))


def refuse_taints(proposed: Plan, cluster: Cluster, policy: Policy) -> None:
    """Raise ClusterError, before anybody is asked, where taints would make an autoscaler buy nodes."""
    objection = taints_objection(cluster, policy)
    if objection is not None and _has_work(proposed, cluster):
        raise ClusterError(objection)


def _has_work(plan: Plan, cluster: Cluster) -> bool:
    """Whether anything may be evicted: a plan that was carried out before asks for nothing, not even for its rights."""
    if any(move.destination is None and move.pod.key in cluster.pod_by_key for move in plan.moves):
        return True
    try:
        return bool(what_is_left(plan, cluster, Outcomes(plan)).moves)
    except PlanStoppedError:
        return True  # the executor finds the same, and tells it


def executor_for(
    target: ExecutionTarget,
    clock: Clock,
    policy: Policy,
    selection: Selection,
    schedulers: Schedulers,
    timeout_seconds: float,
    progress: Progress,
    ledgers: Ledgers,
    plan: Plan,
    run_id: str | None = None,
    hear_moves: HearMoves = nobody_hears,
    ways: Ways = OWN_WAYS,
    gate: PolicyGate | None = None,
    earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
) -> Executor:
    """What carries one plan of a policy out, with everything that it asks on the way.

    ``run_id``: see ``executor_under``; ``ways``: of whoever planned. ``gate``: of all attempts of one run, which knows
    its id (None: this is the only one); ``earlier``: those before.
    """
    return executor_under(
        policy,
        ways,
        target,
        gate or gate_of(policy, selection, schedulers, ways, run_id),
        clock,
        selection=selection,
        schedulers=schedulers,
        run_id=run_id,
        timeout_seconds=timeout_seconds,
        as_seen=OwedRoom(ways.seen_by(schedulers), ledgers.shared, plan).as_seen,
        progress=progress,
        ledger=ledgers.shared,
        audit=ledgers.audit,
        stopped=partial(stop_file, policy.stop.file),
        rules=book_rules(policy),
        hear_moves=hear_moves,
        earlier=earlier,
    )


def gate_of(
    policy: Policy, selection: Selection, schedulers: Schedulers, ways: Ways = OWN_WAYS, run_id: str | None = None
) -> PolicyGate:
    """The gate of a plan that a person said yes to; ``run_id``: where it moves pods by surge."""
    stopped = partial(stop_file, policy.stop.file)
    return PolicyGate(
        policy, selection, schedulers=schedulers.names, stop=stopped, surges_of=run_id, lenient=ways.lenient
    )
