"""Carries out what a DeschedulerPolicy chooses on a live cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from secrets import token_hex

from msgspec import structs

from rescheduler.adapters.clock import SystemClock
from rescheduler.checker.violation import Violation
from rescheduler.composition.foretelling import improve
from rescheduler.composition.foretelling import plan as foretell
from rescheduler.composition.live.carrying_out import carried_out, executor_for, refuse_taints
from rescheduler.composition.live.cluster_source import ClusterOptions, connected, read_cluster, with_network_policies
from rescheduler.composition.live.executors import Ways
from rescheduler.composition.live.ledgers import Ledgers, earlier_evictions
from rescheduler.composition.load.measured_use import with_measured_use
from rescheduler.cycle import prove_rest
from rescheduler.descheduler.carrying_out.executor import DeschedulingExecutor, FinishedPods
from rescheduler.descheduler.carrying_out.proving import prove_foretold
from rescheduler.descheduler.carrying_out.steps import is_chosen, plan_to_carry_out, tell_waiting, told
from rescheduler.descheduler.foretelling import by_state, foretold_plan
from rescheduler.descheduler.improving.improving import within_limits
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.disruption.earlier.ramp_up import RULE as RAMP_UP
from rescheduler.disruption.earlier.ramp_up import let_go_at, marked
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.run.executor import Executor, plan_id_of
from rescheduler.execution.run.resuming import rest_of
from rescheduler.extension_points import Clock, ExecutionTarget, HearMoves, Progress, no_progress, nobody_hears
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import ForetoldPlan, ForetoldResult
from rescheduler.model.plan.plan import Move, Plan, PlanResult, Refusal
from rescheduler.model.usage.measured_use import QueryAnswer
from rescheduler.policy.fields.policy import Mode, Policy, may_surge, with_unready
from rescheduler.scheduling.schedulers import Schedulers


@dataclass(frozen=True)
class ChosenVictims:
    """Who chooses, under which of our own rules, and who may be chosen."""

    written: DeschedulerPolicy
    policy: Policy
    selection: Selection
    schedulers: Schedulers

    def need_not_be_ready(self, move: Move) -> bool:
        """Whether a plugin chose the pod of a move for the state that it is in."""
        return is_chosen(move) and move.objective in self.plugins_by_state

    @property
    def plugins_by_state(self) -> frozenset[str]:
        """Plugins that choose pods by their state."""
        return frozenset(plugin for _, plugin in by_state(self.written))

    def proof(self, cluster: Cluster, rest: Plan) -> Sequence[Violation]:
        """What speaks against the rest of a plan on a fresh snapshot."""
        return prove_foretold(cluster, rest, self.policy, self.selection, self.schedulers, self.plugins_by_state)

    def as_seen(self, cluster: Cluster) -> Cluster:
        """A snapshot as the schedulers see it, with the grace period that the file gives to each pod that leaves."""
        seen, grace = self.schedulers.configured(cluster), self.written.fields.grace_period_seconds
        if grace is None:
            return seen
        specs = {id(pod.spec): pod.spec for pod in seen.pods}
        changed = {key: structs.replace(spec, termination_grace_seconds=grace) for key, spec in specs.items()}
        return replace(seen, pods=tuple(structs.replace(pod, spec=changed[id(pod.spec)]) for pod in seen.pods))


@dataclass(frozen=True)
class PlannedEnds(ChosenVictims):
    """As its victims, where our own planner says who goes where for the ends of the plugins."""

    def need_not_be_ready(self, move: Move) -> bool:
        """Whether a plugin asked for the pod of a move to go for the state that it is in."""
        return move.objective in self.plugins_by_state

    def proof(self, cluster: Cluster, rest: Plan) -> Sequence[Violation]:
        """What speaks against the rest of a plan on a fresh snapshot: as for every other plan of ours."""
        judged_by = with_unready(self.policy) if any(map(self.need_not_be_ready, rest.moves)) else self.policy
        return prove_rest(cluster, rest, judged_by, self.selection, self.schedulers)


def ways_of(chosen: ChosenVictims) -> Ways:
    """How they go, under ``apply`` and ``run``."""
    executor = partial(
        DeschedulingExecutor,
        finished=FinishedPods(chosen.policy, chosen.selection, chosen.schedulers),
        tells_failures=chosen.written.fields.eviction_failure_event_notification,
    )
    return Ways(executor, chosen.proof, chosen.as_seen, chosen.need_not_be_ready)


def round_plan(
    cluster: Cluster, chosen: ChosenVictims, ledger: Ledger, wanted: Mapping[str, Wanted], stop: str | None
) -> Plan:
    """What a daemon's round does: one cycle under the careful defaults of ``run``.

    In Execute what the ramp-up holds back is left out, in other modes it is marked.
    """
    policy = chosen.policy
    own = OwnRules(policy, chosen.selection, ledger, stop or stop_mark(cluster, policy), is_daemon=True, wanted=wanted)
    proposed = plan_to_carry_out(foretold_plan(cluster, chosen.written, chosen.schedulers, own))
    times = let_go_at(proposed, cluster, policy.disruption, ledger)
    if policy.mode is not Mode.EXECUTE:
        return marked(proposed, times, cluster.taken_at)
    held = [move for move in proposed.moves if times[move.pod.uid] > cluster.taken_at]
    text = "the ramp-up holds it back for now (policy: disruption.rampUp)"
    refusals = tuple(Refusal(RAMP_UP, f"{move.pod.key}: {text}", pod=move.pod) for move in held)
    going = [move for move in proposed.moves if times[move.pod.uid] <= cluster.taken_at]
    return rest_of(structs.replace(proposed, refusals=(*refusals, *proposed.refusals)), going, ())


def apply(
    options: ClusterOptions,
    written: DeschedulerPolicy,
    policy: Policy,
    *,
    confirm: Callable[[ForetoldPlan, Cluster], bool],
    selection: Selection,
    schedulers: Callable[[Cluster], Schedulers],
    timeout_seconds: float,
    recorded: QueryAnswer | None = None,
    progress: Progress = no_progress,
    hear_moves: HearMoves = nobody_hears,
) -> ForetoldResult | None:
    """Walk one cycle and carry out what our own gate lets go; None if ``confirm`` said no. Raises ClusterError.

    ``recorded``: an answer that stands in for Prometheus'.
    """
    said: list[str] = []
    cluster = read_cluster(replace(options, with_details=True), progress)
    cluster = with_measured_use(cluster, written, options, recorded, said.append)
    chosen = ChosenVictims(written, policy, selection, schedulers(cluster))
    earlier = earlier_evictions(options, policy, cluster, said.append)
    foretold = foretell(cluster, written, policy, selection=selection, schedulers=chosen.schedulers, earlier=earlier)
    proposed = plan_to_carry_out(foretold)
    refuse_taints(proposed, cluster, policy)
    if not confirm(foretold, cluster):
        return None
    tell_waiting(foretold, hear_moves, SystemClock())
    return told(foretold, _done(proposed, cluster, options, chosen, timeout_seconds, said, progress, hear_moves))


def apply_improved(
    options: ClusterOptions,
    written: DeschedulerPolicy,
    policy: Policy,
    *,
    confirm: Callable[[Plan, Cluster], bool],
    reviewed: Plan | None = None,
    selection: Selection,
    schedulers: Callable[[Cluster], Schedulers],
    seed: int = 0,
    timeout_seconds: float,
    recorded: QueryAnswer | None = None,
    progress: Progress = no_progress,
    hear_moves: HearMoves = nobody_hears,
) -> PlanResult | None:
    """Plan for the ends of the policy's plugins and carry that out; None if ``confirm`` said no. Raises ClusterError.

    ``reviewed``: such a plan that was made before; ``recorded``: an answer that stands in for Prometheus'.
    """
    said: list[str] = []
    cluster = read_cluster(replace(options, with_details=True), progress)
    if may_surge(policy):
        cluster = with_network_policies(connected(options, read_only=True), policy, cluster)
    policy = within_limits(policy, written)
    ends = PlannedEnds(written, policy, selection, schedulers(cluster))
    proposed = reviewed or improve(
        with_measured_use(cluster, written, options, recorded, said.append),
        written,
        policy,
        selection=selection,
        schedulers=ends.schedulers,
        earlier=earlier_evictions(options, policy, cluster, said.append),
        seed=seed,
        progress=progress,
    )
    refuse_taints(proposed, cluster, policy)
    if not confirm(proposed, cluster):
        return None
    return _done(proposed, cluster, options, ends, timeout_seconds, said, progress, hear_moves)


def _done(
    proposed: Plan,
    cluster: Cluster,
    options: ClusterOptions,
    chosen: ChosenVictims,
    timeout_seconds: float,
    said: list[str],
    progress: Progress,
    hear_moves: HearMoves,
) -> PlanResult:
    run_id = plan_id_of(proposed) + token_hex(2)

    def executor(target: ExecutionTarget, clock: Clock, ledgers: Ledgers) -> Executor:
        return executor_for(
            target, clock, chosen.policy, chosen.selection, chosen.schedulers, timeout_seconds, progress, ledgers,
            proposed, run_id, hear_moves, ways_of(chosen),
        )  # fmt: skip

    grace = chosen.written.fields.grace_period_seconds
    return carried_out(proposed, run_id, cluster, options, chosen.policy, executor, said, grace_seconds=grace).result
